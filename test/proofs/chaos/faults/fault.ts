/** One kind of fault: what it would strike, how, and how that is healed. */
import type { Random } from "../../engine/random.js";
import type { ChaosWorld } from "../world.js";

/** What a run may leave out; `ledger` and `flush` are never drawn in the same round. */
export const GROUPS = ["process", "editor", "wire", "redis", "clock", "disk", "ledger", "flush"] as const;
export type Group = (typeof GROUPS)[number];

export interface Fault {
  readonly kind: string;
  readonly group: Group;
  /** How often beside the others. */
  readonly weight: number;
  /** What it would strike now; undefined: nothing. Draws, and does nothing. */
  aim(world: ChaosWorld, random: Random): Aim | undefined;
}

export interface Blow {
  /** Until it is healed, ms. */
  readonly lastsMs: number;
  /** Does it. Answers what is known only then. */
  strike(): unknown;
  /** Undefined: it heals by itself. */
  heal?(): unknown;
}

export interface Target<T> {
  readonly it: T;
  /** Nothing else strikes it meanwhile. */
  readonly target: string;
  /** Names of the Editors that may feel it. */
  readonly editors: readonly string[];
}

export type Aim = Blow & Omit<Target<unknown>, "it">;

/** `find` draws what there is to strike, `draw` how. */
export function fault<T>(
  [kind, group, weight]: readonly [string, Group, number],
  find: (world: ChaosWorld, random: Random) => Target<T> | undefined,
  draw: (it: T, random: Random) => Blow | undefined,
): Fault {
  return {
    ...{ kind, group, weight },
    aim(world, random) {
      const found = find(world, random);
      const blow = found && draw(found.it, random);
      return blow && { ...blow, target: found.target, editors: found.editors };
    },
  };
}

/** All Editors. */
export function everybody(world: ChaosWorld): string[] {
  return world.editors.map(({ name }) => name);
}

/** Stands still until it is healed. */
export function standsStill(lastsMs: number, pidOf: () => Promise<number | undefined>): Blow {
  let pid: number | undefined;
  return {
    lastsMs,
    async strike() {
      pid = await pidOf();
      if (pid !== undefined) process.kill(pid, "SIGSTOP");
    },
    heal: () => pid !== undefined && process.kill(pid, "SIGCONT"),
  };
}
