import { isApply, type RedisCommand } from "../../harness/redis/process-redis.js";
import type { Random } from "./random.js";

/** A place in the stream of a process's commands to Redis: one of the first `most`, or the n-th that writes an operation. */
export function drawnPlace(random: Random, most: number): (command: RedisCommand) => boolean {
  const isWrite = random.chance(0.5);
  let left = random.whole(1, isWrite ? 3 : most);
  return (command) => {
    if (isWrite && !isApply(command)) return false;
    left -= 1;
    return left === 0;
  };
}
