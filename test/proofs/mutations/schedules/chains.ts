/** The store forgets; the Editor's journal does not. */
import type { CallAnswer, TestClient } from "../../../harness/processes/process-clients.js";
import type { World } from "../../../harness/processes/process-world.js";
import { until } from "../../../harness/processes/processes.js";
import { isFinal } from "../../engine/outcomes.js";
import { schedule } from "../schedule.js";
import { copyStore, type StoreCopy } from "../store-copy.js";
import { executionsOf, nothingOpen } from "./calls.js";

const ITEM = "Simulator/Block For 0.22 Seconds";
/** Soon enough for a minute, late enough for an Editor that is just coming back. */
const ABSENT = { UNITY_BROKER_ABSENT_MINUTES: String(4 / 60) };

/** Calls until it receives an outcome. */
export async function reported(client: TestClient, more: Record<string, unknown> = {}): Promise<CallAnswer> {
  return until("the outcome is delivered", async () => {
    const answer = await client.call("execute-menu-item", { MenuItemPath: ITEM, timeout: 20, ...more });
    return isFinal(answer) && answer;
  });
}

/** The Editor no longer offers what it ended: only its chain still knows of it. */
async function acknowledged({ editor }: World): Promise<void> {
  await until("every outcome is acknowledged", async () => {
    const { unacknowledged } = (await editor.do({ do: "status" })) as unknown as {
      unacknowledged: unknown[];
    };
    return unacknowledged.length === 0;
  });
}

/** The owner dies with the store that it knew; the next one finds the older store. */
async function goBack(world: World, copy: StoreCopy): Promise<void> {
  await world.worker.kill();
  await copy.restore();
  await world.worker.start();
}

const forgotten = schedule(
  "the store forgets what has run; the call is sent again",
  async ({ world, http }) => {
    const client = await http();
    const before = await copyStore(world.hand);
    await reported(client);
    await acknowledged(world);
    await goBack(world, before);
    await reported(await http());
    return executionsOf(world, ITEM, 1);
  },
);

/** Schedule E. */
const revokedBefore = schedule("revoked, forced, forgotten, forced again", async ({ world, http }) => {
  const client = await http();
  const { editor } = world;
  await editor.do({ do: "dropNextRequestOf", method: "operation/submit" });
  const { log_id } = await client.call("execute-menu-item", { MenuItemPath: ITEM, timeout: 0 });
  await until("it was sent", async () =>
    (await world.hand.hget(`{ujb}:operation:${log_id}`, "doc"))?.includes('"dispatched"'),
  );
  await editor.do({ do: "crash" });
  await editor.do({ do: "restart" });
  const first = await reported(client);
  if (first.error_code !== "OUTCOME_UNKNOWN") throw new Error(`not unknown: ${JSON.stringify(first)}`);
  const before = await copyStore(world.hand);
  await reported(client, { force_new: log_id });
  await acknowledged(world);
  await goBack(world, before);
  await reported(await http(), { force_new: log_id });
  return executionsOf(world, ITEM, 1);
});

/** Schedule D. */
const importedBetween = schedule(
  "ran, forgotten, sent again, and reported by the Editor before it is sent there",
  async ({ world, http }) => {
    const client = await http();
    const before = await copyStore(world.hand);
    await reported(client);
    await world.worker.kill();
    await before.restore();
    const later = await http();
    await later.call("execute-menu-item", { MenuItemPath: ITEM, timeout: 0 });
    await world.worker.start();
    await reported(later);
    await nothingOpen(world);
    return executionsOf(world, ITEM, 1);
  },
  // What ran is not acknowledged when its store is gone: the next hello tells of it.
  { env: { UNITY_BROKER_ACK_DELAY_MS: "30000" } },
);

const toldAgain = schedule(
  "the store forgets what runs; its log_id is asked for",
  async ({ world, http }) => {
    const client = await http();
    const before = await copyStore(world.hand);
    const item = "Simulator/Block For 1.5 Seconds";
    const { log_id } = await client.call("execute-menu-item", { MenuItemPath: item, timeout: 0 });
    await until("it begins", async () => (await world.editor.executions(item)).length === 1);
    await goBack(world, before);
    let status = "nothing";
    const read = async (): Promise<boolean> => {
      ({ status } = await client.call("get_operation_result", { log_id, wait: true, timeout: 5 }));
      return status === "completed";
    };
    await until("it reads", read, 12_000).catch(() => undefined);
    return {
      judge: "outcome readable",
      text: `its log_id reads ${status}`,
      isBroken: status !== "completed",
    };
  },
);

/** Schedule F. */
const expiredAfter = schedule(
  "ran and was forgotten; its retry expires unsent; the next retry",
  async ({ world, http }) => {
    const client = await http();
    const before = await copyStore(world.hand);
    await reported(client);
    await acknowledged(world);
    await world.editor.do({ do: "crash" });
    await goBack(world, before);
    await reported(client);
    const last = reported(client);
    await world.editor.do({ do: "restart" });
    await last;
    return executionsOf(world, ITEM, 1);
  },
  { env: ABSENT },
);

const forcedAfterExpired = schedule(
  "a deliberate run expires unsent; the next one",
  async ({ world, http }) => {
    const { log_id } = await reported(await http());
    // Whoever names what was told to it has read it, so nobody takes that for an answer: another caller names it.
    const client = await http();
    await world.editor.do({ do: "crash" });
    const forced = { force_new: log_id };
    await reported(client, forced);
    const last = reported(client, forced);
    await world.editor.do({ do: "restart" });
    await last;
    await nothingOpen(world);
    return executionsOf(world, ITEM, 2);
  },
  { env: ABSENT },
);

const olderEpoch = schedule("the store's epoch goes back, and a new owner comes", async ({ world, http }) => {
  const client = await http();
  await world.worker.kill();
  await world.hand.del(`{ujb}:epoch:${world.editor.editorId}`);
  await world.worker.start();
  await client.call("execute-menu-item", { MenuItemPath: ITEM, timeout: 12 });
  return executionsOf(world, ITEM, 1);
});

/** All that the store has of it, and the incarnation in which the Editor was imported. */
async function loseOne({ hand }: World, logId: string): Promise<void> {
  const doc = (await hand.hget(`{ujb}:operation:${logId}`, "doc")) ?? "{}";
  const { hash } = JSON.parse(doc) as { hash?: string };
  const ofIt = ["operation", "arguments", "result", "live", "tombstone"].map(
    (kind) => `{ujb}:${kind}:${logId}`,
  );
  await hand.del(...ofIt, `{ujb}:chain:${hash}`);
  await hand.hset("{ujb}:incarnation", "id", "after the loss");
}

/** It ran and was acknowledged; the Editor says so at no hello. */
const imported = schedule(
  "the store loses what has run; another call is claimed, and the lost one asked for",
  async ({ world, http }) => {
    const client = await http();
    const { log_id = "" } = await reported(client);
    await acknowledged(world);
    await loseOne(world, log_id);
    const { editorId: editor } = world.editor;
    await client.call("execute-menu-item", { MenuItemPath: "Assets/Refresh", editor, timeout: 20 });
    const { status } = await client.call("get_operation_result", { log_id, wait: true, timeout: 5 });
    return {
      judge: "outcome readable",
      text: `its log_id reads ${status}`,
      isBroken: status !== "completed",
    };
  },
);

/** Schedule W3: what is judged is the account of answers; the tests may run as often as they are called. */
const toldAndFlushed = schedule(
  "the tests' report is delivered, the store is flushed, the same call",
  async (stage) => {
    const { world } = stage;
    const tests = { FilterType: "exact", FilterValue: "Simulated.EditMode.Test001" };
    const client = await stage.http();
    await client.call("run-tests", { ...tests, timeout: 20 });
    await acknowledged(world);
    await world.hand.flushall();
    const later = await stage.http();
    const { editorId: editor } = world.editor;
    await until("the tests are called again", async () => {
      const reported = await later.call("run-tests", { ...tests, editor, timeout: 20 });
      return reported.status === "completed";
    });
    return undefined;
  },
);

export const CHAINS = [
  imported,
  toldAndFlushed,
  forgotten,
  revokedBefore,
  importedBetween,
  toldAgain,
  expiredAfter,
  forcedAfterExpired,
  olderEpoch,
];
