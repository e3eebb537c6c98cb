/** What the processes hold and use meanwhile, and what Redis counts: read from Linux's /proc and from INFO. */
import { readFileSync } from "node:fs";
import type { Redis } from "ioredis";
import { memoryOf } from "../bench/clients/memory.js";

/** By process: resident memory, MB, and processor time since it began, ms. */
export interface Sample {
  /** ms, of one clock. */
  at: number;
  memory: Record<string, number>;
  processorMs: Record<string, number>;
}

export interface RedisCounts {
  connections: number;
  keys: number;
  bytes: number;
  commands: number;
  /** Calls of scripts, each with its commands inside. */
  scripts: number;
  byCommand: Record<string, number>;
}

/** A clock tick of the kernel's counters, ms. */
const TICK_MS = 10;

function processorMsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return Number.NaN;
  }
}

export function sample(pids: ReadonlyMap<string, number>): Sample {
  const of = <T>(read: (pid: number) => T): Record<string, T> =>
    Object.fromEntries([...pids].map(([name, pid]) => [name, read(pid)]));
  return {
    at: performance.now(),
    memory: of((pid) => memoryOf(pid)?.resident ?? Number.NaN),
    processorMs: of(processorMsOf),
  };
}

/** Every `everyMs` until it is stopped, which answers all samples. */
export function watch(pids: ReadonlyMap<string, number>, everyMs: number): () => Sample[] {
  const samples = [sample(pids)];
  const timer = setInterval(() => samples.push(sample(pids)), everyMs);
  return () => {
    clearInterval(timer);
    return samples;
  };
}

export async function countRedis(redis: Redis): Promise<RedisCounts> {
  const [info, keys] = await Promise.all([redis.info("everything"), redis.dbsize()]);
  const of = (pattern: RegExp): number => Number(pattern.exec(info)?.[1] ?? Number.NaN);
  const calls = [...info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(
    ([, name = "", count]) => [name, Number(count)] as const,
  );
  const scripts = calls.filter(([name]) => name === "evalsha" || name === "eval");
  return {
    connections: of(/^connected_clients:(\d+)/m),
    keys,
    bytes: of(/^used_memory:(\d+)/m),
    commands: of(/^total_commands_processed:(\d+)/m),
    scripts: scripts.reduce((sum, [, count]) => sum + count, 0),
    byCommand: Object.fromEntries(calls),
  };
}
