/** When a process that serves should end. */

/** Resolves with the reason at SIGINT, SIGTERM or SIGHUP; a second signal ends the process at once. */
export function stopRequested(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.once(signal, () => resolve(signal));
  });
}

/** Resolves when the process that started this one is gone: a client that was killed cannot end its server. */
export function parentGone(everyMs = 2_000): Promise<string> {
  const parent = process.ppid;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      resolve("the parent process ended");
    }, everyMs);
    timer.unref();
  });
}
