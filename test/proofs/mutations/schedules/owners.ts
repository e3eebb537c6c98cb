/** Owners of an Editor without a ledger, and owners that do not know yet that they are none. */

import { startControlledEditor } from "../../../harness/editor/editor-control.js";
import { until } from "../../../harness/processes/processes.js";
import { layCable } from "../../../harness/system/cable.js";
import { isFinal } from "../../engine/outcomes.js";
import { schedule } from "../schedule.js";
import { COUNTER, counted, many } from "../verdict.js";
import { executionsIn, servedEditors } from "./other-editor.js";

const ITEM = "Simulator/Block For 0.8 Seconds";
const FIRST = "Simulator/Block For 3 Seconds";
const CALL = { MenuItemPath: ITEM, timeout: 0 };

/** Schedule U. */
const withoutLedger = schedule(
  "a call to an Editor without a ledger, its worker killed in the middle",
  async ({ world, http }) => {
    const { processes, folder, worker } = world;
    const args = ["--plain", "--project", `${folder}/Plain`, "--counter-file", `${folder}/plain.log`];
    const plain = await startControlledEditor(processes, "typescript", args, world.env);
    await worker.kill();
    worker.line.fix();
    const env = {
      ...world.env,
      REDIS_URL: worker.line.url,
      UNITY_BROKER_EDITORS: `plain=127.0.0.1:${plain.port}`,
    };
    const first = processes.start("first worker", ["worker"], env);
    const client = await http();
    await servedEditors(client, 2);
    const call = { ...CALL, editor: "plain" };
    const { log_id } = await client.call("execute-menu-item", call);
    await until("it begins", async () => (await executionsIn(plain)).length === 1);
    await first.kill();
    processes.start("second worker", ["worker"], env);
    await until("it is delivered", async () =>
      isFinal(await client.call("get_operation_result", { log_id, wait: true, timeout: 5 })),
    );
    return counted((await executionsIn(plain)).length, 1);
  },
);

/**
 * It claims and hears no more of Redis; another takes over and sends the operation; then the first learns that its
 * claim was written, has no Editor any more, and takes the claim back.
 */
const lateUnclaim = schedule(
  "an owner that lost its lease takes its claim back",
  async ({ world, http }) => {
    const { editor, hand, processes, redis, worker } = world;
    const cable = await layCable(() => redis.connection);
    try {
      await worker.kill();
      const env = { ...world.env, REDIS_URL: `redis://127.0.0.1:${cable.port}` };
      const late = processes.start("late owner", ["worker"], env);
      await late.line(/^Worker for/);
      await until("it owns the Editor", () => late.stderr.includes("the Editor"));
      // Stands by, to take over soon: a claim waits for Redis' answer for a few seconds only.
      await worker.start();
      const client = await http();
      // While it runs, the next one waits in the queue: nobody else writes it when it is claimed.
      const first = await client.call("execute-menu-item", { ...CALL, MenuItemPath: FIRST });
      await until("it runs", async () => (await stateOf(first.log_id)) === "running");
      await editor.do({ do: "stallMainThread", ms: 60_000 });
      const { log_id } = await client.call("execute-menu-item", CALL);
      cable.before('"state":"dispatched"', () => cable.deafen());
      await until("it was claimed", async () => (await stateOf(log_id)) === "dispatched");
      // Runs out now, not in a second.
      await hand.del(`{ujb}:lease:${editor.editorId}`);
      await until("the Editor has it", async () => (await openIn()).includes(String(log_id)));
      cable.fix();
      await until("taken back", async () => (await stateOf(log_id)) === "queued", 3_000).catch(
        () => undefined,
      );
      await client.call("cancel_operation", { log_id });
      await until("it is over", async () => (await stateOf(log_id)) === "cancelled");
      await editor.do({ do: "stallMainThread", ms: 0 });
      await until("nothing waits in the Editor", async () => (await openIn()).length === 0);
      const { length } = await editor.executions(ITEM);
      const text = `${many(length, "execution")} of a call that was cancelled unsent`;
      return { judge: COUNTER, text, isBroken: length > 0 };
    } finally {
      await cable.close();
    }

    async function openIn(): Promise<string[]> {
      const { open } = (await editor.do({ do: "status" })) as unknown as { open: { operationId: string }[] };
      return open.map(({ operationId }) => operationId);
    }
    async function stateOf(logId: unknown): Promise<string | undefined> {
      const doc = await hand.hget(`{ujb}:operation:${logId}`, "doc");
      return doc ? (JSON.parse(doc) as { state: string }).state : undefined;
    }
  },
  { env: { UNITY_BROKER_LEASE_MS: "1000" } },
);

export const OWNERS = [withoutLedger, lateUnclaim];
