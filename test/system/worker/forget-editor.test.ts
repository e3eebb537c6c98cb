/** A person says that an Editor is gone: what becomes of its operations, its keys, and of itself if it comes back. */
import { describe, expect, test } from "vitest";
import { keys } from "../../../src/shared/store/keys.js";
import { quits } from "../../harness/editor/quits.js";
import { forget } from "../../harness/system/said-of-editors.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

test("what was sent is interrupted, what was not is expired; both are told at once, and nothing of the Editor is kept", async () => {
  const system = await start();
  const { client, editor, bench, hand, executions } = system;
  const ann = client();
  const sent = await ann.submit("work", { Name: "sent", Hold: true });
  await bench.begins("sent");
  await ann.reaches(sent.record.logId, "running");
  const waiting = await ann.submit("work", { Name: "waiting" });
  await ann.reaches(waiting.record.logId, "queued");
  await quits(system, editor);

  const reported = [sent, waiting].map(({ record }) => ann.outcome(record.logId));
  const { ended, editor: forgotten } = await forget(system, "GAME-1");
  expect(forgotten.id).toBe(editor.editorId);
  expect(ended.map(({ state }) => state).sort()).toEqual(["expired", "interrupted"]);
  const [first, second] = await Promise.all(reported);
  expect(first?.record).toMatchObject({
    state: "interrupted",
    error: { code: "OUTCOME_UNKNOWN", type: "editor_forgotten" },
    evidence: { wasRunning: expect.any(Boolean), lastHeartbeatAt: expect.any(Number) },
  });
  expect(second?.record).toMatchObject({
    state: "expired",
    error: { code: "EXPIRED", type: "editor_forgotten" },
  });

  for (const key of ["editor", "catalog", "open", "lease"]) {
    expect(await hand.exists(`{ujb}:${key}:${editor.editorId}`), key).toBe(0);
  }
  expect(await hand.zscore("{ujb}:editors", editor.editorId)).toBeNull();
  // Its operations stay: the retry is told that nobody knows, a new call that there is no Editor.
  expect(await ann.submit("work", { Name: "sent", Hold: true })).toMatchObject({
    relation: "replayed",
    record: { logId: sent.record.logId, state: "interrupted" },
  });
  await expect(ann.submit("work", { Name: "new" })).rejects.toMatchObject({ code: "NO_EDITOR" });
  expect([executions("sent"), executions("waiting")]).toEqual([1, 0]);
});

test("one that comes back is known again; what was ended stays ended and is not run", async () => {
  const system = await start();
  const { client, editor, bench, present, away, hand, executions } = system;
  const ann = client();
  const { record } = await ann.submit("work", { Name: "sent", Hold: true });
  await bench.begins("sent");
  await ann.reaches(record.logId, "running");
  await editor.faults.crash();
  await away(editor);
  // Its process is alive for all that its worker knows.
  await expect(forget(system, "game-1")).rejects.toMatchObject({
    code: "EDITOR_CONNECTED",
    message: expect.stringContaining("--force"),
  });
  await forget(system, "game-1", true);
  expect(await hand.zscore("{ujb}:editors", editor.editorId)).toBeNull();

  await editor.faults.restart();
  await present(editor);
  const after = await ann.submit("work", { Name: "after" });
  expect((await ann.outcome(after.record.logId)).record.state).toBe("completed");
  expect(await system.record(record.logId)).toMatchObject({
    state: "interrupted",
    error: { type: "editor_forgotten" },
  });
  expect([executions("sent"), executions("after")]).toEqual([1, 1]);
});

test("a connected one is refused, whatever is forced, and so is a name that fits none", async () => {
  const system = await start();
  const { client, editor } = system;
  for (const force of [false, true]) {
    await expect(forget(system, editor.editorId, force)).rejects.toMatchObject({
      code: "EDITOR_CONNECTED",
      message: expect.stringContaining("is connected"),
    });
  }
  await expect(forget(system, "shop")).rejects.toMatchObject({ code: "EDITOR_UNKNOWN" });
  const ann = client();
  const { record } = await ann.submit("work", { Name: "a" });
  expect((await ann.outcome(record.logId)).record.state).toBe("completed");
});

describe("the record alone is lost of what a pool's Editor has run, and a person gives this Editor up", () => {
  const CALL = ["work", { Name: "a" }, { editor: "pool:farm", idempotency_key: "build 7" }] as const;

  async function farm() {
    const labels = ["farm"];
    const system = await start({ editor: { labels }, gateway: { backMs: 0 } });
    const second = await system.addEditor({ labels });
    await Promise.all([system.present(system.editor), system.present(second)]);
    const ann = system.client();
    const { record } = await ann.submit(...CALL);
    await ann.outcome(record.logId);
    const ranIn = (await system.record(record.logId)).editor;
    const [ran, other] = ranIn === second.editorId ? [second, system.editor] : [system.editor, second];
    const leaves = async (): Promise<void> => {
      await ran.faults.crash();
      await system.away(ran);
    };
    const loses = async (): Promise<unknown> => system.hand.del(keys.operation(record.logId));
    return { ...system, ann, logId: record.logId, ran, other, leaves, loses };
  }

  test("before it is given up: the call runs in no other Editor, but by force", async () => {
    const system = await farm();
    const { ann, logId, ran, other, leaves, loses, executions } = system;
    await leaves();
    await loses();
    await expect(ann.submit(...CALL)).rejects.toMatchObject({ code: "EDITORS_NOT_BACK" });
    const forced = [CALL[0], CALL[1], { ...CALL[2], force_new: logId }] as const;
    await expect(ann.submit(...forced)).rejects.toMatchObject({ code: "EDITORS_NOT_BACK" });
    await system.present(other);
    await forget(system, ran.editorId, true);
    const refusal = { code: "RECORD_LOST", details: { force_new: logId } };
    await expect(ann.submit(...CALL)).rejects.toMatchObject(refusal);
    await system.store.operations.beginIncarnation(await system.store.operations.incarnation());
    await eventually(async () => {
      const refused: unknown = await ann.submit(...CALL).catch((error) => error);
      return (refused as { code?: string }).code === "RECORD_LOST";
    }, "after another loss it is still unknown");
    expect(executions("a")).toBe(1);
    const again = await ann.submit(...forced);
    expect(await ann.outcome(again.record.logId)).toMatchObject({ record: { editor: other.editorId } });
    expect(executions("a")).toBe(2);
  });

  test("after it: the call runs in no other Editor, and once the Editor is back after all it has its outcome", async () => {
    const system = await farm();
    const { ann, logId, ran, leaves, loses, executions } = system;
    await leaves();
    await forget(system, ran.editorId, true);
    await loses();
    await eventually(async () => {
      const refused: unknown = await ann.submit(...CALL).catch((error) => error);
      return (refused as { code?: string }).code === "RECORD_LOST";
    }, "the others say that they have not run it");
    await ran.faults.restart();
    await system.present(ran);
    expect(await ann.submit(...CALL)).toMatchObject({ relation: "replayed", record: { logId } });
    expect(executions("a")).toBe(1);
  });
});
