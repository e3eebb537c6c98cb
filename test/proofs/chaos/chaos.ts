/** A whole run: rounds of chaos, and what is left of the system afterwards. */
import type { Engine } from "../../harness/editor/editor-control.js";
import { leakedKeys } from "../engine/judge/leftovers.js";
import { createRandom } from "../engine/random.js";
import type { Group } from "./faults/fault.js";
import { FAULTS } from "./faults/faults.js";
import { grown, type Level, lastLevelOf, levelOf, levelText } from "./judge/level.js";
import { story, table } from "./judge/report.js";
import { type ChaosViolation, executionsOf, verdictOn } from "./judge/verdict.js";
import { playRound } from "./round.js";
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
  /** The story of each violation. */
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
  const { intents } = world.account;
  const stories: string[] = [];
  const tell = async (found: readonly ChaosViolation[]): Promise<void> => {
    for (const violation of found) {
      const { what, intent } = violation;
      const reported =
        stories.length < MOST_STORIES ? await story(world, violation) : `intent ${intent?.number}: ${what}`;
      stories.push(reported);
      say(`\n${reported}\n`);
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
      const before = intents.length;
      const found = await playRound(world, {
        ...{ seed: seed * 100 + round, faults, callers: options.callers, faultEveryMs: options.faultEveryMs },
        operations: Math.ceil((options.operations - before) / (rounds - round + 1)),
        seconds: options.seconds / rounds,
      });
      await tell(found);
      const level = await levelOf(world);
      levels.push(level);
      say(
        `round ${round} of ${rounds} (${loses}): ${intents.length - before} operations, ` +
          `${world.events.all().length} faults so far, ${found.length} violations, ${levelText(level)}`,
      );
      if (found.some(({ intent }) => intent === undefined)) break;
      loses = loses === "ledger" ? "flush" : "ledger";
      // What a round lost, the next must not remember the other half of.
      world.copies.forget();
      for (const editor of world.editors) editor.forgetLedgerCopies();
    }
    const executions = executionsOf(world);
    if (levels[0]) levels.push(await lastLevelOf(world, levels[0]));
    await tell([
      ...verdictOn(world, executions),
      ...(await leakedKeys(world.hand)).map((key) => ({ what: `leaked key ${key}`, intent: undefined })),
      ...grown(levels),
    ]);
    for (const left of await world.close()) {
      stories.push(left);
      say(left);
    }
    return { stories, table: table(world, executions.length, stories.length), logs: world.processes.logs() };
  } catch (error) {
    console.error(world.processes.logs());
    await world.close().catch(() => undefined);
    throw error;
  }
}
