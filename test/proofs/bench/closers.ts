/** What ends everything that was started, in reverse order, also when that is asked for in the middle of a start. */

type Close = () => Promise<unknown> | unknown;

export interface Closers {
  /** Throws once the end has begun, so that a start under way stops there. */
  add(close: Close): void;
  /** Goes on where an end fails, and says so. */
  closeAll(): Promise<void>;
}

export function createClosers(): Closers {
  const open: Close[] = [];
  let ending = false;
  return {
    add(close) {
      if (ending) throw new Error("the benchmark is ending");
      open.push(close);
    },
    async closeAll() {
      ending = true;
      for (const close of open.splice(0).reverse()) {
        try {
          await close();
        } catch (error) {
          console.error((error as Error).message);
        }
      }
    },
  };
}
