/** Gateways, workers and stdio processes that die, hang, lose their store or have their clock set. */
import { drawnPlace } from "../../engine/drawn-place.js";
import type { Random } from "../../engine/random.js";
import type { ChaosMember } from "../member.js";
import type { ChaosWorld } from "../world.js";
import { everybody, type Fault, fault, type Group, standsStill, type Target } from "./fault.js";

type Role = "gateways" | "workers";

/** A place in the stream of a process's commands to Redis is drawn among so many. */
const MOST_COMMANDS = 40;
const MINUTE = 60_000;

const aMember =
  (role: Role, of = (_member: ChaosMember): boolean => true) =>
  (world: ChaosWorld, random: Random): Target<ChaosMember> | undefined => {
    const struck = world[role].filter(of);
    if (struck.length === 0) return undefined;
    const it = random.pick(struck);
    return { it, target: it.name, editors: role === "workers" ? everybody(world) : [] };
  };

function faultsOf(role: Role): Fault[] {
  const name = role.slice(0, -1);
  const what = (how: string, group: Group, weight: number) => [`${name} ${how}`, group, weight] as const;
  return [
    // Now, or at the drawn command, should that come soon.
    fault(
      what("SIGKILL", "process", 6),
      aMember(role, ({ isLongLived }) => !isLongLived),
      (member, random) => {
        const when = random.pick(["at once", "before", "after"] as const);
        const place = drawnPlace(random, MOST_COMMANDS);
        return {
          lastsMs: random.between(100, 1200),
          async strike() {
            if (when === "at once") return void (await member.kill());
            member.line.cutAt(when, place, () => void member.kill());
            return `${when} a command to Redis`;
          },
          async heal() {
            await member.kill();
            await member.start();
          },
        };
      },
    ),
    fault(what("SIGSTOP", "process", 5), aMember(role), (member, random) =>
      standsStill(random.between(200, 3000), async () => member.process.pid),
    ),
    fault(what("loses Redis", "process", 4), aMember(role), (member, random) => {
      const when = random.pick(["before", "after"] as const);
      const place = drawnPlace(random, MOST_COMMANDS);
      return {
        lastsMs: random.between(200, 2000),
        strike: () => member.line.cutAt(when, place, () => undefined),
        heal: member.line.fix,
      };
    }),
    fault(what("clock jumps", "clock", 2), aMember(role), (member, random) => {
      const minutes = random.between(1, 30) * random.pick([-1, 1]);
      return {
        lastsMs: random.between(500, 4000),
        strike() {
          member.shiftClock(minutes * MINUTE);
          return `${minutes.toFixed(1)} min`;
        },
        heal: () => member.shiftClock(0),
      };
    }),
  ];
}

/** The client starts another. */
const stdioKilled = fault(
  ["stdio process SIGKILL", "process", 3],
  (world, random) => {
    if (world.stdio.size === 0) return undefined;
    const { process: it } = random.pick([...world.stdio]);
    return { it, target: it.name, editors: everybody(world) };
  },
  (it) => ({ lastsMs: 0, strike: async () => void (await it.kill("SIGKILL")) }),
);

export const processFaults: readonly Fault[] = [...faultsOf("gateways"), ...faultsOf("workers"), stdioKilled];
