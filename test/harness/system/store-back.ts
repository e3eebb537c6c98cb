import { isStoreAway } from "../../../src/shared/store/connect.js";

/** Asks again for as long as the store is away, as callers do. */
export async function whenStoreIsBack<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isStoreAway(error)) throw error;
    }
  }
}
