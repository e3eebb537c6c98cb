/** The schedules that ran something twice in earlier drafts, A to C, and the second run that is meant. Nothing is drawn. */
import { layCable } from "../harness/cable.js";
import type { TestClient } from "../harness/process-clients.js";
import type { Scenario } from "./scenario.js";
import { delivered } from "./scenarios-clients.js";
import { isTold, type Stage, type Wish } from "./stage.js";

/** Reads the outcome by its log_id: this confirms it for this caller. */
async function readByName(client: TestClient, wish: Wish): Promise<void> {
  const told = wish.note(await client.call("get_operation_result", { log_id: wish.logId }));
  if (!isTold(told)) throw new Error(`not ended: ${JSON.stringify(told)}`);
}

/** #1 is answered into a connection that nobody reads; `between` is what the client says before it sends #2. */
async function answeredIntoNothing(
  stage: Stage,
  between: (client: TestClient) => Promise<unknown>,
): Promise<void> {
  const { world } = stage;
  const wish = stage.wish(0.3);
  const cable = await layCable(() => ({ host: "127.0.0.1", port: Number(new URL(world.url()).port) }));
  try {
    let url = `http://127.0.0.1:${cable.port}/mcp`;
    const client = await stage.http(() => url);
    const first = wish.ask(client, 20);
    await wish.begun();
    const [execution] = await world.editor.executions(wish.item);
    cable.hold();
    await delivered(stage, execution?.operationId ?? "");
    url = world.url();
    await between(client);
    await wish.untilTold(client);
    await between(client);
    await wish.untilTold(client);
    first.hangUp();
  } finally {
    await cable.close();
  }
}

const scheduleA: Scenario = {
  name: "schedule A: the answer to #1 goes to nobody, #2 is not taken for a deliberate run",
  story: "▲7",
  play: (stage) => answeredIntoNothing(stage, async () => undefined),
};

const scheduleAWithPing: Scenario = {
  name: "schedule A with any other message in between",
  story: "▲7",
  play: (stage) =>
    answeredIntoNothing(stage, async (client) => {
      await client.request("ping");
      await client.call("get-logs", { timeout: 5 });
      await client.request("tools/list");
    }),
};

const scheduleAOverStdio: Scenario = {
  name: "schedule A over stdio: answer, other message, cancel, re-issue",
  story: "▲7",
  async play(stage) {
    const wish = stage.wish(0.2);
    const client = await stage.newStdio();
    const first = wish.ask(client, 20);
    await first.answer;
    await client.request("ping");
    await client.giveUp(first.id);
    await wish.untilTold(client);
  },
};

const scheduleB: Scenario = {
  name: "schedule B: a late copy of an older request is no deliberate run",
  story: "▲7: newer requests only",
  async play(stage) {
    // A pipe keeps the order of what is written to it: there nothing comes late.
    const client = await stage.http();
    const wish = stage.wish(0.2);
    const delayed = client.nextId();
    await wish.untilTold(client);
    await readByName(client, wish);
    await wish.call(client, 5, { id: delayed });
    await wish.call(client, 5, { id: delayed });
    // What is newer and confirmed is meant.
    const second = wish.again();
    await second.untilTold(client);
    if (second.logId === wish.logId) throw new Error("the deliberate run was replayed");
  },
};

const scheduleC: Scenario = {
  name: "schedule C: a force_new that timed out and is sent again as it was",
  story: "▲8",
  async play(stage) {
    const client = await stage.http();
    const first = stage.wish(0.2);
    await first.untilTold(client);
    const second = first.again();
    const forced = { forceNew: first.logId as string };
    const attempt = await second.call(client, 0, forced);
    if (isTold(attempt)) throw new Error(`it did not time out: ${JSON.stringify(attempt)}`);
    await second.untilTold(client, forced);
    await second.untilTold(client, forced);
    await second.untilTold(await stage.http(), forced);
  },
};

const meantOverStdio: Scenario = {
  name: "the second run that is meant, over stdio: the same client calls again, and it runs",
  story: "▲7",
  async play(stage) {
    const client = await stage.newStdio();
    const first = stage.wish(0.2);
    await first.untilTold(client);
    const second = first.again();
    await second.untilTold(client);
    if (second.logId === first.logId) throw new Error("it was replayed");
  },
};

const meantOverHttp: Scenario = {
  name: "the second run that is meant, over HTTP: replayed until the client has named the log_id",
  story: "▲7",
  async play(stage) {
    const client = await stage.http();
    const first = stage.wish(0.2);
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
    // Another session has read nothing.
    await second.untilTold(await stage.http());
  },
};

const meantByForceNew: Scenario = {
  name: "the second run that is meant, over HTTP: force_new runs it at once",
  story: "▲8",
  async play(stage) {
    const client = await stage.http();
    const first = stage.wish(0.2);
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
  scheduleAOverStdio,
  scheduleB,
  scheduleC,
  meantOverStdio,
  meantOverHttp,
  meantByForceNew,
];
