/** A whole run: rounds of chaos, and what is left of the system afterwards. */
import type { Engine } from "../harness/editor-control.js";
import { createRandom } from "../never-twice/random.js";
import type { CallTally } from "./caller.js";
import type { Group } from "./fault.js";
import { FAULTS } from "./faults.js";
import { leakedKeys } from "./leftovers.js";
import { countsOf, story, table } from "./report.js";
import { playRound } from "./round.js";
import { executionsOf, lost, misTold, overlapping, repeated, type Violation } from "./verdict.js";
import { createWishes } from "./wish.js";
import { type ChaosWorld, startChaosWorld } from "./world.js";

export interface ChaosOptions {
  seed: number;
  operations: number;
  seconds: number;
  engine: Engine;
  /** Kinds of faults that are not drawn. */
  without: readonly Group[];
  /** Default: one for each two minutes, at least two. */
  rounds?: number;
  callers: number;
  faultEveryMs: number;
  say(line: string): void;
}

export interface ChaosReport {
  violations: Violation[];
  /** With their stories. */
  stories: string[];
  table: string;
  /** The end of what each process said. */
  logs: string;
}

const ROUND_SECONDS = 120;

export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, say } = options;
  const random = createRandom(seed);
  const world = await startChaosWorld({ engine: options.engine, gateways: 2, workers: 2, editors: 2 });
  const wishes = createWishes();
  const tally: CallTally = { calls: 0, joined: 0, replayed: 0, unanswered: 0 };
  const violations: Violation[] = [];
  const rounds = options.rounds ?? Math.max(2, Math.ceil(options.seconds / ROUND_SECONDS));
  const levels: Level[] = [];
  let loses: "ledger" | "flush" = random.pick(["ledger", "flush"]);

  try {
    for (let round = 1; round <= rounds; round += 1) {
      const faults = FAULTS.filter(
        ({ group }) =>
          !options.without.includes(group) && (group === loses || (group !== "ledger" && group !== "flush")),
      );
      const before = wishes.all.length;
      const found = await playRound(world, wishes, tally, {
        ...{ seed: seed * 100 + round, faults, callers: options.callers, faultEveryMs: options.faultEveryMs },
        operations: Math.ceil((options.operations - before) / (rounds - round + 1)),
        seconds: options.seconds / rounds,
      });
      violations.push(...found);
      levels.push(await levelOf(world));
      say(
        `round ${round} of ${rounds} (${loses}): ${wishes.all.length - before} operations, ` +
          `${world.events.all().length} faults so far, ${found.length} violations, ${levelText(levels.at(-1))}`,
      );
      if (found.some(({ wish }) => wish === undefined)) break;
      loses = loses === "ledger" ? "flush" : "ledger";
      // What a round lost, the next must not remember the other half of.
      world.copies.forget();
      for (const editor of world.editors) editor.forgetLedgerCopies();
    }
    const executions = executionsOf(world);
    violations.push(
      ...repeated(executions, wishes.all),
      ...overlapping(world),
      ...lost(world, wishes.all),
      ...wishes.all.flatMap((wish) => misTold(world, wish, executions)),
      ...(await leakedKeys(world)).map((key) => ({ what: `leaked key ${key}`, wish: undefined })),
      ...grown(levels),
    );
    const stories: string[] = [];
    for (const violation of violations.slice(0, MOST_STORIES)) stories.push(await story(world, violation));
    const counts = countsOf(world, wishes.all, executions, tally);
    const left = (await world.close()).map((what): Violation => ({ what, wish: undefined }));
    stories.push(...left.map(({ what }) => what));
    violations.push(...left);
    return { violations, stories, table: table(counts, violations), logs: world.processes.logs() };
  } catch (error) {
    console.error(world.processes.logs());
    await world.close();
    throw error;
  }
}

const MOST_STORIES = 10;

/** What the processes that live through a whole run hold between two rounds, when nobody wants anything. */
interface Level {
  memory: Map<string, number>;
  sockets: Map<string, number>;
}

async function levelOf(world: ChaosWorld): Promise<Level> {
  const living = [...world.gateways, ...world.workers].filter(({ isLongLived }) => isLongLived);
  const memory = new Map<string, number>();
  const sockets = new Map<string, number>();
  for (const member of living) {
    memory.set(member.name, await member.memory());
    sockets.set(member.name, member.sockets() ?? 0);
  }
  return { memory, sockets };
}

const MB = 1024 * 1024;

function levelText(level: Level | undefined): string {
  return [...(level?.memory ?? [])]
    .map(([name, bytes]) => `${name} ${(bytes / MB).toFixed(1)} MB ${level?.sockets.get(name)} sockets`)
    .join(", ");
}

/** What code and caches of a process may take on after its first round; a leak grows with every operation. */
const MAY_GROW_BYTES = 24 * MB;
const MAY_GROW_SOCKETS = 8;

function grown(levels: readonly Level[]): Violation[] {
  const first = levels[0];
  const last = levels.at(-1);
  if (!first || !last) return [];
  return [...first.memory.keys()].flatMap((name) => {
    const bytes = (last.memory.get(name) ?? 0) - (first.memory.get(name) ?? 0);
    const sockets = (last.sockets.get(name) ?? 0) - (first.sockets.get(name) ?? 0);
    const found: Violation[] = [];
    if (bytes > MAY_GROW_BYTES)
      found.push({ what: `the memory of ${name} grew by ${Math.round(bytes / MB)} MB`, wish: undefined });
    if (sockets > MAY_GROW_SOCKETS)
      found.push({ what: `${name} has ${sockets} sockets more than after the first round`, wish: undefined });
    return found;
  });
}
