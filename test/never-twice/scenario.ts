/** Plays scenarios: one story, one seed, one account. */
import type { World } from "../harness/process-world.js";
import { createStage, type Stage, type Tally } from "./stage.js";

export interface Scenario {
  readonly name: string;
  /** What happens to the call, in one sentence. */
  readonly story: string;
  /** The wishes of the story; the stage keeps the account. */
  play(stage: Stage): Promise<void>;
}

/** Far longer than any story takes. */
const LIMIT_MS = 100_000;

/** Throws when something ran twice, when callers were told different things, or when something was left open. */
export async function playScenario(scenario: Scenario, seed: number, world: World): Promise<Tally> {
  const stage = createStage(world, seed);
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not over after ${LIMIT_MS / 1000} s`)), LIMIT_MS);
  });
  const play = async (): Promise<Tally> => {
    await scenario.play(stage);
    await stage.verify();
    return stage.tally;
  };
  try {
    return await Promise.race([play(), limit]);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`${scenario.name}, SEED=${seed}: ${message}\n${world.processes.logs()}`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
    await stage.close();
  }
}

/** A pause that the seed drew: the timing is the scenario, no condition is waited for. */
export function drawnPause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
