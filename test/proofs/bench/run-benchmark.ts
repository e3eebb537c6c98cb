/** What every benchmark ends with: an exit code, and the end of all that it started. */
import { type Closers, createClosers } from "./closers.js";

class Interrupted extends Error {}

/**
 * Ends the process: 0 where `measure` answers that every goal is met, 1 where one is missed, 2 where it could not be measured,
 * 130 after a signal. In each case what was given to `closers` is closed first.
 */
export async function runBenchmark(measure: (closers: Closers) => Promise<boolean>): Promise<never> {
  const interrupted = new Promise<never>((_resolve, reject) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.on(signal, () => reject(new Interrupted(signal)));
  });
  const closers = createClosers();
  let code = 2;
  try {
    code = (await Promise.race([measure(closers), interrupted])) ? 0 : 1;
  } catch (error) {
    if (error instanceof Interrupted) code = 130;
    else console.error(error);
  } finally {
    await closers.closeAll();
  }
  process.exit(code);
}
