/** What must not get lost, and what must not wait for ever. */
import { Queue } from "bullmq";
import { createSimulatedEditor } from "../../../../src/simulator/editor.js";
import type { World } from "../../../harness/processes/process-world.js";
import { until } from "../../../harness/processes/processes.js";
import { schedule } from "../schedule.js";
import { copyStore } from "../store-copy.js";
import { COUNTER, many } from "../verdict.js";
import { executionsOf } from "./calls.js";
import { executionsIn, servedEditors, startOther } from "./other-editor.js";

const ITEM = "Simulator/Block For 0.23 Seconds";

const jobByHand = schedule(
  "a manual job for an operation that was cancelled unsent",
  async ({ world, http }) => {
    const client = await http();
    await world.editor.do({ do: "stallMainThread", ms: 2500 });
    await client.call("execute-menu-item", { MenuItemPath: "Assets/Refresh", timeout: 0 });
    const { log_id } = await client.call("execute-menu-item", { MenuItemPath: ITEM, timeout: 0 });
    const { state } = await client.call("cancel_operation", { log_id });
    if (state !== "cancelled") throw new Error(`not cancelled: ${state}`);
    await addByHand(world, world.editor.editorId, String(log_id));
    const { length } = await world.editor.executions(ITEM);
    const text = `${many(length, "execution")} of a call that was cancelled unsent`;
    return { judge: COUNTER, text, isBroken: length > 0 };
  },
);

const jobElsewhere = schedule("a manual job in another Editor's queue", async ({ world, http }) => {
  const client = await http();
  const other = await startOther(world, client);
  await world.editor.do({ do: "stallMainThread", ms: 3000 });
  await client.call("execute-menu-item", {
    MenuItemPath: "Assets/Refresh",
    timeout: 0,
    editor: world.editor.editorId,
  });
  const args = { MenuItemPath: ITEM, timeout: 0, editor: world.editor.editorId };
  const { log_id } = await client.call("execute-menu-item", args);
  await addByHand(world, other.editorId, String(log_id));
  await client.call("execute-menu-item", { ...args, timeout: 20 });
  const length = (await executionsIn(other)).length;
  return { judge: COUNTER, text: `${many(length, "execution")} in another Editor`, isBroken: length > 0 };
});

/** Under the operation's own id, as a script would; resolves when somebody has looked at the job. */
async function addByHand({ hand, redis }: World, editorId: string, logId: string): Promise<void> {
  const doc = (await hand.hget(`{ujb}:operation:${logId}`, "doc")) ?? "{}";
  const { hash } = JSON.parse(doc) as { hash?: string };
  const queue = new Queue(`${editorId}.main`, { connection: redis.connection, prefix: "{ujb}:bull" });
  queue.on("error", () => undefined);
  try {
    const jobId = `${hash}.${logId}`;
    await queue.remove(jobId).catch(() => 0);
    await queue.add("execute-menu-item", { logId }, { jobId });
    await until("the job was looked at", async () =>
      ["completed", "failed", "unknown"].includes(await queue.getJobState(jobId)),
    );
  } finally {
    await queue.close();
  }
}

const jobLost = schedule("the job of a waiting operation is removed; a retry", async ({ world, http }) => {
  const client = await http();
  const { editorId } = world.editor;
  const before = client.call("execute-menu-item", {
    MenuItemPath: "Simulator/Block For 0.9 Seconds",
    timeout: 20,
  });
  await until(
    "it runs",
    async () =>
      ((await world.editor.do({ do: "status" })) as unknown as { executions: unknown[] }).executions
        .length === 1,
  );
  const { log_id } = await client.call("execute-menu-item", { MenuItemPath: ITEM, timeout: 0 });
  const queue = new Queue(`${editorId}.main`, { connection: world.redis.connection, prefix: "{ujb}:bull" });
  queue.on("error", () => undefined);
  try {
    const [doc = "{}"] = await world.hand.hmget(`{ujb}:operation:${log_id}`, "doc");
    await queue.remove(`${(JSON.parse(doc ?? "{}") as { hash?: string }).hash}.${log_id}`);
  } finally {
    await queue.close();
  }
  await before;
  await client.call("execute-menu-item", { MenuItemPath: ITEM, timeout: 12 });
  return executionsOf(world, ITEM, 1);
});

const secondRun = schedule("a second run that is meant, by force_new", async ({ world, http }) => {
  const client = await http();
  const { log_id } = await client.call("execute-menu-item", { MenuItemPath: ITEM, timeout: 20 });
  await client.call("execute-menu-item", { MenuItemPath: ITEM, timeout: 8, force_new: log_id });
  return executionsOf(world, ITEM, 2);
});

/** What an acknowledgement allows: as little memory as an Editor may have. */
const FORGETFUL = { forgetAfterMs: 0, keepOperations: 0 };

const lostWrites = schedule(
  "the store loses its last writes, among them an outcome",
  async ({ world, http }) => {
    const { folder, hand, worker } = world;
    const editor = await createSimulatedEditor({
      ...FORGETFUL,
      projectPath: `${folder}/Forgetful`,
      ledgerFolder: `${folder}/forgetful`,
      endpointFolder: `${folder}/editors`,
      port: 0,
    });
    try {
      const client = await http();
      await servedEditors(client, 2);
      const args = { MenuItemPath: "Simulator/Block For 0.9 Seconds", timeout: 20, editor: editor.editorId };
      const first = client.call("execute-menu-item", args);
      const logId = await until("it runs", () => editor.counter()[0]?.operationId);
      await until("the store knows", async () =>
        (await hand.hget(`{ujb}:operation:${logId}`, "doc"))?.includes('"running"'),
      );
      const before = await copyStore(hand);
      await first;
      // A second one of the hash: the first is not its latest any more.
      await client.call("execute-menu-item", { ...args, force_new: logId });
      await until("acknowledged", () => editor.status().unacknowledged.length === 0, 1000).catch(
        () => undefined,
      );
      await worker.kill();
      await before.restore();
      await worker.start();
      const read = { log_id: logId, wait: true, timeout: 15 };
      const { status, error_code } = await (await http()).call("get_operation_result", read);
      const text = `its outcome reads ${error_code ?? status}`;
      return { judge: "outcome readable", text, isBroken: status !== "completed" };
    } finally {
      await editor.close();
    }
  },
  { env: { UNITY_BROKER_ACK_DELAY_MS: "30000" } },
);

const editorAway = schedule(
  "the Editor is gone for good while a call waits for it",
  async ({ world, http }) => {
    const client = await http();
    await world.editor.do({ do: "crash" });
    await client.call("execute-menu-item", { MenuItemPath: ITEM, timeout: 12 });
    const open = await world.hand.zcard(`{ujb}:open:${world.editor.editorId}`);
    return { judge: "nothing open", text: `${many(open, "operation")} open`, isBroken: open > 0 };
  },
  { env: { UNITY_BROKER_ABSENT_MINUTES: String(1 / 60) } },
);

export const LOSSES = [jobByHand, jobElsewhere, jobLost, secondRun, lostWrites, editorAway];
