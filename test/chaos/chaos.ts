/** A whole run: rounds of chaos, and what is left of the system afterwards. */
import type { Engine } from "../harness/editor-control.js";
import { createRandom } from "../never-twice/random.js";
import type { CallTally } from "./caller.js";
import type { Group } from "./fault.js";
import { FAULTS } from "./faults.js";
import { leakedKeys } from "./leftovers.js";
import { grown, type Level, lastLevelOf, levelOf, levelText } from "./level.js";
import { countsOf, story, table } from "./report.js";
import { playRound } from "./round.js";
import {
  executionsOf,
  lost,
  misAnswered,
  misTold,
  overlapping,
  repeated,
  type Violation,
} from "./verdict.js";
import { createWishes } from "./wish.js";
import { startChaosWorld } from "./world.js";

export interface ChaosOptions {
  seed: number;
  operations: number;
  seconds: number;
  engine: Engine;
  /** Kinds of faults that are not drawn. */
  without: readonly Group[];
  /** Default: one for each four minutes, at least two. */
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

const ROUND_SECONDS = 240;
const MOST_STORIES = 10;

export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, say } = options;
  const random = createRandom(seed);
  const world = await startChaosWorld({ engine: options.engine, gateways: 2, workers: 2, editors: 2 });
  const wishes = createWishes();
  const tally: CallTally = { calls: 0, joined: 0, replayed: 0, unanswered: 0 };
  const violations: Violation[] = [];
  const stories: string[] = [];
  const tell = async (found: readonly Violation[]): Promise<void> => {
    violations.push(...found);
    for (const violation of found) {
      const { what, wish } = violation;
      const told =
        stories.length < MOST_STORIES ? await story(world, violation) : `wish ${wish?.number}: ${what}`;
      stories.push(told);
      say(`\n${told}\n`);
    }
  };
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
      await tell(found);
      const level = await levelOf(world);
      levels.push(level);
      say(
        `round ${round} of ${rounds} (${loses}): ${wishes.all.length - before} operations, ` +
          `${world.events.all().length} faults so far, ${found.length} violations, ${levelText(level)}`,
      );
      if (found.some(({ wish }) => wish === undefined)) break;
      loses = loses === "ledger" ? "flush" : "ledger";
      // What a round lost, the next must not remember the other half of.
      world.copies.forget();
      for (const editor of world.editors) editor.forgetLedgerCopies();
    }
    const executions = executionsOf(world);
    if (levels[0]) levels.push(await lastLevelOf(world, levels[0]));
    await tell([
      ...repeated(executions, wishes.all),
      ...overlapping(world, wishes.all),
      ...lost(world, wishes.all),
      ...wishes.all.flatMap((wish) => misTold(world, wish, executions, wishes.all)),
      ...misAnswered(world, wishes.all, executions),
      ...(await leakedKeys(world)).map((key) => ({ what: `leaked key ${key}`, wish: undefined })),
      ...grown(levels),
    ]);
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
