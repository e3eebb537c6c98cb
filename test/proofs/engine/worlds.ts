/** A few worlds for many tests: each is lent to one test at a time, and replaced when a test left it in disorder. */
import { startWorld, type World, type WorldOptions } from "../../harness/processes/process-world.js";

export interface Worlds {
  /** Lends a world for as long as `use` takes; waits while all are lent. */
  lend<T>(use: (world: World) => Promise<T>): Promise<T>;
  /** Ends all; rejects when one of them did not end as it should. */
  close(): Promise<void>;
}

export function createWorlds(most: number, options: WorldOptions = {}): Worlds {
  const free: (World | undefined)[] = Array.from({ length: most }, () => undefined);
  const waiting: ((world: World | undefined) => void)[] = [];

  const take = async (): Promise<World | undefined> =>
    free.length > 0 ? free.pop() : new Promise((resolve) => waiting.push(resolve));
  const giveBack = (world: World | undefined): void => {
    const next = waiting.shift();
    if (next) next(world);
    else free.push(world);
  };

  return {
    async lend(use) {
      const known = await take();
      let world: World;
      try {
        world = known ?? (await startWorld(options));
      } catch (error) {
        giveBack(undefined);
        throw error;
      }
      try {
        const result = await use(world);
        giveBack(world);
        return result;
      } catch (error) {
        // What is wrong is told by the error; what it left is not.
        await world.close().catch(() => undefined);
        giveBack(undefined);
        throw error;
      }
    },
    async close() {
      await Promise.all(free.map((world) => world?.close()));
    },
  };
}
