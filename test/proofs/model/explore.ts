/** Visits every state that a scenario can reach, breadth first: the first violation that is found has the shortest story. */

import { faultAtRest, faultOf } from "./properties.js";
import type { Scenario } from "./scenario.js";
import { createEncoding } from "./state/encode.js";
import { startOf } from "./state/start.js";
import type { State } from "./state/state.js";
import { type Step, stepsOf } from "./steps.js";
import type { Rules } from "./switches.js";

export interface Violation {
  fault: string;
  /** One line a step. */
  story: string[];
}

export interface Exploration {
  states: number;
  isComplete: boolean;
  transitions: number;
  /** Of this process: other programs on the machine do not change it. */
  cpuMs: number;
  violation: Violation | undefined;
}

/** Numbers, in blocks: an ordinary array of millions would be moved again and again. */
function createNumbers() {
  let numbers = new Int32Array(1 << 16);
  let length = 0;
  return {
    push(number: number): void {
      if (length === numbers.length) {
        const more = new Int32Array(length * 2);
        more.set(numbers);
        numbers = more;
      }
      numbers[length++] = number;
    },
    at: (index: number): number => numbers[index] ?? 0,
    length: (): number => length,
  };
}

export function explore(scenario: Scenario, rules: Rules, most = Number.POSITIVE_INFINITY): Exploration {
  const begunAt = process.cpuUsage();
  const { facts } = scenario;
  const { keyOf, shared } = createEncoding();
  const start = startOf(scenario, rules);
  const numbers = new Map([[keyOf(start), 0]]);
  const parents = createNumbers();
  const turns = createNumbers();
  /** Pairs of states: what goes on by itself. */
  const edges = createNumbers();
  const atRest: number[] = [];
  parents.push(-1);
  turns.push(0);
  let transitions = 0;
  let violation: Violation | undefined;

  const storyOf = (state: number, last?: number): string[] => {
    const path: number[] = last === undefined ? [] : [last];
    for (let at = state; at > 0; at = parents.at(at)) path.unshift(turns.at(at));
    let now = start;
    const steps = path.map((turn) => {
      const step = stepsOf(now, facts, rules)[turn] as Step;
      now = step.to;
      return step.says;
    });
    return [...scenario.prelude.map((says) => `${says} …`), ...steps];
  };

  let level: State[] = [start];
  let first = 0;
  while (level.length > 0 && !violation && numbers.size < most) {
    const next: State[] = [];
    for (let at = 0; at < level.length && !violation; at += 1) {
      const state = level[at] as State;
      const number = first + at;
      const steps = stepsOf(state, facts, rules);
      let goesOn = false;
      for (let turn = 0; turn < steps.length; turn += 1) {
        const { kind, to } = steps[turn] as Step;
        const key = keyOf(to);
        let known = numbers.get(key);
        if (known === number) continue;
        transitions += 1;
        const fault = faultOf(state, to, facts);
        if (fault !== undefined) {
          violation = { fault, story: storyOf(number, turn) };
          break;
        }
        if (known === undefined) {
          known = numbers.size;
          numbers.set(key, known);
          parents.push(number);
          turns.push(turn);
          next.push(shared(to));
        }
        if (kind !== "part") continue;
        goesOn = true;
        edges.push(number);
        edges.push(known);
      }
      if (goesOn || violation) continue;
      atRest.push(number);
      const fault = faultAtRest(state);
      if (fault !== undefined) violation = { fault, story: storyOf(number) };
    }
    first += level.length;
    level = next;
  }
  if (!violation && level.length === 0) {
    const restless = findRestless(numbers.size, edges, atRest);
    if (restless !== undefined) violation = { fault: "it never comes to rest", story: storyOf(restless) };
  }
  return {
    states: numbers.size,
    transitions,
    isComplete: level.length === 0,
    cpuMs: cpuSince(begunAt),
    violation,
  };
}

function cpuSince(begunAt: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begunAt);
  return (user + system) / 1000;
}

/** The first state from which the parts, left alone, cannot come to rest. */
function findRestless(
  states: number,
  edges: ReturnType<typeof createNumbers>,
  atRest: readonly number[],
): number | undefined {
  const count = new Int32Array(states + 1);
  for (let at = 1; at < edges.length(); at += 2) count[edges.at(at) + 1] = (count[edges.at(at) + 1] ?? 0) + 1;
  for (let at = 0; at < states; at += 1) count[at + 1] = (count[at + 1] ?? 0) + (count[at] ?? 0);
  const fill = count.slice();
  const sources = new Int32Array(edges.length() / 2);
  for (let at = 0; at < edges.length(); at += 2) {
    const to = edges.at(at + 1);
    sources[fill[to] ?? 0] = edges.at(at);
    fill[to] = (fill[to] ?? 0) + 1;
  }
  const reaches = new Uint8Array(states);
  const pending = [...atRest];
  for (const state of pending) reaches[state] = 1;
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (let edge = count[at] ?? 0; edge < (count[at + 1] ?? 0); edge += 1) {
      const from = sources[edge] ?? 0;
      if (reaches[from]) continue;
      reaches[from] = 1;
      pending.push(from);
    }
  }
  const restless = reaches.indexOf(0);
  return restless < 0 ? undefined : restless;
}
