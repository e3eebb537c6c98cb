/** One reading for many who ask at the same time. */

/**
 * Each gets a reading that began after it asked: while one is under way, all who ask wait for the next one. A reading that
 * fails, fails for all that share it.
 */
export function sharedReading<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let underWay: Promise<unknown> = Promise.resolve();
  let next: Promise<Result> | undefined;
  return () => {
    next ??= underWay.then(() => {
      const reading = read();
      next = undefined;
      underWay = reading.catch(() => undefined);
      return reading;
    });
    return next;
  };
}
