/** When an outcome answers again, and when a call is a new wish. */
import { until } from "../../harness/processes.js";
import { loseAnswer, REPLAY_WINDOW } from "../../never-twice/lost-answers.js";
import { schedule } from "../schedule.js";
import { counted } from "../verdict.js";
import { executionsOf, nothingOpen } from "./calls.js";

const ITEM = "Simulator/Block For 0.21 Seconds";

const lidClosed = schedule(
  "an answer that nobody received, the lid closed for longer than the replay window, the retry",
  async ({ world, http }) => {
    const { executions } = await loseAnswer(world, await http(), "hung up", ITEM);
    return counted(executions, 1);
  },
  { env: REPLAY_WINDOW },
);

const cancelledUnsent = schedule(
  "cancelled before it was sent, then wished again",
  async ({ world, http }) => {
    const client = await http();
    await world.editor.do({ do: "stallMainThread", ms: 2500 });
    await client.call("execute-menu-item", { MenuItemPath: "Assets/Refresh", timeout: 0 });
    const args = { MenuItemPath: ITEM, timeout: 0 };
    const { log_id } = await client.call("execute-menu-item", args);
    const { state } = await client.call("cancel_operation", { log_id });
    if (state !== "cancelled") throw new Error(`not cancelled: ${state}`);
    await client.call("execute-menu-item", { ...args, timeout: 20 });
    await nothingOpen(world);
    return executionsOf(world, ITEM, 1);
  },
);

const keyed = schedule("the same idempotency key after the outcome was read", async ({ world, http }) => {
  const client = await http();
  const args = { MenuItemPath: ITEM, timeout: 20, idempotency_key: "build 7" };
  const { log_id } = await client.call("execute-menu-item", args);
  await client.call("get_operation_result", { log_id });
  await client.call("execute-menu-item", args);
  return executionsOf(world, ITEM, 1);
});

const givenUp = schedule(
  "given up over stdio while it runs, and sent again after it ended",
  async (stage) => {
    const client = await stage.newStdio();
    const wish = stage.wish(0.4);
    const first = wish.ask(client, 20);
    await wish.begun();
    await client.giveUp(first.id);
    const [execution] = await stage.world.editor.executions(wish.item);
    const has = async (what: string): Promise<boolean> => {
      const doc = await stage.world.hand.hget(`{ujb}:operation:${execution?.operationId}`, "doc");
      return doc?.includes(what) === true;
    };
    await until("it has ended", () => has('"state":"completed"'));
    await until("it is told", () => has('"firstDeliveredAt"'), 500).catch(() => undefined);
    await wish.untilTold(client);
    return undefined;
  },
);

export const REPLAYS = [lidClosed, cancelledUnsent, keyed, givenUp];
