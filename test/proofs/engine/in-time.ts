/** The answer; rejects when it takes longer, and lets go of what was asked. */
export function inTime<T>(answer: Promise<T>, ms: number, letGo: () => void = () => undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      letGo();
      reject(new Error(`not over after ${ms} ms`));
    }, ms);
    answer.then(resolve, reject).finally(() => clearTimeout(late));
  });
}
