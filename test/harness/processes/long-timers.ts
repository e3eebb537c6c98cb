/** Remembers where long timers were made, so that a test that leaks one says which. Loaded before every test file. */

/** A timer that outlives the grace of expectNoLeak is at least this long, ms. */
const LONG_MS = 5_000;

/** Those that are over are forgotten when there are more. */
const MOST = 5_000;

const made = new Map<WeakRef<NodeJS.Timeout>, string>();

/** Where the long timers that still keep the process alive were made. */
export function longTimersLeft(): string[] {
  return [...made].flatMap(([reference, where]) => {
    const timer = reference.deref() as (NodeJS.Timeout & { _destroyed?: boolean }) | undefined;
    if (!timer || timer._destroyed) made.delete(reference);
    return timer && !timer._destroyed && timer.hasRef() ? [where] : [];
  });
}

function remembering<F extends typeof setTimeout | typeof setInterval>(make: F): F {
  const remembered = (callback: () => void, ms?: number, ...args: unknown[]): NodeJS.Timeout => {
    const timer = make(callback, ms, ...(args as []));
    if ((ms ?? 0) >= LONG_MS) made.set(new WeakRef(timer), `${ms} ms\n${new Error("made").stack ?? ""}`);
    if (made.size > MOST) longTimersLeft();
    return timer;
  };
  // util.promisify of a timer is a property of it.
  return Object.assign(remembered, make) as unknown as F;
}

// The files of a test process share it.
if (!globalThis.setTimeout.name.startsWith("remembered")) {
  globalThis.setTimeout = remembering(globalThis.setTimeout);
  globalThis.setInterval = remembering(globalThis.setInterval);
}
