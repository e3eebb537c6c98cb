/**
 * Reads and filters large JSON documents without blocking the process: decompressing, reading and filtering
 * happen in a few threads, which keep the documents they worked on.
 */

import { ownBuffers } from "./document-cache.js";
import { DocumentError } from "./document-error.js";
import type { DocumentOp, Results } from "./document-operations.js";
import type { Filtered } from "./jq.js";
import type { ThreadAnswer, ThreadRequest } from "./messages.js";
import { createThread, type Thread } from "./thread.js";
import { type StartThread, startThread } from "./thread-start.js";

export interface DocumentsOptions {
  threads?: number;
  /** Longest time of one filter, once a thread has it. */
  timeoutMs?: number;
  /** Most bytes of a filter's output. */
  maxOutputBytes?: number;
  /** Most bytes of one document after decompression. jq itself runs out of memory at about 20 MB of an ordinary one. */
  maxDocumentBytes?: number;
  /** Most bytes of texts that a thread keeps; a larger one is kept alone. */
  cacheBytes?: number;
  /** The heap of a thread, for filters and pages; documents are stored outside of it. */
  maxThreadHeapMb?: number;
  /** A thread without work for this long ends, and drops its documents. */
  idleMs?: number;
  /** Most requests that wait for a thread; more are refused. */
  maxWaiting?: number;
  /** The same for one asker, so that others keep their place. */
  maxWaitingOfOne?: number;
}

export interface RequestLimits {
  timeoutMs?: number;
  maxOutputBytes?: number;
  /** Ends the wait; a running request runs on, up to its limit. */
  signal?: AbortSignal;
  /**
   * Identifies the asker: askers take turns, and the filters of one, which may run to their limit, never occupy the last thread.
   */
  asker?: string | undefined;
}

export interface Documents {
  /** All outputs of the jq filter over the document. Rejects with a DocumentError. */
  filter(key: string, jq: string, limits?: RequestLimits): Promise<Filtered>;
  /** Runs `op` over the document in a thread. Rejects with a DocumentError. */
  read<O extends DocumentOp>(key: string, op: O, limits?: RequestLimits): Promise<Results[O["kind"]]>;
  /** Refuses new requests and ends all others; resolves when no thread is left. */
  close(): Promise<void>;
}

export interface DocumentSource {
  /**
   * The document's bytes, plain or gzip; undefined if it does not exist. The meaning of a key may never change. Buffers
   * are given away: the caller may not use them afterwards.
   */
  load(key: string): Promise<readonly Uint8Array[] | undefined>;
  /** For tests of threads that end in ways that no document can cause. */
  start?: StartThread;
}

/** Longest time of a request that is no filter: it always ends, though late on a busy machine. */
const READ_TIMEOUT_MS = 30_000;

type Seat = Thread<ThreadRequest, ThreadAnswer>;

interface Waiting {
  asker: string | undefined;
  key: string;
  op: DocumentOp;
  timeoutMs: number;
  resolve: (result: unknown) => void;
  reject: (reason: DocumentError) => void;
}

const MB = 1024 * 1024;

export function createDocuments(source: DocumentSource, options: DocumentsOptions = {}): Documents {
  const { threads = 2, timeoutMs = 5_000, maxOutputBytes = 32 * MB, maxDocumentBytes = 256 * MB } = options;
  const { cacheBytes = 64 * MB, maxThreadHeapMb = 256, idleMs = 60_000 } = options;
  const { maxWaiting = 100, maxWaitingOfOne = 25 } = options;
  const limits = { cacheBytes, maxDocumentBytes, maxHeapMb: maxThreadHeapMb };
  const start = source.start ?? startThread;
  // A piece of a larger buffer is copied.
  const moved = ({ chunks = [] }: ThreadRequest): ArrayBuffer[] => ownBuffers(chunks);
  const seats = Array.from(
    { length: threads },
    (): Seat => createThread(() => start(limits), { idleMs, moved }),
  );
  const free = new Set<Seat>(seats);
  const queue: Waiting[] = [];
  const underWay = new Set<Waiting>();
  /** The number of an asker's last turn; kept only while requests wait. */
  const turns = new Map<string | undefined, number>();
  let turn = 0;
  let closed = false;

  /** The thread that has the document, else one that runs, else one to be started. */
  const seatFor = (key: string): Seat | undefined => {
    const idle = [...free];
    return idle.find((seat) => holds(seat, key)) ?? idle.find((seat) => seat.isStarted()) ?? idle[0];
  };

  const carry = async ({ key, op, timeoutMs }: Waiting, seat: Seat): Promise<unknown> => {
    if (holds(seat, key)) return resultOf(await seat.run({ key, op }, timeoutMs));
    const chunks = await loaded(source, key);
    // A thread that is started now would never be closed.
    if (closed) throw closedError();
    return resultOf(await seat.run({ key, op, chunks }, timeoutMs));
  };

  const heldBy = (asker: string | undefined): number =>
    asker === undefined ? 0 : [...underWay].filter((each) => each.asker === asker).length;

  const turnOf = ({ asker }: Waiting): number => turns.get(asker) ?? 0;

  /** The first request of the asker with the fewest under way and, among equals, with the longest time since its turn. */
  const firstInTurn = (): Waiting | undefined =>
    queue
      .filter(({ asker, op }) => op.kind !== "filter" || heldBy(asker) < Math.max(1, threads - 1))
      .toSorted((a, b) => heldBy(a.asker) - heldBy(b.asker) || turnOf(a) - turnOf(b))[0];

  /** Requests wait for a thread here, not in the thread: a thread that ends takes no waiting request with it. */
  const next = (): void => {
    const first = firstInTurn();
    const seat = first && seatFor(first.key);
    if (first === undefined || seat === undefined) return;
    queue.splice(queue.indexOf(first), 1);
    underWay.add(first);
    if (queue.length === 0) turns.clear();
    turn += 1;
    turns.set(first.asker, turn);
    free.delete(seat);
    carry(first, seat)
      .then(first.resolve, first.reject)
      .finally(() => {
        underWay.delete(first);
        free.add(seat);
        next();
      });
    next();
  };

  const ask = (key: string, op: DocumentOp, wanted: RequestLimits): Promise<unknown> => {
    const { signal } = wanted;
    return new Promise<unknown>((resolve, reject) => {
      const aborted = (): void => {
        const at = queue.indexOf(waiting);
        if (at !== -1) queue.splice(at, 1);
        reject(new DocumentError("aborted", "The caller is gone."));
      };
      const leave = (): void => signal?.removeEventListener("abort", aborted);
      const waiting: Waiting = {
        asker: wanted.asker,
        key,
        op,
        timeoutMs: wanted.timeoutMs ?? (op.kind === "filter" ? timeoutMs : READ_TIMEOUT_MS),
        resolve: (result) => {
          leave();
          resolve(result);
        },
        reject: (reason) => {
          leave();
          reject(reason);
        },
      };
      if (closed) return reject(closedError());
      if (signal?.aborted) return aborted();
      if (queue.length >= maxWaiting)
        return reject(
          new DocumentError("busy", `${maxWaiting} requests are waiting already. Try again later.`),
        );
      if (
        wanted.asker !== undefined &&
        queue.filter(({ asker }) => asker === wanted.asker).length >= maxWaitingOfOne
      )
        return reject(
          new DocumentError(
            "busy",
            `${maxWaitingOfOne} of your requests are waiting already. Try again later.`,
          ),
        );
      signal?.addEventListener("abort", aborted, { once: true });
      queue.push(waiting);
      next();
    });
  };

  return {
    async filter(key, jq, wanted = {}) {
      const op = { kind: "filter", jq, maxOutputBytes: wanted.maxOutputBytes ?? maxOutputBytes } as const;
      const { json, outputs } = (await ask(key, op, wanted)) as Filtered;
      // A Buffer becomes plain bytes on its way between threads.
      return { json: Buffer.from(json.buffer, json.byteOffset, json.byteLength), outputs };
    },

    read: <O extends DocumentOp>(key: string, op: O, wanted: RequestLimits = {}) =>
      ask(key, op, wanted) as Promise<Results[O["kind"]]>,

    async close() {
      closed = true;
      for (const { reject } of queue.splice(0)) reject(closedError());
      await Promise.all(seats.map((seat) => seat.end(closedError())));
    },
  };
}

const holds = (seat: Seat, key: string): boolean => seat.lastAnswer()?.held.includes(key) ?? false;

function resultOf(answer: ThreadAnswer): unknown {
  if ("error" in answer) throw new DocumentError(answer.error.kind, answer.error.message);
  return answer.result;
}

const closedError = (): DocumentError => new DocumentError("closed", "The documents were closed.");

async function loaded(source: DocumentSource, key: string): Promise<readonly Uint8Array[]> {
  let chunks: readonly Uint8Array[] | undefined;
  try {
    chunks = await source.load(key);
  } catch (error) {
    throw new DocumentError("load", `The document could not be loaded: ${(error as Error).message}`);
  }
  if (chunks === undefined) throw new DocumentError("missing", "This document no longer exists.");
  return chunks;
}
