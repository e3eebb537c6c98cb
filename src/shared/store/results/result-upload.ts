/**
 * Uploads a large result before it is written: piece by piece under its own key, which the writing script renames to the
 * result's key in one step with the record's end (▲14). An upload that is never written expires.
 */
import { randomUUID } from "node:crypto";
import type { Redis, Result } from "ioredis";
import { keys } from "../keys.js";
import { isStoreFull, RESULT_ACCOUNT, RESULT_QUOTA, type RoomLimits } from "../operations/result-quota.js";
import { STORE_TIME } from "../scripts/script.js";
import { type StoredResult, storedBytes } from "./stored-result.js";

/** The form in which the writing script takes it. */
export interface UploadedResult {
  key: string;
  /** The only piece, if there is just one. */
  piece: Buffer | "";
  bytes: number;
  /** Removes what was not written. */
  drop(): Promise<void>;
}

export type ResultUpload = (result: StoredResult, principal: string) => Promise<UploadedResult | "full">;

/** Longest time from one piece to the next, and to the write, ms. */
const STAGED_MS = 60_000;

/**
 * KEYS 1–4 the account of results, 5 the principal's request for space
 * ARGV 1 principal, 2 bytes, 3 the budgets, JSON (result-quota.ts). Answer: 1 or 0.
 */
const ASK = `${STORE_TIME}${RESULT_QUOTA}
local limits = cjson.decode(ARGV[3])
local results = accountOf(1, limits.results, limits.share)
if hasRoom(results, ARGV[1], tonumber(ARGV[2])) then return 1 end
wantRoom(KEYS[5], ARGV[2])
return 0`;

/** In one step, so that a piece expires if its writer dies. KEYS 1 the upload; ARGV 1 piece, 2 life ms. */
const ADD = `
redis.call('RPUSH', KEYS[1], ARGV[1])
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

declare module "ioredis" {
  interface RedisCommander<Context> {
    ujbAskForRoom(...keysAndArguments: (string | number)[]): Result<0 | 1, Context>;
    ujbAddPiece(key: string, piece: Buffer, lifeMs: number): Result<number, Context>;
  }
}

export function defineResultUpload(redis: Redis, room: RoomLimits): ResultUpload {
  const limits = JSON.stringify(room);
  redis.defineCommand("ujbAskForRoom", { numberOfKeys: 5, lua: ASK });
  redis.defineCommand("ujbAddPiece", { numberOfKeys: 1, lua: ADD });
  return async (result, principal) => {
    const bytes = storedBytes(result);
    const key = keys.uploaded(randomUUID());
    const [first = Buffer.alloc(0)] = result.pieces;
    if (result.pieces.length === 1) return { key, piece: first, bytes, drop: async () => undefined };
    const account = [...RESULT_ACCOUNT, keys.roomWanted(principal)];
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
