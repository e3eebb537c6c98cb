/**
 * The one door through which answers leave, whatever the surface: a request arrives, is cancelled or not, and its answer is
 * written or fails. Here an outcome counts as delivered, and as read (operation.ts).
 *
 * - Delivered: the last byte was handed to an open connection, and the request was not cancelled before that. What comes later
 *   takes nothing back, but for a mutating tool what shows within a second that the two have crossed: the connection is reset, or
 *   the client says that its time was over. The delivery of a repeatable tool's outcome is noted before its first byte: if the
 *   process dies in between, nobody gets that outcome as a new one.
 * - Read: delivered over a direct connection within 10 s of its arrival, while the process did not stand still; not for a caller
 *   that says itself what it has read.
 */
import { randomUUID } from "node:crypto";
import { REPLAY_DEFAULTS, type ReplayOptions } from "../shared/operation/again.js";
import {
  abandoned,
  asked,
  type Caller,
  delivered,
  givenUp,
  isFinal,
  named,
  type OperationRecord,
  SINGLE_REQUEST,
  undelivered,
} from "../shared/operation/operation.js";
import type { Notifier } from "../shared/store/connect.js";
import type { Operations } from "../shared/store/operations/operation-store.js";
import type { Log } from "../shared/telemetry.js";
import { createStallWatch, type StallWatch } from "../shared/wait-time.js";

/** The way back to the client of one request. */
export interface Way {
  /** Aborted once the client can no longer be answered here. */
  readonly gone: AbortSignal;
  /** Nothing that could keep an answer for itself is between this process and the client. */
  readonly isDirect: boolean;
  /** How long the request had waited elsewhere on this machine before it arrived here, ms. */
  readonly waitedMs?: number | undefined;
  /** The request goes on after its connection was lost: it arrived before, and may have been answered, perhaps by another gateway. */
  readonly isResumed?: boolean;
  /** Calls back if the connection is reset. */
  onReset?(callback: () => void): void;
}

/** The operation whose outcome an answer carries. */
export type DeliveredOperation = Pick<OperationRecord, "logId" | "effect">;

export interface Exchange {
  readonly principal: string;
  readonly caller: Caller;
  /** Ends the wait: cancelled, client gone, or the gateway closes. Never affects the operation. */
  readonly signal: AbortSignal;
  /** The answer is no longer wanted. */
  readonly isDropped: boolean;
  /** The client cancelled the request while it was unanswered. */
  readonly isCancelled: boolean;
  /** False if nobody waits for it any more, by all that has arrived: a process that stood still finds both at once, request and hang-up. */
  isAwaited(): Promise<boolean>;
  /** The request waits for this operation; `isOwn`: it created it. */
  waitsFor(logId: string, isOwn: boolean): void;
  /** It names this log_id: its caller has read what was delivered to it before, unless it is one that says so itself. */
  names(logId: string): Promise<void>;
  /** Its answer carries the outcome of this operation. */
  delivers(operation: DeliveredOperation): void;
  /** The client cancelled the request, before or after its answer was written. */
  cancelled(reason: string | undefined): void;
  /** Its answer is not wanted: it came again. */
  drop(): void;
  endWait(): void;
  /**
   * Writes the answer, unless nobody wants it; false if it was not written whole. `write` answers whether it was; it is called with
   * false if the outcome must be withheld, because its delivery cannot be noted.
   */
  answer(write: (mayTell: boolean) => Promise<boolean>): Promise<boolean>;
}

export interface Exchanges {
  /**
   * `isCounted`: whether what is written now counts as delivered for a mutating tool; left out: it does. `saysRead`: the request
   * says that its caller has read what it names.
   */
  open(from: {
    principal: string;
    caller: Caller;
    way: Way;
    isCounted?: () => boolean;
    saysRead?: boolean;
  }): Exchange;
  /** Answers open waits as if their time was over, and resolves when they are answered; takes at most `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

/** An answer and what shows that its client did not get it are not longer under way, ms. */
const CROSSING_MS = 1_000;

/** A client that gave up because its own time was over wants what it asked for; any other has cancelled it on purpose. */
const NAMES_TIMEOUT = /time[sd]?[ -]?out|-32001|deadline/i;

/** The caller of a request that belongs to no session. */
export function singleRequest(transport: Caller["transport"]): Caller {
  return { id: `${SINGLE_REQUEST}${randomUUID()}`, transport, isSingleRequest: true };
}

/** Turns of the event loop in which what has arrived is read, and in which a connection that has ended is closed. */
const ARRIVAL_TURNS = 3;

/** Whatever the system had received by now was handled when this resolves. */
async function arrivalsHandled(): Promise<void> {
  for (let turn = 0; turn < ARRIVAL_TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export function createExchanges(
  { deliveries, log, stalls: given }: { deliveries: Deliveries; log: Log; stalls?: StallWatch },
  { readWithinMs, stallMs }: Pick<ReplayOptions, "readWithinMs" | "stallMs"> = REPLAY_DEFAULTS,
): Exchanges {
  const stalls = given ?? createStallWatch({ stallMs });

  const open = new Map<Exchange, Promise<void>>();

  const storing = (what: string, stored: Promise<unknown>): void =>
    void stored.catch((error: Error) => log.warn({ error: error.message }, what));

  return {
    open({ principal, caller, way, isCounted = () => true, saysRead = false }) {
      const arrivedAt = performance.now();
      const wait = new AbortController();
      let isDropped = way.gone.aborted;
      let isCancelled = false;
      let isAnswering = false;
      let waited: { logId: string; isOwn: boolean } | undefined;
      let carried: DeliveredOperation | undefined;
      let left: { isTimeout: boolean } | undefined;
      let takeBack: () => void = () => undefined;
      let over: () => void = () => undefined;

      const drop = (): void => {
        isDropped = true;
        wait.abort();
      };
      const isRead = (): boolean =>
        way.isDirect &&
        // Nobody knows when it arrived first.
        !way.isResumed &&
        !caller.readsByName &&
        performance.now() - arrivedAt + (way.waitedMs ?? 0) < readWithinMs &&
        !stalls.hasStalledSince(arrivedAt);
      const noteGivenUp = (): void => {
        if (waited && left)
          storing(
            "could not note that a request was given up",
            deliveries.givenUp({ principal, caller }, { ...waited, ...left }),
          );
      };
      const delivered = (operation: DeliveredOperation): Promise<boolean> =>
        deliveries.delivered(caller, operation, { isRead: isRead() });

      /** False: the outcome must not be told. */
      const notedBefore = async (): Promise<boolean> => {
        if (carried?.effect !== "repeatable" || isDropped) return true;
        try {
          await delivered(carried);
          return true;
        } catch (error) {
          log.warn({ error: (error as Error).message }, "a delivery was not stored; the outcome is withheld");
          return false;
        }
      };

      const noteAfter = (operation: DeliveredOperation): void => {
        const { logId, effect } = operation;
        if (effect === "repeatable" || isDropped || !isCounted()) return;
        const noted = delivered(operation);
        storing("a delivery was not stored", noted);
        if (effect !== "mutating") return;
        const writtenAt = performance.now();
        takeBack = () => {
          const now = performance.now();
          // What a process finds that stood still may have come before.
          if (now - writtenAt < CROSSING_MS || stalls.hasStalledSince(now))
            storing("a crossing was not stored", deliveries.undelivered(caller, logId, noted));
        };
        way.onReset?.(takeBack);
      };

      const exchange: Exchange = {
        principal,
        caller,
        signal: wait.signal,
        get isDropped() {
          return isDropped;
        },
        get isCancelled() {
          return isCancelled;
        },
        async isAwaited() {
          await arrivalsHandled();
          return !isDropped;
        },
        waitsFor(logId, isOwn) {
          waited = { logId, isOwn };
          noteGivenUp();
        },
        async names(logId) {
          // What a resumed request was answered before came after it named this.
          if (way.isResumed || caller.isSingleRequest || (caller.readsByName && !saysRead)) return;
          await deliveries.named({ principal, caller }, logId);
        },
        delivers(operation) {
          carried = operation;
        },
        cancelled(reason) {
          drop();
          if (isCancelled) return;
          const isTimeout = reason !== undefined && NAMES_TIMEOUT.test(reason);
          // Its client may have the log_id, or the outcome.
          if (isAnswering) {
            if (isTimeout) takeBack();
            return;
          }
          isCancelled = true;
          left = { isTimeout };
          noteGivenUp();
        },
        drop,
        endWait: () => wait.abort(),
        async answer(write) {
          try {
            const mayTell = await notedBefore();
            // Who has hung up, or cancelled, by now did so before the write.
            if (carried?.effect === "mutating") await arrivalsHandled();
            if (isDropped) return false;
            isAnswering = true;
            const isWritten = await write(mayTell).catch(() => false);
            if (isWritten && carried) noteAfter(carried);
            return isWritten;
          } finally {
            way.gone.removeEventListener("abort", drop);
            open.delete(exchange);
            over();
          }
        },
      };
      open.set(
        exchange,
        new Promise((resolve) => {
          over = resolve;
        }),
      );
      way.gone.addEventListener("abort", drop, { once: true });
      if (isDropped) wait.abort();
      return exchange;
    },

    async close(deadlineMs) {
      stalls.close();
      for (const exchange of open.keys()) exchange.endWait();
      let timer: NodeJS.Timeout | undefined;
      const deadline = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, deadlineMs);
      });
      await Promise.race([Promise.all(open.values()), deadline]);
      clearTimeout(timer);
    },
  };
}

/** Waits for operations: woken by a message or a reconnect; a slow poll is only the safety net. */
export interface Wait {
  ms: number;
  signal?: AbortSignal | undefined;
  /** Woken by every change; otherwise only by the end. */
  follows?: boolean;
  /** Its caller made the operation a moment ago: it is read at the first message, or soon. */
  isNew?: boolean;
}

/** How long the first reading of a new operation waits for its end, ms. */
const SOON_MS = 20;

export interface Waiters {
  /**
   * Calls `read` at once, and again whenever the operation ended (or changed, if the wait follows it), until it answers a
   * value; undefined when the time is over or the signal aborts. Never affects the operation. A failing `read` rejects the
   * wait.
   */
  until<T>(logId: string, read: () => Promise<T | undefined>, wait: Wait): Promise<T | undefined>;
  /** Ends every wait as if its time were over. */
  close(): void;
}

export function createWaiters(notifier: Pick<Notifier, "on">, options: { safetyPollMs: number }): Waiters {
  const wakers = new Map<string, Set<() => void>>();
  let closed = false;
  const wakeAll = (): void => {
    for (const set of wakers.values()) for (const wake of set) wake();
  };
  const wakeOf = (logId: string): void => {
    for (const wake of wakers.get(logId) ?? []) wake();
  };
  const stop = notifier.on("ended", wakeOf, wakeAll);

  const register = (logId: string, wake: () => void, follows: boolean): (() => void) => {
    const set = wakers.get(logId) ?? new Set();
    wakers.set(logId, set.add(wake));
    // Changes are received only from a moment after the first reading: read again then.
    const unfollow = follows
      ? notifier.on("changed", (changed) => changed === logId && wake(), wake)
      : undefined;
    return () => {
      unfollow?.();
      set.delete(wake);
      if (set.size === 0) wakers.delete(logId);
    };
  };

  return {
    async until(logId, read, { ms, signal, follows = false, isNew = false }) {
      const deadline = performance.now() + ms;
      let wake: () => void = () => undefined;
      // Counts messages, so that one that arrives while `read` reads is not missed.
      let heard = 0;
      const leave = register(
        logId,
        () => {
          heard += 1;
          wake();
        },
        follows,
      );
      const pause = (longest: number): Promise<void> =>
        new Promise((resolve) => {
          const timer = setTimeout(() => done(), longest);
          const done = (): void => {
            clearTimeout(timer);
            signal?.removeEventListener("abort", done);
            resolve();
          };
          wake = done;
          signal?.addEventListener("abort", done, { once: true });
        });
      try {
        if (isNew && !signal?.aborted && !closed) await pause(Math.min(ms, SOON_MS));
        for (;;) {
          const seen = heard;
          const found = await read();
          if (found !== undefined) return found;
          const left = deadline - performance.now();
          if (left <= 0 || signal?.aborted || closed) return undefined;
          if (heard === seen) await pause(Math.min(left, options.safetyPollMs));
        }
      } finally {
        leave();
      }
    },

    close() {
      closed = true;
      stop();
      wakeAll();
    },
  };
}

// Notes on records who asked for an outcome, who got it and who has read it (operation.ts), one note of an operation after the other.

/** By its log_id; a record that was read before need not be read again. */
type Named = Parameters<Operations["change"]>[0];

export interface Deliveries {
  /** The caller waits for the outcome of this operation, which is its principal's. */
  asks(caller: Caller, logId: string): Promise<void>;
  /**
   * An answer with the outcome was delivered to a request of this caller, or is about to be; `isRead`: so that it has read it.
   * Answers whether that is new.
   */
  delivered(caller: Caller, operation: Named, how: { isRead: boolean }): Promise<boolean>;
  /** The connection was reset before the caller can have read it; nothing happens where that delivery, as `noted`, was not new. */
  undelivered(caller: Caller, logId: string, noted: Promise<boolean>): Promise<void>;
  /**
   * The caller named this log_id in a message: it has read what was delivered to it before. Nothing happens to another
   * principal's operation.
   */
  named(by: { principal: string; caller: Caller }, logId: string): Promise<void>;
  /**
   * The client cancelled an unanswered request for this operation; `isOwn`: it created it; `isTimeout`: only because its time
   * was over. Nothing happens to another principal's operation.
   */
  givenUp(
    by: { principal: string; caller: Caller },
    request: { logId: string; isOwn: boolean; isTimeout: boolean },
  ): Promise<void>;
  /** Resolves when what is being noted at this moment is stored, or has failed: a call that came after it must find it. */
  noted(): Promise<void>;
}

export function createDeliveries(operations: Pick<Operations, "change">): Deliveries {
  type Edit = (record: OperationRecord, now: number) => OperationRecord | undefined;

  /** By log_id: the last note that is being stored. */
  const storing = new Map<string, Promise<unknown>>();

  const inOrder = <Stored>(logId: string, store: () => Promise<Stored>): Promise<Stored> => {
    const before = storing.get(logId) ?? Promise.resolve();
    const stored = before.catch(() => undefined).then(store);
    storing.set(logId, stored);
    const forget = (): void => {
      if (storing.get(logId) === stored) storing.delete(logId);
    };
    stored.then(forget, forget);
    return stored;
  };

  /** Of the operation, or of the one that answers for it (▲10 b); answers whether it changed. */
  const change = (operation: Named, edit: Edit, given = Promise.resolve(true)): Promise<boolean> =>
    inOrder(typeof operation === "string" ? operation : operation.logId, async () => {
      if (!(await given)) return false;
      for (let at = operation; ; ) {
        let answeredBy: string | undefined;
        const done = await operations.change(at, (record, now) => {
          answeredBy = record.executedAs;
          const changed = answeredBy === undefined ? edit(record, now) : undefined;
          return changed && { record: changed };
        });
        if (answeredBy === undefined) return done.kind === "applied";
        at = answeredBy;
      }
    });

  const changeOutcome = (operation: Named, edit: Edit, given?: Promise<boolean>): Promise<boolean> =>
    change(operation, (record, now) => (isFinal(record.state) ? edit(record, now) : undefined), given);

  return {
    async asks(caller, logId) {
      await change(logId, (record) => asked(record, caller));
    },
    delivered: (caller, operation, { isRead }) =>
      changeOutcome(operation, (record, now) => delivered(record, caller, { now, isRead })),
    async undelivered(caller, logId, noted) {
      await changeOutcome(logId, (record) => undelivered(record, caller), noted);
    },
    async named({ principal, caller }, logId) {
      await changeOutcome(logId, (record) =>
        record.principal === principal ? named(record, caller) : undefined,
      );
    },
    async givenUp({ principal, caller }, { logId, isOwn, isTimeout }) {
      await change(logId, (record, now) => {
        if (record.principal !== principal) return undefined;
        const left = isOwn && record.logId === logId ? abandoned(record, now) : undefined;
        return isTimeout ? left : (givenUp(left ?? record, caller) ?? left);
      });
    },
    noted: async () => void (await Promise.allSettled(storing.values())),
  };
}
