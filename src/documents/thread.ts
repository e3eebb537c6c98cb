/** The seat of one worker thread: starts it when needed, ends it when it takes too long or has nothing to do. */
import type { Worker } from "node:worker_threads";
import { DocumentError } from "./document-error.js";
import { READY } from "./messages.js";

export interface Thread<Request, Answer> {
  isStarted(): boolean;
  /** The last answer of the live thread. */
  lastAnswer(): Answer | undefined;
  /**
   * Takes one request at a time. Its time begins when the thread has it; when the time is over the thread is ended with
   * all its documents, and the next request starts another. Always rejects with a DocumentError.
   */
  run(request: Request, timeoutMs: number): Promise<Answer>;
  /** The running request rejects with the reason. Resolves when no thread is left. */
  end(reason: DocumentError): Promise<void>;
}

/** One worker, from its start to its end. */
interface Life<Answer> {
  worker: Worker;
  lastAnswer?: Answer;
  isReady: boolean;
  /** The running request; undefined between requests. */
  request?: {
    isReady: () => void;
    answered: (answer: Answer) => void;
    failed: (e: DocumentError) => void;
  };
}

/** `start`: starts a thread that sends READY, and then one answer to each request. `moved`: buffers moved with a request. */
export function createThread<Request, Answer>(
  start: () => Worker,
  options: { idleMs: number; moved?: (request: Request) => ArrayBuffer[] },
): Thread<Request, Answer> {
  let life: Life<Answer> | undefined;
  let idle: NodeJS.Timeout | undefined;
  /** Ended, but its exit event has not come yet. */
  const ending = new Set<Promise<unknown>>();

  const die = (dying: Life<Answer>, reason: DocumentError): void => {
    if (life !== dying) return;
    life = undefined;
    clearTimeout(idle);
    const gone = dying.worker.terminate().finally(() => ending.delete(gone));
    ending.add(gone);
    dying.request?.failed(reason);
  };

  const launch = (): Life<Answer> => {
    const launched: Life<Answer> = { worker: start(), isReady: false };
    launched.worker
      .on("message", (said: Answer | typeof READY) => {
        if (said !== READY) return launched.request?.answered(said);
        launched.isReady = true;
        launched.request?.isReady();
      })
      .on("error", (error: NodeJS.ErrnoException) => die(launched, fatal(error)))
      .on("exit", () => die(launched, new DocumentError("crashed", "The thread ended unexpectedly.")));
    return launched;
  };

  const answerOf = (living: Life<Answer>, request: Request, timeoutMs: number): Promise<Answer> => {
    let timer: NodeJS.Timeout | undefined;
    return new Promise<Answer>((answered, failed) => {
      const late = (): void => {
        // An answer that arrived while this process was busy is not late.
        if (living.request !== open) return;
        die(living, new DocumentError("timeout", `It took longer than ${timeoutMs} ms and was ended.`));
      };
      const post = (): void => {
        timer = setTimeout(() => setImmediate(late), timeoutMs);
        living.worker.postMessage(request, options.moved?.(request) ?? []);
      };
      const open = { isReady: post, answered, failed };
      living.request = open;
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
    lastAnswer: () => life?.lastAnswer,

    async run(request, timeoutMs) {
      clearTimeout(idle);
      life ??= launch();
      const living = life;
      living.worker.ref();
      try {
        living.lastAnswer = await answerOf(living, request, timeoutMs);
        return living.lastAnswer;
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
    ? new DocumentError("memory", "The thread ran out of memory.")
    : new DocumentError("crashed", `The thread failed: ${error.message}`);
