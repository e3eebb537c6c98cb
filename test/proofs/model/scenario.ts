/** The parts of a scenario, and the steps of its prelude. */
import { type Bounds, bounds } from "./bounds.js";
import type { Facts } from "./state/facts.js";
import type { SwitchName } from "./switches.js";

export interface Scenario {
  name: string;
  facts: Facts;
  /** What may happen, the prelude included. */
  bounds: Bounds;
  workers: number;
  editors: number;
  /** The steps that are taken first, by how they begin; everything that may follow is explored. */
  prelude: readonly string[];
  /** The rules whose absence must show here. */
  aimedAt: readonly SwitchName[];
  /** What more may happen in the long form. */
  long?: { bounds?: Partial<Bounds>; prelude?: readonly string[] };
}

const FACTS: Facts = {
  tool: "build",
  way: "direct",
  hasSessions: true,
  rollback: "old copy",
  acknowledges: false,
  heartbeats: false,
  isPool: false,
  isStrict: false,
};

interface CallAnswer extends Partial<Omit<Scenario, "name" | "bounds" | "facts">> {
  bounds: Partial<Bounds>;
  facts?: Partial<Facts>;
}

export const scenario = (name: string, reported: CallAnswer): Scenario => ({
  name,
  workers: 1,
  editors: 1,
  prelude: [],
  aimedAt: [],
  ...reported,
  bounds: bounds(reported.bounds),
  facts: { ...FACTS, ...reported.facts },
});

/** Request #n makes operation m, for the first time or as the caller then says. */
export const made = (request: number, op: number, says = "the caller sends"): string[] => [
  says,
  `#${request} arrives`,
  `the gateway writes op${op}`,
];
export const sent = (op: number): string[] => [
  `worker 1 takes the job of op${op}`,
  `worker 1 claims op${op}`,
  `worker 1 submits op${op}`,
];
export const begun = (op: number): string[] => [
  ...sent(op),
  `Editor 1 reads worker 1's submit of op${op}`,
  `worker 1 follows op${op}`,
  `Editor 1 begins op${op}`,
];
export const ended = (op: number): string[] => [
  `Editor 1 completes op${op}`,
  `worker 1 hears the end of op${op}`,
];
export const answered = (request: number, op: number): string[] => [
  `the gateway answers #${request}: op${op}`,
  `the gateway notes that #${request}`,
];
export const reported = (request: number, op: number): string[] => [
  `the gateway answers #${request}: op${op}`,
];
export const named = (request: number, op: number): string[] => [
  `the caller sends #${request}, which names op${op}`,
  `#${request} arrives`,
];
export const ran = [...made(1, 1), ...begun(1), ...ended(1)];
export const read = [...ran, ...answered(1, 1)];
