/** Copies of Redis' data directory, taken while the server stands still, and put back while it is down. */
import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Redis } from "ioredis";
import type { TestRedis } from "../harness/redis.js";

export interface StoreCopies {
  /** Of the server's process; undefined when it is not one of this machine. */
  pid(): Promise<number | undefined>;
  take(): Promise<void>;
  /** How old the copies are, ms, the youngest first. */
  ages(): number[];
  /** Ends the server, puts back the copy that is at least so old (the oldest, if none is), and starts it again. */
  restore(ageMs: number): Promise<{ ageMs: number }>;
  /** They are older than something that they must not be older than. */
  forget(): void;
}

/** Redis keeps base, increments and manifest of its append-only file here. */
const AOF = "appendonlydir";
const MOST = 8;

export function createStoreCopies(redis: TestRedis, hand: Redis, folder: string): StoreCopies {
  const { connection } = redis;
  const data = "path" in connection ? dirname(connection.path) : undefined;
  let copies: { at: number; path: string }[] = [];
  let count = 0;

  const pid = async (): Promise<number | undefined> => {
    if (data === undefined) return undefined;
    return Number(/process_id:(\d+)/.exec(await hand.info("server"))?.[1]);
  };
  const drop = (copy: { path: string }): void => rmSync(copy.path, { recursive: true, force: true });

  return {
    pid,
    async take() {
      const server = await pid();
      if (data === undefined || server === undefined) return;
      count += 1;
      const path = join(folder, `store-${count}`);
      mkdirSync(path, { recursive: true });
      process.kill(server, "SIGSTOP");
      try {
        cpSync(join(data, AOF), join(path, AOF), { recursive: true });
      } finally {
        process.kill(server, "SIGCONT");
      }
      copies.push({ at: Date.now(), path });
      if (copies.length > MOST) for (const copy of copies.splice(leastMissed(copies), 1)) drop(copy);
    },
    ages: () => copies.map(({ at }) => Date.now() - at).reverse(),
    async restore(ageMs) {
      const now = Date.now();
      const copy = copies.findLast(({ at }) => now - at >= ageMs) ?? copies[0];
      if (data === undefined || copy === undefined) throw new Error("there is no copy");
      await redis.kill();
      rmSync(join(data, AOF), { recursive: true, force: true });
      cpSync(join(copy.path, AOF), join(data, AOF), { recursive: true });
      await redis.restart();
      // What came after it never happened: younger copies are of another past.
      for (const younger of copies.filter(({ at }) => at > copy.at)) drop(younger);
      copies = copies.filter(({ at, path }) => at <= copy.at && existsSync(path));
      return { ageMs: now - copy.at };
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
