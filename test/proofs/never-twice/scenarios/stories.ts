/** The schedules that ran something twice in earlier drafts, and the second run that is meant. Nothing is drawn. */

import type { TestClient } from "../../../harness/processes/process-clients.js";
import { isFinal, isOutcome } from "../../engine/outcomes.js";
import type { Intent, Stage } from "../stage.js";
import type { Scenario } from "./scenario.js";
import { delivered, overCable } from "./scenarios-clients.js";

/** Reads the outcome by its log_id: this confirms it for this caller. */
async function readByName(client: TestClient, intent: Intent): Promise<void> {
  const reported = intent.note(await client.call("get_operation_result", { log_id: intent.logId }));
  if (!isOutcome(reported)) throw new Error(`not ended: ${JSON.stringify(reported)}`);
}

/** #1 is answered into a connection that nobody reads; `between` is what the client says before it sends #2. */
async function answeredIntoNothing(
  stage: Stage,
  between: (client: TestClient) => Promise<unknown>,
): Promise<void> {
  const intent = stage.intent(0.3);
  await overCable(stage, async (client, cable, move) => {
    const first = intent.ask(client, 20);
    await intent.begun();
    const [execution] = await stage.world.editor.executions(intent.label);
    cable.hold();
    await delivered(stage, execution?.operationId ?? "");
    move();
    await between(client);
    await intent.untilTold(client);
    await between(client);
    await intent.untilTold(client);
    first.hangUp();
  });
}

const scheduleA: Scenario = {
  name: "schedule A: the answer to #1 goes to nobody, #2 is not taken for a deliberate run",
  story: "read",
  play: (stage) => answeredIntoNothing(stage, async () => undefined),
};

const scheduleAWithPing: Scenario = {
  name: "schedule A with any other message in between",
  story: "read",
  play: (stage) =>
    answeredIntoNothing(stage, async (client) => {
      await client.request("ping");
      await client.call("get-logs", { timeout: 5 });
      await client.request("tools/list");
    }),
};

const timesOutOverStdio: Scenario = {
  name: "over stdio: the client's time is over as the answer is written, and it calls again",
  story: "delivered",
  async play(stage) {
    const intent = stage.intent(0.2);
    const client = await stage.newStdio();
    const first = intent.ask(client, 20);
    await first.answer;
    await client.giveUp(first.id);
    await intent.untilTold(client);
  },
};

const scheduleC: Scenario = {
  name: "schedule C: a force_new that timed out and is sent again as it was",
  story: "named re-run",
  async play(stage) {
    const client = await stage.http();
    const first = stage.intent(0.2);
    await first.untilTold(client);
    const second = first.again();
    const forced = { forceNew: first.logId as string };
    const attempt = await second.call(client, 0, forced);
    if (isFinal(attempt)) throw new Error(`it did not time out: ${JSON.stringify(attempt)}`);
    await second.untilTold(client, forced);
    await second.untilTold(client, forced);
    await second.untilTold(await stage.http(), forced);
  },
};

/** As clients do that cancel what is answered. */
const LATE = "AbortError: This operation was aborted";

const meantBy = (way: string, open: (stage: Stage) => Promise<TestClient>): Scenario => ({
  name: `the second run that is meant, ${way}: the same client calls again, and it runs`,
  story: "read, and nothing is taken back by a cancellation that comes late",
  async play(stage) {
    const client = await open(stage);
    const first = await readAtOnce(stage, client);
    const second = first.again();
    await second.untilTold(client);
    if (second.logId === first.logId) throw new Error("it was replayed");
  },
});

/** A process that stands still for a moment takes no answer for read; it does not do so each time. */
async function readAtOnce(stage: Stage, client: TestClient): Promise<Intent> {
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const intent = stage.intent(0.2);
    const asked = intent.ask(client, 20);
    await asked.answer;
    await client.giveUp(asked.id, LATE);
    // Behind what comes after it, its delivery is noted.
    await client.request("ping");
    const history = await fetch(new URL(`/api/v1/operations/${intent.logId}/history`, stage.world.url()));
    const { calls } = (await history.json()) as { calls: { has_read?: true }[] };
    if (calls.some((call) => call.has_read)) return intent;
  }
  throw new Error("an answer at once is never taken for read");
}

const meantBehindProxy: Scenario = {
  name: "the second run that is meant, behind a proxy: replayed until the client has named the log_id",
  story: "read",
  async play(stage) {
    const client = await stage.http();
    const first = stage.intent(0.2);
    await first.untilTold(client);
    const replayed = await first.call(client, 5);
    if (!replayed.deduplicated || replayed.force_new !== first.logId) {
      throw new Error(`a replay must say so, and how to run it again: ${JSON.stringify(replayed)}`);
    }
    await client.request("tools/list");
    await first.call(client, 5);
    await readByName(client, first);
    const second = first.again();
    await second.untilTold(client);
    if (second.logId === first.logId) throw new Error("it was replayed although it was read by name");
    // Another session has read nothing, and the first one not this run.
    await second.untilTold(await stage.http());
  },
};

const meantByForceNew: Scenario = {
  name: "the second run that is meant, behind a proxy: force_new runs it at once",
  story: "named re-run",
  async play(stage) {
    const client = await stage.http();
    const first = stage.intent(0.2);
    await first.untilTold(client);
    const second = first.again();
    await second.untilTold(client, { forceNew: first.logId as string });
    const third = first.again();
    await third.untilTold(client, { forceNew: second.logId as string });
  },
};

export const STORIES: readonly Scenario[] = [
  scheduleA,
  scheduleAWithPing,
  timesOutOverStdio,
  scheduleC,
  meantBy("over stdio", (stage) => stage.newStdio()),
  meantBy("over HTTP", (stage) => stage.direct()),
  meantBehindProxy,
  meantByForceNew,
];
