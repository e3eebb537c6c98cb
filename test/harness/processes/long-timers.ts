/** Remembers where timers were made, so that a test that leaks one says which. Loaded before every test file. */
import { syncBuiltinESMExports } from "node:module";
import promises from "node:timers/promises";

/**
 * What outlives the grace of expectNoLeak is longer than this (a command to Redis has a limit of just this), or an
 * interval, or the latest of a chain of short ones.
 */
const LONG_MS = 5_000;

/** Those that are over are forgotten when there are more. */
const MOST = 5_000;

type Timer = NodeJS.Timeout & { _destroyed?: boolean };

interface Memory {
  /** Whether it is left, and where it was made: its stack is a text only when somebody reads it, which takes long. */
  made: Map<() => boolean, { what: string; at: Error }>;
  /** Short ones are many: they are remembered only while somebody looks for what is left. */
  isLooking: boolean;
}

/** A test process plays several files, and this setup with each: they share what the first one remembers. */
const MEMORY = Symbol.for("ujb.timers");
const shared = globalThis as { [MEMORY]?: Memory };
const isFirst = shared[MEMORY] === undefined;
shared[MEMORY] ??= { made: new Map(), isLooking: false };
const memory = shared[MEMORY];

/** Whether short timers are remembered too: a chain of them goes on with a new one while somebody looks. */
export function lookForShortTimers(isLooking: boolean): void {
  memory.isLooking = isLooking;
}

/** Where the timers that still keep the process alive were made, as far as they are remembered. */
export function timersLeft(): string[] {
  forgetThoseThatAreOver();
  return [...memory.made.values()].map(({ what, at }) => `${what}\n${at.stack ?? ""}`);
}

function forgetThoseThatAreOver(): void {
  for (const isLeft of memory.made.keys()) if (!isLeft()) memory.made.delete(isLeft);
}

function remember(what: string, isLeft: () => boolean): void {
  memory.made.set(isLeft, { what, at: new Error("made") });
  if (memory.made.size > MOST) forgetThoseThatAreOver();
}

function remembering<F extends typeof setTimeout | typeof setInterval>(make: F, isInterval: boolean): F {
  const remembered = (callback: () => void, ms = 0, ...args: unknown[]): Timer => {
    const timer: Timer = make(callback, ms, ...(args as []));
    if (!isInterval && ms <= LONG_MS && !memory.isLooking) return timer;
    const reference = new WeakRef(timer);
    remember(`${isInterval ? "every " : ""}${ms} ms`, () => {
      const known = reference.deref();
      return known?._destroyed === false && known.hasRef();
    });
    return timer;
  };
  // util.promisify of a timer is a property of it.
  return Object.assign(remembered, make) as unknown as F;
}

/** That of node:timers/promises, whose timer nobody sees: it is left until its promise settles. */
function rememberingPromise(make: typeof promises.setTimeout): typeof promises.setTimeout {
  return (ms = 0, value, options) => {
    const waiting = make(ms, value, options);
    if (options?.ref === false || (ms <= LONG_MS && !memory.isLooking)) return waiting;
    let isLeft = true;
    const settled = (): void => {
      isLeft = false;
    };
    waiting.then(settled, settled);
    remember(`${ms} ms, as a promise`, () => isLeft);
    return waiting;
  };
}

if (isFirst) {
  globalThis.setTimeout = remembering(globalThis.setTimeout, false);
  globalThis.setInterval = remembering(globalThis.setInterval, true);
  promises.setTimeout = rememberingPromise(promises.setTimeout);
  syncBuiltinESMExports();
}
