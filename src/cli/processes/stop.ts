/** When a process that serves should end. */
import { hasProcess } from "../../shared/machine/living-process.js";

/**
 * Resolves with the reason at SIGINT, SIGTERM or SIGHUP; a second signal ends the process at once.
 *
 * Windows knows these by Ctrl-C and by closing the console. A kill there leaves nobody to end anything.
 */
export function stopRequested(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.once(signal, () => resolve(signal));
  });
}

export interface ParentWatch {
  everyMs?: number;
  platform?: NodeJS.Platform;
  parent?: number;
}

/**
 * Resolves when the process that started this one is gone: a client that was killed cannot end its server, and the
 * end of input does not tell where another process holds the other end of the pipe.
 *
 * A POSIX system gives an orphan another parent at once, whose id differs. On Windows the id stays for ever, so
 * whether it still runs is asked for; a stranger that was given the id meanwhile is taken for the parent.
 */
export function parentGone({
  everyMs = 2_000,
  platform = process.platform,
  parent = process.ppid,
}: ParentWatch = {}): Promise<string> {
  const isGone = platform === "win32" ? () => !hasProcess(parent) : () => process.ppid !== parent;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (!isGone()) return;
      clearInterval(timer);
      resolve("the parent process ended");
    }, everyMs);
    timer.unref();
  });
}
