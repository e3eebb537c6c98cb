/**
 * Brings a large result to the store before it is written: piece by piece under a key of its own, which the writing
 * script gives the result's name in one step with the record's end (▲14). What nobody writes runs out by itself.
 */
import { randomUUID } from "node:crypto";
import type { Redis, Result } from "ioredis";
import { keys } from "./keys.js";
import { isStoreFull, ROOM } from "./room.js";
import { type StoredResult, storedBytes } from "./stored-result.js";

/** As the writing script takes it. */
export interface Staged {
  key: string;
  /** The only piece, where there is no more. */
  piece: Buffer | "";
  bytes: number;
  /** What was not written leaves. */
  drop(): Promise<void>;
}

export type Stage = (result: StoredResult) => Promise<Staged | "full">;

/** From one piece to the next, and to the write, ms. */
const STAGED_MS = 60_000;

/** KEYS 1 ends, 2 total, 3 wanted; ARGV 1 bytes, 2 budget. Answer: 1 or 0. */
const ASK = `${ROOM}
return hasRoom(KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[1]), tonumber(ARGV[2])) and 1 or 0`;

declare module "ioredis" {
  interface RedisCommander<Context> {
    ujbAskForRoom(...keysAndArguments: (string | number)[]): Result<0 | 1, Context>;
  }
}

export function defineStage(redis: Redis, options: { resultsBudgetBytes: number }): Stage {
  redis.defineCommand("ujbAskForRoom", { numberOfKeys: 3, lua: ASK });
  return async (result) => {
    const bytes = storedBytes(result);
    const key = keys.staged(randomUUID());
    const [first = Buffer.alloc(0)] = result.pieces;
    if (result.pieces.length === 1) return { key, piece: first, bytes, drop: async () => undefined };
    const asked = [keys.resultEnds, keys.resultBytes, keys.roomWanted, bytes, options.resultsBudgetBytes];
    if ((await redis.ujbAskForRoom(...asked)) === 0) return "full";
    const drop = async (): Promise<void> => {
      await redis.del(key);
    };
    try {
      for (const piece of result.pieces) {
        await redis.rpush(key, piece);
        await redis.pexpire(key, STAGED_MS);
      }
    } catch (error) {
      await drop().catch(() => undefined);
      if (isStoreFull(error)) return "full";
      throw error;
    }
    return { key, piece: "", bytes, drop };
  };
}
