/** Stores over the test file's Redis, and raw access to it; closed after each test. */
import { Redis } from "ioredis";
import { afterEach } from "vitest";
import { openStore, type Store } from "../../../src/shared/store/store.js";
import type { TestRedis } from "../redis/redis.js";
import { useSystem } from "./system.js";

export interface OpenedStores {
  redis(): TestRedis;
  open(given?: Partial<Parameters<typeof openStore>[1]>): Promise<Store>;
  /** Raw access, as a dashboard or a person has it. */
  byHand(): Redis;
  closeLater(close: () => unknown): void;
}

/** Call it at the top of a test file. */
export function useOpenedStores(): OpenedStores {
  const { redis } = useSystem();
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  return {
    redis,
    async open(given = {}) {
      const store = await openStore(redis().connection, { retentionMs: 60_000, ...given });
      closers.push(() => store.close());
      return store;
    },
    byHand() {
      const hand = new Redis(redis().connection);
      closers.push(() => hand.disconnect());
      return hand;
    },
    closeLater: (close) => void closers.push(close),
  };
}
