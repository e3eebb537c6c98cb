/** The stored form of a result: JSON in UTF-8, compressed if that is worth it, in pieces of a size that suits Redis. */

import { randomUUID } from "node:crypto";
import { Readable, type Transform } from "node:stream";
import { promisify } from "node:util";
import { constants, createGzip, gunzip, gzip } from "node:zlib";
import type { Redis, Result } from "ioredis";
import { wellFormedJson } from "../../printable.js";
import { keys } from "../keys.js";
import {
  isStoreFull,
  RESULT_ACCOUNT,
  RESULT_QUOTA,
  type RoomLimits,
  STORE_TIME,
} from "../operations/limits.js";

export interface StoredResult {
  /** Size of the JSON before compression. */
  bytes: number;
  /** In order; at least one. */
  pieces: Buffer[];
}

const COMPRESS_ABOVE = 1024;
/** Size of one Redis command: Redis does nothing else while it runs. */
const PIECE_BYTES = 1024 * 1024;
/** No JSON begins with these two bytes. */
const GZIP = Buffer.from([0x1f, 0x8b]);
/** The fastest level: it saves store memory, and the answer waits for it. */
const LEVEL = constants.Z_BEST_SPEED;

const compress = promisify<Buffer, { level: number }, Buffer>(gzip);
const decompress = promisify<Buffer, Buffer>(gunzip);

/** Compresses on another thread. */
export async function encodeResult(value: unknown): Promise<StoredResult> {
  const json = Buffer.from(wellFormedJson(value), "utf8");
  return { bytes: json.length, pieces: piecesOf(await encodeText(json)) };
}

export async function encodeText(json: Buffer): Promise<Buffer> {
  return json.length > COMPRESS_ABOVE ? compress(json, { level: LEVEL }) : json;
}

/** For a result that comes in parts: only its compressed form is held. Rejects if `parts` does. */
export async function encodeParts(parts: AsyncIterable<Buffer>): Promise<StoredResult> {
  let bytes = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const part of parts) {
      bytes += part.length;
      yield part;
    }
  }
  const zip: Transform = createGzip({ level: LEVEL, chunkSize: PIECE_BYTES });
  const source = Readable.from(counted(), { objectMode: false, highWaterMark: 1 });
  source.on("error", (error) => zip.destroy(error));
  const pieces: Buffer[] = [];
  for await (const piece of source.pipe(zip)) pieces.push(piece as Buffer);
  return { bytes, pieces };
}

/** Bytes in the store. */
function storedBytes({ pieces }: StoredResult): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** The JSON text. Small ones are stored uncompressed. */
export async function decodeResult(pieces: readonly Buffer[]): Promise<string> {
  const data = Buffer.concat(pieces);
  const json = data.subarray(0, GZIP.length).equals(GZIP) ? await decompress(data) : data;
  return json.toString("utf8");
}

function piecesOf(data: Buffer): Buffer[] {
  const count = Math.max(1, Math.ceil(data.length / PIECE_BYTES));
  return Array.from({ length: count }, (_, at) => data.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES));
}

// Uploads a large result before it is written: piece by piece under its own key, which the writing script renames to the
// result's key in one step with the record's end (▲14). An upload that is never written expires.

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
 * KEYS 1 and 2 the account of results, 3 the principal's request for space
 * ARGV 1 principal, 2 bytes, 3 the budgets, JSON (limits.ts). Answer: 1 or 0.
 */
const ASK = `${STORE_TIME}${RESULT_QUOTA}
local limits = cjson.decode(ARGV[3])
local results = accountOf(1, limits.results, limits.share)
if hasRoom(results, ARGV[1], tonumber(ARGV[2])) then return 1 end
wantRoom(KEYS[3], ARGV[2])
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
  redis.defineCommand("ujbAskForRoom", { numberOfKeys: 3, lua: ASK });
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
