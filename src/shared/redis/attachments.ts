/** What is stored beside an operation's record: arguments, result, what it tells while it runs, who found it. */
import type { Redis } from "ioredis";
import type { Duplicate } from "../timeline.js";
import type { Progress } from "../wire.js";
import { keys } from "./keys.js";
import { defineReport, type PartialOptions } from "./partials.js";
import { decodeResult } from "./stored-result.js";

/** What is shown of an operation while it runs. */
export interface Live {
  progress?: Pick<Progress, "progress" | "total" | "message" | "seq">;
  partialResult?: unknown;
  /** There was a partial result that was too large to keep (partials.ts). */
  isTruncated?: true;
}

/** Arguments and result are written with the record, by the script in apply.ts. */
export interface Attachments {
  argumentsOf(logId: string): Promise<Record<string, unknown> | undefined>;
  /** The stored result as JSON text; undefined when there is none. */
  resultOf(logId: string): Promise<string | undefined>;
  /** The same in the pieces that it is stored in (stored-result.ts), each the caller's own. */
  storedResultOf(logId: string): Promise<Buffer[] | undefined>;
  /** What all results take in the store, bytes; those whose retention ended leave the count with the next call. */
  resultBytes(): Promise<number>;
  /** The same of all arguments. */
  argumentBytes(): Promise<number>;
  live(logId: string): Promise<Live>;
  report(logId: string, live: Live): Promise<void>;
  /** A call found this operation instead of creating one: kept to explain it, the newest 100. */
  noteDuplicate(logId: string, duplicate: Duplicate): Promise<void>;
  duplicatesOf(logId: string): Promise<Duplicate[]>;
}

/** Pieces of one answer, of some 1 MiB each. */
const STEP = 4;

/** What Redis answers are parts of a buffer that is there until the last of them is gone. */
const owned = (piece: Buffer): Buffer => Buffer.from(piece);

export function createAttachments(
  redis: Redis,
  options: { retentionMs: number } & PartialOptions,
): Attachments {
  const writeReport = defineReport(redis, options);
  const some = (key: string, from: number): Promise<Buffer[]> =>
    redis.lrangeBuffer(key, from, from + STEP - 1).catch(async (error: Error) => {
      // A string is what schema 1 wrote.
      if (!error.message.startsWith("WRONGTYPE")) throw error;
      return [await redis.getBuffer(key)].filter((data) => data !== null);
    });

  /** Step by step: neither Redis nor this process has all of a large result in one answer. */
  const storedResultOf: Attachments["storedResultOf"] = async (logId) => {
    const key = keys.result(logId);
    const pieces: Buffer[] = [];
    for (;;) {
      const step = await some(key, pieces.length);
      pieces.push(...step.map(owned));
      if (step.length < STEP) break;
    }
    if (pieces.length === 0) return undefined;
    // Its retention may have ended between two steps.
    return pieces.length < STEP || (await redis.llen(key)) === pieces.length ? pieces : undefined;
  };

  return {
    async argumentsOf(logId) {
      const text = await redis.get(keys.arguments(logId));
      return text === null ? undefined : (JSON.parse(text) as Record<string, unknown>);
    },

    storedResultOf,

    async resultOf(logId) {
      const pieces = await storedResultOf(logId);
      return pieces && decodeResult(pieces);
    },

    resultBytes: async () => Number((await redis.get(keys.resultBytes)) ?? 0),
    argumentBytes: async () => Number((await redis.get(keys.argumentBytes)) ?? 0),

    async live(logId) {
      const [progress, partial, truncated] = await redis.hmget(
        keys.live(logId),
        "progress",
        "partial",
        "truncated",
      );
      return {
        ...(progress ? { progress: JSON.parse(progress) as NonNullable<Live["progress"]> } : {}),
        ...(partial ? { partialResult: JSON.parse(partial) as unknown } : {}),
        ...(truncated ? { isTruncated: true } : {}),
      };
    },

    async report(logId, live) {
      const progress = live.progress && JSON.stringify(live.progress);
      const partial = live.partialResult === undefined ? undefined : JSON.stringify(live.partialResult);
      if (progress === undefined && partial === undefined) return;
      // A safety net where the end of the operation never comes; the end sets the retention.
      await writeReport(logId, { progress, partial }, 3 * options.retentionMs);
    },

    async noteDuplicate(logId, duplicate) {
      await redis
        .multi()
        .rpush(keys.duplicates(logId), JSON.stringify(duplicate))
        .ltrim(keys.duplicates(logId), -100, -1)
        .pexpire(keys.duplicates(logId), 3 * options.retentionMs)
        .exec();
    },

    async duplicatesOf(logId) {
      const entries = await redis.lrange(keys.duplicates(logId), 0, -1);
      return entries.map((text) => JSON.parse(text) as Duplicate);
    },
  };
}
