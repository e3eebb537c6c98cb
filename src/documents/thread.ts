/** The seat of one document thread: starts it when needed, ends it when it takes too long or has nothing to do. */
import type { Worker } from "node:worker_threads";
import { DocumentError } from "./document-error.js";
import { READY, type ThreadAnswer, type ThreadLimits, type ThreadRequest } from "./messages.js";
import { ownBuffers } from "./own-bytes.js";
import type { StartThread } from "./thread-start.js";

export interface Thread {
  isStarted(): boolean;
  holds(key: string): boolean;
  /**
   * One request at a time. Its time begins when the thread has it; when it is over the thread is ended with all that
   * it holds, and the next request starts another. Rejects with a DocumentError, always.
   */
  run(request: ThreadRequest, timeoutMs: number): Promise<unknown>;
  /** What runs rejects with the reason. Resolves when no thread is left. */
  end(reason: DocumentError): Promise<void>;
}

/** One worker, from its start to its end. */
interface Life {
  worker: Worker;
  held: ReadonlySet<string>;
  isReady: boolean;
  /** What runs; undefined between requests. */
  request?: {
    isReady: () => void;
    answered: (answer: ThreadAnswer) => void;
    failed: (e: DocumentError) => void;
  };
}

export function createThread(start: StartThread, options: { limits: ThreadLimits; idleMs: number }): Thread {
  let life: Life | undefined;
  let idle: NodeJS.Timeout | undefined;
  /** Ended, but not gone yet. */
  const ending = new Set<Promise<unknown>>();

  const die = (dying: Life, reason: DocumentError): void => {
    if (life !== dying) return;
    life = undefined;
    clearTimeout(idle);
    const gone = dying.worker.terminate().finally(() => ending.delete(gone));
    ending.add(gone);
    dying.request?.failed(reason);
  };

  const launch = (): Life => {
    const launched: Life = { worker: start(options.limits), held: new Set(), isReady: false };
    launched.worker
      .on("message", (said: ThreadAnswer | typeof READY) => {
        if (said !== READY) return launched.request?.answered(said);
        launched.isReady = true;
        launched.request?.isReady();
      })
      .on("error", (error: NodeJS.ErrnoException) => die(launched, fatal(error)))
      .on("exit", () => die(launched, new DocumentError("crashed", "A document thread ended by itself.")));
    return launched;
  };

  const answerOf = (living: Life, request: ThreadRequest, timeoutMs: number): Promise<ThreadAnswer> => {
    let timer: NodeJS.Timeout | undefined;
    const post = (): void => {
      const late = new DocumentError("timeout", `It took longer than ${timeoutMs} ms and was ended.`);
      timer = setTimeout(() => die(living, late), timeoutMs);
      // A piece of a larger buffer is copied.
      living.worker.postMessage(request, ownBuffers(request.chunks ?? []));
    };
    return new Promise<ThreadAnswer>((answered, failed) => {
      living.request = { isReady: post, answered, failed };
      if (living.isReady) post();
    }).finally(() => {
      clearTimeout(timer);
      delete living.request;
    });
  };

  /** Between requests a thread keeps nothing alive, and ends after a while. */
  const rest = (): void => {
    life?.worker.unref();
    idle = setTimeout(() => {
      if (life !== undefined) die(life, new DocumentError("closed", "Idle."));
    }, options.idleMs).unref();
  };

  return {
    isStarted: () => life !== undefined,
    holds: (key) => life?.held.has(key) ?? false,

    async run(request, timeoutMs) {
      clearTimeout(idle);
      life ??= launch();
      const living = life;
      living.worker.ref();
      try {
        const answer = await answerOf(living, request, timeoutMs);
        living.held = new Set(answer.held);
        if ("error" in answer) throw new DocumentError(answer.error.kind, answer.error.message);
        return answer.result;
      } finally {
        rest();
      }
    },

    async end(reason) {
      if (life !== undefined) die(life, reason);
      clearTimeout(idle);
      await Promise.all(ending);
    },
  };
}

const fatal = (error: NodeJS.ErrnoException): DocumentError =>
  error.code === "ERR_WORKER_OUT_OF_MEMORY"
    ? new DocumentError("memory", "A document thread ran out of memory.")
    : new DocumentError("crashed", `A document thread failed: ${error.message}`);
