/** When an outcome answers again, and when a call is a new intent. */
import { until } from "../../../harness/processes/processes.js";
import { drawnPause } from "../../engine/random.js";
import { loseAnswer, REPLAY_WINDOW } from "../../never-twice/scenarios/lost-answers.js";
import { schedule } from "../schedule.js";
import { counted } from "../verdict.js";
import { executionsOf } from "./calls.js";

const ITEM = "Simulator/Block For 0.21 Seconds";

const lidClosed = schedule(
  "an answer that nobody received, the lid closed for longer than the replay window, the retry",
  async ({ world, http }) => {
    const { executions } = await loseAnswer(world, await http(), "hung up", ITEM);
    return counted(executions, 1);
  },
  { env: REPLAY_WINDOW },
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
    const intent = stage.intent(0.4);
    const first = intent.ask(client, 20);
    await intent.begun();
    await client.giveUp(first.id);
    const [execution] = await stage.world.editor.executions(intent.label);
    const has = async (what: string): Promise<boolean> => {
      const doc = await stage.world.hand.hget(`{ujb}:operation:${execution?.operationId}`, "doc");
      return doc?.includes(what) === true;
    };
    await until("it has ended", () => has('"state":"completed"'));
    await until("it is delivered", () => has('"firstDeliveredAt"'), 500).catch(() => undefined);
    await intent.untilTold(client);
    return undefined;
  },
);

/** Schedule W20. */
const diesAtTheNote = schedule(
  "the gateway dies while it records the delivery of the tests' report; the call again",
  async (stage) => {
    const { gateway } = stage.world;
    const { ended } = gateway.process;
    // For as long as they took, their outcome answers where nobody got it: a gateway is there again by then.
    const tests = { SimulatedTests: 1, SimulatedSeconds: 15, timeout: 40 };
    const client = await stage.http();
    const isNote = (command: readonly string[]): boolean =>
      command.some((text) => text.includes('"firstDeliveredAt"'));
    gateway.line.cutAt("before", isNote, () => void gateway.kill());
    await Promise.allSettled([client.call("run-tests", tests), ended]);
    await gateway.start();
    await (await stage.http()).call("run-tests", tests);
    return undefined;
  },
);

/** Longer than any client is known to wait in silence. */
const STALL_MS = 11_000;

/** Schedule W18. */
const readLate = schedule(
  "a stdio process stands still and reads a request late; its client has given up, and calls again",
  async (stage) => {
    const client = await stage.newStdio();
    const intent = stage.intent(0.2);
    client.process.signal("SIGSTOP");
    const { answer } = intent.ask(client, 20);
    await drawnPause(STALL_MS);
    client.process.signal("SIGCONT");
    await answer;
    await intent.untilTold(client);
    return undefined;
  },
);

export const REPLAYS = [lidClosed, keyed, givenUp, diesAtTheNote, readLate];
