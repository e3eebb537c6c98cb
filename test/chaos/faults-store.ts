/** Redis dies, hangs, is emptied, and becomes what it was a while ago. */
import { everybody, type Fault } from "./fault.js";

const TARGET = "Redis";

const died: Fault = {
  kind: "Redis SIGKILL",
  group: "redis",
  weight: 3,
  aim: (world, random) => ({
    target: TARGET,
    editors: everybody(world),
    lastsMs: random.between(0, 800),
    strike: async () => void (await world.redis.kill()),
    heal: () => world.redis.restart(),
  }),
};

const hung: Fault = {
  kind: "Redis SIGSTOP",
  group: "redis",
  weight: 3,
  aim(world, random) {
    let pid: number | undefined;
    return {
      target: TARGET,
      editors: everybody(world),
      lastsMs: random.between(100, 2500),
      async strike() {
        pid = await world.copies.pid();
        if (pid !== undefined) process.kill(pid, "SIGSTOP");
        return undefined;
      },
      async heal() {
        if (pid !== undefined) process.kill(pid, "SIGCONT");
      },
    };
  },
};

const flushed: Fault = {
  kind: "Redis flushed",
  group: "flush",
  weight: 5,
  aim: (world) => ({
    target: TARGET,
    editors: everybody(world),
    lastsMs: 0,
    strike: async () => void (await world.hand.flushall()),
    heal: async () => undefined,
  }),
};

function restored(name: string, ageMs: number, weight: number): Fault {
  return {
    kind: `Redis restored, ${name} old`,
    group: "flush",
    weight,
    aim(world) {
      if (world.copies.ages().length === 0) return undefined;
      return {
        target: TARGET,
        editors: everybody(world),
        lastsMs: 0,
        async strike() {
          const { ageMs: really } = await world.copies.restore(ageMs);
          return `from a copy ${(really / 1000).toFixed(1)} s old`;
        },
        heal: async () => undefined,
      };
    },
  };
}

export const storeFaults: readonly Fault[] = [
  died,
  hung,
  flushed,
  restored("1 s", 1_000, 5),
  restored("60 s", 60_000, 3),
  // Or the oldest that the run has.
  restored("1 h", 3_600_000, 2),
];
