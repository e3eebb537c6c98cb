/** One kind of fault: what it would strike, how, and how that is healed. */
import type { Random } from "../never-twice/random.js";
import type { ChaosWorld } from "./world.js";

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

export interface Aim {
  /** Nothing else strikes it meanwhile. */
  readonly target: string;
  /** Names of the Editors that may feel it. */
  readonly editors: readonly string[];
  /** Until it is healed, ms. */
  readonly lastsMs: number;
  /** Does it. Answers what is known only then. */
  strike(): Promise<string | undefined>;
  heal(): Promise<void>;
}

/** All Editors. */
export function everybody(world: ChaosWorld): string[] {
  return world.editors.map(({ name }) => name);
}
