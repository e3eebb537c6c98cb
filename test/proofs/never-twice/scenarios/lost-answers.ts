/**
 * Schedule S: an answer that nobody ever received, the lid closed for longer than the replay window, the retry.
 *
 * The window (▲6) begins when an answer was really written to somebody who still waited for it.
 */
import type { Asked, CallAnswer, TestClient } from "../../../harness/processes/process-clients.js";
import type { World } from "../../../harness/processes/process-world.js";
import { until } from "../../../harness/processes/processes.js";
import { isFinal } from "../../engine/outcomes.js";
import { drawnPause } from "../../engine/random.js";

/** For the world's environment: long past when the lid opens. */
export const REPLAY_WINDOW = { UNITY_BROKER_REPLAY_MINUTES: String(0.2 / 60) };
const LID_CLOSED_MS = 1_500;

export interface LostAnswer {
  logId: string;
  retried: CallAnswer;
  executions: number;
}

/** How a client can be gone when the outcome comes. */
const WAYS_TO_GO = {
  "hung up": async (_client: TestClient, asked: Asked) => asked.hangUp(),
  "given up": (client: TestClient, asked: Asked) => client.giveUp(asked.id),
};

export async function loseAnswer(
  world: World,
  client: TestClient,
  way: keyof typeof WAYS_TO_GO,
  item: string,
): Promise<LostAnswer> {
  const args = { MenuItemPath: item, timeout: 20 };
  const asked = client.ask("execute-menu-item", args);
  await until("it begins", async () => (await world.editor.executions(item)).length > 0);
  await WAYS_TO_GO[way](client, asked);
  const logId = await endOfLatest(world);
  await drawnPause(LID_CLOSED_MS);
  const retried = await client.call("execute-menu-item", args);
  return { logId, retried, executions: (await world.editor.executions(item)).length };
}

/** Ends of operations as list_operations tells them: that does not count as telling the outcome. */
export async function endOfLatest(world: World): Promise<string> {
  const watcher = await world.http();
  try {
    return await until("the operation ends", async () => {
      const { operations } = (await watcher.call("list_operations", { limit: 1 })) as unknown as {
        operations: CallAnswer[];
      };
      const [latest] = operations;
      return latest && isFinal(latest) && latest.log_id;
    });
  } finally {
    await watcher.close();
  }
}
