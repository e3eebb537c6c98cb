/** Data stored beside an operation's record: arguments, result, progress reports, and the duplicates that found it. */
import type { Redis } from "ioredis";
import { type Duplicate, MOST_DUPLICATES } from "../../operation/timeline.js";
import type { Progress } from "../../wire/wire.js";
import { keys } from "../keys.js";
import { decodeResult } from "../results/stored-result.js";
import { type ConsoleLines, createConsoleLines } from "./console-lines.js";
import { defineReport, type PartialOptions } from "./partials.js";

/** The visible state of a running operation. */
export interface Live {
  progress?: Pick<Progress, "progress" | "total" | "message" | "seq">;
  partialResult?: unknown;
  /** A partial result was too large to keep (partials.ts). */
  isTruncated?: true;
}

/** When reports of one kind were written, ms, store clock. Several that came together are written once. */
export interface ReportTimes {
  first: number;
  last: number;
  count: number;
}

export interface Reports {
  progress?: ReportTimes;
  partial?: ReportTimes;
}

/** As the caller gave them; undefined if they are gone, or not what was stored. */
export type Arguments = Record<string, unknown> | undefined;

/** Those that are written in this text. */
export function argumentsIn(text: string): Arguments {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** Arguments and result are written with the record, by the scripts that create and finish operations. */
export interface Attachments extends ConsoleLines {
  argumentsOf(logId: string): Promise<Arguments>;
  /** The stored result as JSON text; undefined when there is none. */
  resultOf(logId: string): Promise<string | undefined>;
  /** The same in its stored pieces (stored-result.ts); the caller owns the buffers. */
  storedResultOf(logId: string): Promise<Buffer[] | undefined>;
  /** Bytes of all stored results; those whose retention ended leave the sum with the next call. */
  resultBytes(): Promise<number>;
  /** Bytes of all stored arguments, likewise. */
  argumentBytes(): Promise<number>;
  live(logId: string): Promise<Live>;
  /** When it reported its progress, and partial results; also after its end. */
  reportsOf(logId: string): Promise<Reports>;
  /** How long the operation and what it left are kept, ms; undefined: it is in flight, or gone. */
  keptFor(logId: string): Promise<number | undefined>;
  /** Its partial result as JSON text. */
  partialOf(logId: string): Promise<string | undefined>;
  report(logId: string, live: Live): Promise<void>;
  /** Records that a call found this operation instead of creating one; the newest are kept (MOST_DUPLICATES). */
  noteDuplicate(logId: string, duplicate: Duplicate): Promise<void>;
  duplicatesOf(logId: string): Promise<Duplicate[]>;
}

/** Pieces per answer, of about 1 MiB each. */
const STEP = 4;

/** Redis answers are slices of one buffer, which stays in memory until the last slice is released. */
const owned = (piece: Buffer): Buffer => Buffer.from(piece);

export function createAttachments(
  redis: Redis,
  options: { retentionMs: number } & PartialOptions,
): Attachments {
  const writeReport = defineReport(redis, options);
  const some = (key: string, from: number): Promise<Buffer[]> =>
    redis.lrangeBuffer(key, from, from + STEP - 1);

  /** Read in steps: neither Redis nor this process holds all of a large result in one answer. */
  const storedResultOf: Attachments["storedResultOf"] = async (logId) => {
    const key = keys.result(logId);
    const [only, first] = await Promise.all([
      redis.hgetBuffer(keys.operation(logId), "result"),
      some(key, 0),
    ]);
    if (only) return [owned(only)];
    const pieces: Buffer[] = [];
    for (;;) {
      const step = pieces.length === 0 ? first : await some(key, pieces.length);
      pieces.push(...step.map(owned));
      if (step.length < STEP) break;
    }
    if (pieces.length === 0) return undefined;
    // Its retention may have ended between two steps.
    return pieces.length < STEP || (await redis.llen(key)) === pieces.length ? pieces : undefined;
  };

  return {
    ...createConsoleLines(redis, options),

    async argumentsOf(logId) {
      const text = await redis.hget(keys.operation(logId), "arguments");
      return text === null ? undefined : argumentsIn(text);
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

    async reportsOf(logId) {
      const kinds = ["progress", "partial"] as const;
      const fields = kinds.flatMap((kind) => [`${kind}:first`, `${kind}:last`, `${kind}:count`]);
      const found = await redis.hmget(keys.live(logId), ...fields);
      const reports: Reports = {};
      for (const [index, kind] of kinds.entries()) {
        const [first = 0, last = 0, count = 0] = found.slice(3 * index, 3 * index + 3).map(Number);
        if (count > 0) reports[kind] = { first, last, count };
      }
      return reports;
    },

    async keptFor(logId) {
      const ms = await redis.pttl(keys.operation(logId));
      return ms < 0 ? undefined : ms;
    },

    partialOf: async (logId) => (await redis.hget(keys.live(logId), "partial")) ?? undefined,

    async report(logId, live) {
      const progress = live.progress && JSON.stringify(live.progress);
      const partial = live.partialResult === undefined ? undefined : JSON.stringify(live.partialResult);
      if (progress === undefined && partial === undefined) return;
      // A safety net in case the operation's end never comes; the end sets the retention.
      await writeReport(logId, { progress, partial }, 3 * options.retentionMs);
    },

    async noteDuplicate(logId, duplicate) {
      await redis
        .multi()
        .rpush(keys.duplicates(logId), JSON.stringify(duplicate))
        .ltrim(keys.duplicates(logId), -MOST_DUPLICATES, -1)
        .pexpire(keys.duplicates(logId), 3 * options.retentionMs)
        .exec();
    },

    async duplicatesOf(logId) {
      const entries = await redis.lrange(keys.duplicates(logId), 0, -1);
      return entries.map((text) => JSON.parse(text) as Duplicate);
    },
  };
}
