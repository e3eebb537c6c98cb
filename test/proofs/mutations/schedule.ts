/** A story that is aimed at one rule, played against real processes, and the judge of its end. */
import { startWorld, type World, type WorldOptions } from "../../harness/processes/process-world.js";
import { until } from "../../harness/processes/processes.js";
import { inTime } from "../engine/in-time.js";
import type { Scenario } from "../never-twice/scenarios/scenario.js";
import { createStage, NotOneOperation, type Stage, WrongAnswers } from "../never-twice/stage.js";
import { counted, type Verdict } from "./verdict.js";

export interface Schedule {
  readonly name: string;
  play(seed: number): Promise<Verdict>;
}

/** Longer than any of them takes, also on a busy machine. */
const LIMIT_MS = 90_000;
/** A lease that its owner does not lose on a busy machine, where a story is not about losing it. */
const PATIENT = { UNITY_BROKER_LEASE_MS: "2000" };
/** What begins twice begins soon: it is only waited for where a caller noticed before the Editor counted. */
const COUNT_MS = 5_000;

/**
 * A story on a stage of its own. It may return its own oracle's verdict; else the counter is asked whether every intent
 * was executed once.
 */
export function schedule(
  name: string,
  play: (stage: Stage) => Promise<Verdict | undefined>,
  options: Pick<WorldOptions, "env"> = {},
): Schedule {
  return {
    name,
    async play(seed) {
      const world = await startWorld({ env: { ...PATIENT, ...options.env } });
      const stage = createStage(world, seed);
      let verdict: Verdict | undefined;
      try {
        verdict = await judged(stage, () => play(stage));
      } finally {
        await stage.close();
        // What a broken rule left open proves nothing more.
        if (verdict && !verdict.isBroken) await world.close();
        else await world.close().catch(() => undefined);
      }
      return verdict;
    },
  };
}

/** One that is played anyway, here for the counter alone. */
export function ofScenario(scenario: Scenario): Schedule {
  const play = async (stage: Stage): Promise<undefined> => void (await scenario.play(stage));
  return schedule(scenario.name, play, { env: { UNITY_BROKER_LEASE_MS: "1000" } });
}

async function judged(stage: Stage, play: () => Promise<Verdict | undefined>): Promise<Verdict> {
  const { world } = stage;
  const whole = async (): Promise<Verdict | undefined> => {
    const own = await play();
    if (!own) await stage.verify();
    return own;
  };
  try {
    return (await inTime(whole(), LIMIT_MS)) ?? (await countAll(stage, world));
  } catch (error) {
    if (error instanceof WrongAnswers) return { judge: "answers", text: kindOf(error), isBroken: true };
    const verdict = await until(
      "something began too often",
      async () => {
        const now = await countAll(stage, world);
        return now.isTooOften && now;
      },
      COUNT_MS,
    ).catch(() => countAll(stage, world));
    if (verdict.isBroken) return verdict;
    if (error instanceof NotOneOperation && error.logIdCount > 1)
      return { judge: "answers", text: `${error.logIdCount} operations of 1 intent`, isBroken: true };
    const { message } = error as Error;
    throw new Error(`${message}\n${world.processes.logs()}`, { cause: error });
  }
}

/** Of the first wrong answer: delivered again, reported as new, or of the wrong time. */
function kindOf({ whats: [first = ""] }: WrongAnswers): string {
  if (/reported as new/.test(first)) return "an older outcome reported as new";
  return /is its answer again/.test(first) ? "a delivered outcome delivered again" : "a wrong executed_at";
}

/** The first menu item whose executions are not its intents, else all together. */
async function countAll(stage: Stage, world: World): Promise<Verdict & { isTooOften: boolean }> {
  let [begun, meant] = [0, 0];
  for (const { item, intents } of stage.intended()) {
    const { length } = await world.editor.executions(item);
    if (length !== intents) return { ...counted(length, intents), isTooOften: length > intents };
    begun += length;
    meant += intents;
  }
  return { ...counted(begun, meant), isTooOften: false };
}
