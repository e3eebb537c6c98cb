/** Every key of a store as an older version wrote it, kept as JSON, and put into a Redis as if it were of today. */
import { readFileSync } from "node:fs";
import type { Redis } from "ioredis";
import type { OperationRecord } from "../../../src/shared/operation/operation.js";

type Pairs = [string, string][];

type DumpedKey = { key: string /** ms; absent: it has no end. */; ttl?: number } & (
  | { type: "string"; value: string }
  | { type: "list" | "set"; value: string[] }
  /** Fields, or members with their scores. */
  | { type: "hash" | "zset"; value: Pairs }
  | { type: "stream"; value: [string, string[]][] }
);

export interface StoreDump {
  dumpedAt: number;
  /** The process of each Editor that the store knows. */
  sessions: Record<string, { session: string; ledger: string }>;
  keys: DumpedKey[];
}

const DAY = 24 * 3_600_000;

/** A dump of test/golden, with every time in it as if it had been made now. */
export function readDump(name: string): StoreDump {
  const text = readFileSync(new URL(`../../golden/${name}`, import.meta.url), "utf8");
  const { dumpedAt } = JSON.parse(text) as StoreDump;
  const later = Date.now() - dumpedAt;
  const isTime = (number: number): boolean => Math.abs(number - dumpedAt) < DAY;
  const shifted = text.replaceAll(/\b\d{13}\b/g, (digits) =>
    isTime(Number(digits)) ? String(Number(digits) + later) : digits,
  );
  return JSON.parse(shifted) as StoreDump;
}

export interface DumpedOperation {
  record: OperationRecord;
  args: Record<string, unknown>;
}

/** The records as that version wrote them. */
export function operationsIn({ keys }: StoreDump): DumpedOperation[] {
  const values = new Map(keys.map(({ key, value }) => [key, value]));
  return keys.flatMap((dumped) => {
    if (dumped.type !== "hash" || !dumped.key.startsWith("{ujb}:operation:")) return [];
    const record = JSON.parse(Object.fromEntries(dumped.value).doc ?? "") as OperationRecord;
    const args = JSON.parse(String(values.get(`{ujb}:arguments:${record.logId}`)));
    return [{ record, args: args as Record<string, unknown> }];
  });
}

/** `replaced`: what the dump calls by the first word is called by the second. */
export async function putDump(hand: Redis, dump: StoreDump, replaced: Pairs): Promise<void> {
  const text = replaced.reduce((all, [from, to]) => all.replaceAll(from, to), JSON.stringify(dump));
  for (const dumped of (JSON.parse(text) as StoreDump).keys) {
    await put(hand, dumped);
    if (dumped.ttl !== undefined) await hand.pexpire(dumped.key, dumped.ttl);
  }
}

async function put(hand: Redis, dumped: DumpedKey): Promise<void> {
  const { key } = dumped;
  switch (dumped.type) {
    case "string":
      await hand.set(key, dumped.value);
      return;
    case "list":
      await hand.rpush(key, ...dumped.value);
      return;
    case "set":
      await hand.sadd(key, ...dumped.value);
      return;
    case "hash":
      await hand.hset(key, ...dumped.value.flat());
      return;
    case "zset":
      await hand.zadd(key, ...dumped.value.flatMap(([member, score]) => [score, member]));
      return;
    case "stream":
      for (const [id, fields] of dumped.value) await hand.xadd(key, id, ...fields);
  }
}
