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

export type Stage = (result: StoredResult, principal: string) => Promise<Staged | "full">;

/** From one piece to the next, and to the write, ms. */
const STAGED_MS = 60_000;

/**
 * KEYS 1 the ends of results, 2 their bytes, 3 their shares, 4 the principal's wish for room
 * ARGV 1 principal, 2 bytes, 3 how much may be taken, JSON (room.ts). Answer: 1 or 0.
 */
const ASK = `${ROOM}
local limits = cjson.decode(ARGV[3])
local results = accountOf(KEYS[1], KEYS[2], KEYS[3], limits.results, limits.share)
if hasRoom(results, ARGV[1], tonumber(ARGV[2])) then return 1 end
wantRoom(KEYS[4], ARGV[2])
return 0`;

/** In one step: a piece whose writer dies runs out. KEYS 1 staged; ARGV 1 piece, 2 life ms. */
const ADD = `
redis.call('RPUSH', KEYS[1], ARGV[1])
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

declare module "ioredis" {
  interface RedisCommander<Context> {
    ujbAskForRoom(...keysAndArguments: (string | number)[]): Result<0 | 1, Context>;
    ujbAddPiece(key: string, piece: Buffer, lifeMs: number): Result<number, Context>;
  }
}

export function defineStage(redis: Redis, limits: string): Stage {
  redis.defineCommand("ujbAskForRoom", { numberOfKeys: 4, lua: ASK });
  redis.defineCommand("ujbAddPiece", { numberOfKeys: 1, lua: ADD });
  return async (result, principal) => {
    const bytes = storedBytes(result);
    const key = keys.staged(randomUUID());
    const [first = Buffer.alloc(0)] = result.pieces;
    if (result.pieces.length === 1) return { key, piece: first, bytes, drop: async () => undefined };
    const account = [keys.resultEnds, keys.resultBytes, keys.resultShares, keys.roomWanted(principal)];
    if ((await redis.ujbAskForRoom(...account, principal, bytes, limits)) === 0) return "full";
    const drop = async (): Promise<void> => {
      await redis.del(key);
    };
    try {
      for (const piece of result.pieces) await redis.ujbAddPiece(key, piece, STAGED_MS);
    } catch (error) {
      await drop().catch(() => undefined);
      if (isStoreFull(error)) return "full";
      throw error;
    }
    return { key, piece: "", bytes, drop };
  };
}
