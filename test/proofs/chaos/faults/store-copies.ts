/** Copies of Redis' data, taken while the server stands still. */
import { rmSync } from "node:fs";
import type { Redis } from "ioredis";
import type { RedisCopy, TestRedis } from "../../../harness/redis/redis.js";

export interface StoreCopies {
  /** Of the server's process; undefined when it is not one of this machine. */
  pid(): Promise<number | undefined>;
  take(): Promise<void>;
  isThereOne(): boolean;
  /** The server goes on with the copy that is at least so old (the oldest, if none is); answers how old it is, ms. */
  restore(ageMs: number): Promise<number>;
  /** They are older than something that they must not be older than. */
  forget(): void;
}

const MOST = 8;

export function createStoreCopies(redis: TestRedis, hand: Redis): StoreCopies {
  const isOfThisMachine = "path" in redis.connection;
  let copies: { at: number; copy: RedisCopy }[] = [];

  const pid = async (): Promise<number | undefined> =>
    isOfThisMachine ? Number(/process_id:(\d+)/.exec(await hand.info("server"))?.[1]) : undefined;
  const drop = ({ copy }: { copy: RedisCopy }): void => rmSync(copy, { recursive: true, force: true });

  return {
    pid,
    async take() {
      const server = await pid();
      if (server === undefined) return;
      process.kill(server, "SIGSTOP");
      try {
        copies.push({ at: Date.now(), copy: await redis.copy() });
      } finally {
        process.kill(server, "SIGCONT");
      }
      if (copies.length > MOST) for (const copy of copies.splice(leastMissed(copies), 1)) drop(copy);
    },
    isThereOne: () => copies.length > 0,
    async restore(ageMs) {
      const now = Date.now();
      const chosen = copies.findLast(({ at }) => now - at >= ageMs) ?? copies[0];
      if (chosen === undefined) throw new Error("there is no copy");
      await redis.restore(chosen.copy);
      // What came after it never happened: younger copies are of another past.
      for (const younger of copies.filter(({ at }) => at > chosen.at)) drop(younger);
      copies = copies.filter(({ at }) => at <= chosen.at);
      return now - chosen.at;
    },
    forget() {
      for (const copy of copies.splice(0)) drop(copy);
    },
  };
}

/** The oldest and the youngest stay; in between, the older the further apart. */
function leastMissed(copies: readonly { at: number }[]): number {
  const now = Date.now();
  const gaps = copies.slice(1, -1).map(({ at }, index) => {
    const gap = (copies[index + 2]?.at ?? now) - (copies[index]?.at ?? 0);
    return { index: index + 1, share: gap / (now - at + 1) };
  });
  return gaps.toSorted((a, b) => a.share - b.share)[0]?.index ?? 0;
}
