/** What the processes that live through a whole run hold between two rounds, when nobody wants anything. */
import { until } from "../../../harness/processes/processes.js";
import type { ChaosWorld } from "../world.js";
import type { ChaosViolation } from "./verdict.js";

/** By process. */
export type Level = ReadonlyMap<string, { memory: number; sockets: number }>;

const MB = 1024 * 1024;
/** What code and caches of a process may take on after its first round; a leak grows with every operation. */
const MAY_GROW = 24 * MB;
/** Sessions that callers left behind are let go after five seconds; the gateway looks every five. */
const CALM_MS = 20_000;
/** BullMQ opens some connections for each lane of each Editor that a worker owns. */
const MOST_SOCKETS = 48;

export async function levelOf(world: ChaosWorld): Promise<Level> {
  const levels = new Map<string, { memory: number; sockets: number }>();
  for (const member of [...world.gateways, ...world.workers].filter(({ isLongLived }) => isLongLived))
    levels.set(member.name, { memory: await member.memory(), sockets: member.sockets() ?? 0 });
  return levels;
}

/** Back at the level of the first round, or not within the time that sessions and caches have for it. */
export async function lastLevelOf(world: ChaosWorld, first: Level): Promise<Level> {
  let last = await levelOf(world);
  const isBack = async (): Promise<boolean> => {
    last = await levelOf(world);
    return grown([first, last]).length === 0;
  };
  await until("memory is back at its level", isBack, CALM_MS).catch(() => undefined);
  return last;
}

export function levelText(level: Level): string {
  return [...level]
    .map(([name, { memory, sockets }]) => `${name} ${(memory / MB).toFixed(1)} MB, ${sockets} sockets`)
    .join("; ");
}

export function grown(levels: readonly Level[]): ChaosViolation[] {
  const last = levels.at(-1);
  return [...(levels[0] ?? [])].flatMap(([name, before]) => {
    const after = last?.get(name) ?? before;
    const grew = after.memory - before.memory;
    const found: ChaosViolation[] = [];
    if (grew > MAY_GROW)
      found.push({ what: `the memory of ${name} grew by ${Math.round(grew / MB)} MB`, intent: undefined });
    if (after.sockets > MOST_SOCKETS)
      found.push({ what: `${name} has ${after.sockets} sockets open`, intent: undefined });
    return found;
  });
}
