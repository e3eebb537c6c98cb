/** Plays scenarios: one story, one seed, one account. */
import type { World } from "../../../harness/processes/process-world.js";
import { inTime } from "../../engine/in-time.js";
import { type Counts, createStage, type Stage } from "../stage.js";

export interface Scenario {
  readonly name: string;
  /** What happens to the call, in one sentence. */
  readonly story: string;
  /** Where its long form may take longer than other stories, ms. */
  readonly longLimitMs?: number;
  /** The intents of the story; the stage keeps the account. */
  play(stage: Stage): Promise<void>;
}

/** Far longer than any story takes. */
const LIMIT_MS = 110_000;

/** Throws if something ran twice, if callers got different outcomes, or if something was left open. */
export async function playScenario(
  scenario: Scenario,
  seed: number,
  world: World,
  { isLong = false } = {},
): Promise<Counts> {
  const stage = createStage(world, seed, { isLong });
  try {
    await inTime(
      scenario.play(stage).then(() => stage.verify()),
      (isLong && scenario.longLimitMs) || LIMIT_MS,
    );
    return stage.counts;
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`${scenario.name}, SEED=${seed}: ${message}\n${world.processes.logs()}`, {
      cause: error,
    });
  } finally {
    await stage.close();
  }
}
