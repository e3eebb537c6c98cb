/** Gateways, workers and stdio processes that die, hang, lose their store or have their clock set. */
import { isApply, type RedisCommand } from "../harness/process-redis.js";
import type { Random } from "../never-twice/random.js";
import { everybody, type Fault } from "./fault.js";
import type { ChaosMember } from "./member.js";
import type { ChaosWorld } from "./world.js";

type Role = "gateways" | "workers";

/** A place in the stream of a process's commands to Redis: the n-th of all, or the n-th that writes an operation. */
function drawnPlace(random: Random): (command: RedisCommand) => boolean {
  const isWrite = random.chance(0.5);
  let left = random.whole(1, isWrite ? 3 : 40);
  return (command) => {
    if (isWrite && !isApply(command)) return false;
    left -= 1;
    return left === 0;
  };
}

const touched = (world: ChaosWorld, role: Role): string[] => (role === "workers" ? everybody(world) : []);

/** Now, or at the drawn command, should that come soon. */
function killed(role: Role): Fault {
  return {
    kind: `${role.slice(0, -1)} SIGKILL`,
    group: "process",
    weight: 6,
    aim(world, random) {
      const mortal = world[role].filter(({ isLongLived }) => !isLongLived);
      if (mortal.length === 0) return undefined;
      const member = random.pick(mortal);
      const when = random.pick(["at once", "before", "after"] as const);
      const place = drawnPlace(random);
      return {
        target: member.name,
        editors: touched(world, role),
        lastsMs: random.between(100, 1200),
        async strike() {
          if (when === "at once") await member.kill();
          else member.line.cutAt(when, place, () => void member.kill());
          return when === "at once" ? undefined : `${when} a command to Redis`;
        },
        async heal() {
          await member.kill();
          await member.start();
        },
      };
    },
  };
}

function hung(role: Role): Fault {
  return {
    kind: `${role.slice(0, -1)} SIGSTOP`,
    group: "process",
    weight: 5,
    aim(world, random) {
      const member = random.pick(world[role]);
      return {
        target: member.name,
        editors: touched(world, role),
        lastsMs: random.between(200, 3000),
        strike: async () => void member.process.signal("SIGSTOP"),
        heal: async () => member.process.signal("SIGCONT"),
      };
    },
  };
}

function cutFromStore(role: Role): Fault {
  return {
    kind: `${role.slice(0, -1)} loses Redis`,
    group: "process",
    weight: 4,
    aim(world, random) {
      const member: ChaosMember = random.pick(world[role]);
      const when = random.pick(["before", "after"] as const);
      const place = drawnPlace(random);
      return {
        target: member.name,
        editors: touched(world, role),
        lastsMs: random.between(200, 2000),
        strike: async () => void member.line.cutAt(when, place, () => undefined),
        heal: async () => member.line.mend(),
      };
    },
  };
}

const MINUTE = 60_000;

function clockSet(role: Role): Fault {
  return {
    kind: `${role.slice(0, -1)} clock jumps`,
    group: "clock",
    weight: 2,
    aim(world, random) {
      const member = random.pick(world[role]);
      const minutes = random.between(1, 30) * random.pick([-1, 1]);
      return {
        target: member.name,
        editors: touched(world, role),
        lastsMs: random.between(500, 4000),
        async strike() {
          member.shiftClock(minutes * MINUTE);
          return `${minutes.toFixed(1)} min`;
        },
        heal: async () => member.shiftClock(0),
      };
    },
  };
}

const stdioKilled: Fault = {
  kind: "stdio process SIGKILL",
  group: "process",
  weight: 3,
  aim(world, random) {
    const living = [...world.stdio];
    if (living.length === 0) return undefined;
    const { process } = random.pick(living);
    return {
      target: process.name,
      editors: everybody(world),
      lastsMs: 0,
      strike: async () => void (await process.kill("SIGKILL")),
      // The client starts another.
      heal: async () => undefined,
    };
  },
};

export const processFaults: readonly Fault[] = [
  ...(["gateways", "workers"] as const).flatMap((role) => [
    killed(role),
    hung(role),
    cutFromStore(role),
    clockSet(role),
  ]),
  stdioKilled,
];
