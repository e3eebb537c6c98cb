/** Redis dies, hangs, is emptied, and becomes what it was a while ago. */
import type { Random } from "../../engine/random.js";
import type { ChaosWorld } from "../world.js";
import { type Blow, everybody, type Fault, fault, type Group, standsStill } from "./fault.js";

function storeFault(
  what: readonly [string, Group, number],
  draw: (world: ChaosWorld, random: Random) => Blow | undefined,
): Fault {
  return fault(what, (world) => ({ it: world, target: "Redis", editors: everybody(world) }), draw);
}

function restored(name: string, ageMs: number, weight: number): Fault {
  return storeFault([`Redis restored, ${name} old`, "flush", weight], ({ copies }) => {
    if (!copies.isThereOne()) return undefined;
    return {
      lastsMs: 0,
      strike: async () => `from a copy ${((await copies.restore(ageMs)) / 1000).toFixed(1)} s old`,
    };
  });
}

export const storeFaults: readonly Fault[] = [
  storeFault(["Redis SIGKILL", "redis", 3], ({ redis }, random) => ({
    lastsMs: random.between(0, 800),
    strike: redis.kill,
    heal: redis.restart,
  })),
  storeFault(["Redis SIGSTOP", "redis", 3], ({ copies }, random) =>
    standsStill(random.between(100, 2500), copies.pid),
  ),
  storeFault(["Redis flushed", "flush", 5], ({ hand }) => ({
    lastsMs: 0,
    strike: async () => void (await hand.flushall()),
  })),
  restored("1 s", 1_000, 5),
  restored("60 s", 60_000, 3),
  // Or the oldest that the run has.
  restored("1 h", 3_600_000, 2),
];
