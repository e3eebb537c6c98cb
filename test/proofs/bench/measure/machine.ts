/** Where a run took place: numbers of two machines, or of a loaded one, do not compare. */
import { arch, availableParallelism, cpus, loadavg, platform } from "node:os";
import { Redis } from "ioredis";
import type { RedisAddress } from "../../../../src/shared/store/connect.js";

export interface Machine {
  cores: number;
  processor: string;
  system: string;
  node: string;
  redis: string;
  /** Of the last minute before the run began. */
  load: number;
}

export function loadNow(): number {
  return loadavg()[0] ?? 0;
}

export async function describeMachine(address: RedisAddress, load: number): Promise<Machine> {
  const redis = new Redis(address);
  const info = await redis.info("server");
  redis.disconnect();
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? "unknown",
    system: `${platform()} ${arch()}`,
    node: process.version,
    redis: /^(?:valkey|redis)_version:(\S+)/m.exec(info)?.[1] ?? "unknown",
    load,
  };
}
