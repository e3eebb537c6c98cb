/** The line of one process to Redis: what is fixed is whole, also while a command after which it is cut still blocks. */
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { until } from "../processes/processes.js";
import { layRedisLine } from "./process-redis.js";
import { sharedTestRedis } from "./redis.js";

test("fixed while Redis has not answered the last command: it is not cut by the answer", async () => {
  const server = await sharedTestRedis();
  const line = await layRedisLine(server.connection);
  const hand = new Redis(server.connection);
  const process = new Redis(line.url, { retryStrategy: () => 10, maxRetriesPerRequest: null });
  process.on("error", () => undefined);
  try {
    let isCut = false;
    const act = (): void => {
      isCut = true;
    };
    line.cutAt("after", ([name = ""]) => /^blpop$/i.test(name), act);
    const blocked = process.blpop("list", 0).catch(() => undefined);
    await until("it blocks", async () => /blocked_clients:1/.test(String(await hand.info("clients"))));
    line.fix();
    await hand.rpush("list", "one", "two");
    await blocked;
    expect(await process.ping()).toBe("PONG");
    expect(isCut).toBe(false);
  } finally {
    process.disconnect();
    hand.disconnect();
    await line.close();
    await server.flush();
  }
});
