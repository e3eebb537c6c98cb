/** What a call was decided on is as true when it is accepted as what the store says. */
import { expect, test } from "vitest";
import { OPEN, type Principals } from "../../../src/gateway/auth/authenticator.js";
import { answerOf, type OperationView } from "../../../src/shared/operation/answer.js";
import { keys } from "../../../src/shared/store/keys.js";
import { eventually } from "../../harness/eventually.js";
import { whenStoreIsBack } from "../../harness/system/store-back.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();

/** Who a call belongs to is read slowly, while `hold` holds: a file on a slow disk. */
function slowPrincipals() {
  let gate: Promise<void> = Promise.resolve();
  const principals: Principals = {
    ...OPEN,
    async find(id) {
      const mine = gate;
      gate = Promise.resolve();
      await mine;
      return OPEN.find(id);
    },
  };
  const hold = (): (() => void) => {
    let open: () => void = () => undefined;
    gate = new Promise((resolve) => {
      open = resolve;
    });
    return open;
  };
  return { principals, hold };
}

async function ended({ broker }: System, logId: string): Promise<OperationView> {
  const seen = await broker.wait("ann", logId, { ms: 30_000 });
  if (typeof seen !== "object") throw new Error("it is not there");
  return seen;
}

test.each(["addWorkerHere", "addWorker"] as const)(
  "an answer of a moment ago says that the Editor has changed since (%s)",
  async (add) => {
    const system = await start({ worker: null });
    await system[add]();
    await system.present(system.editor);
    const ann = system.client();
    const { record } = await ann.submit("work", { Name: "a" });
    const first = await ended(system, record.logId);
    const change = await ann.submit("set-property", { Path: "Player.speed", Value: 3 });
    await ended(system, change.record.logId);
    await eventually(async () => {
      const known = await system.store.editors.find(system.editor.editorId);
      return (known?.profile.assetCounter ?? 0) > (first.record.editorMark?.assetCounter ?? 0);
    }, "the store knows of the change");
    const again = await ann.submit("work", { Name: "a" });
    expect(again.relation).toBe("replayed");
    const answer = answerOf(await ended(system, again.record.logId), { duplicate: "replayed" });
    expect(answer).toMatchObject({ deduplicated: true, editor_changed_since: true });
  },
);

test("a call that is read slowly while others of its principal are accepted: all run when there is room", async () => {
  const { principals, hold } = slowPrincipals();
  const system = await start({ maxRunning: 1, principals });
  const second = await system.addEditor();
  await system.present(system.editor);
  await system.present(second);
  const ann = system.client("ann", null);
  const [here, there] = [system.editor, second].map(({ editorId }) => ({ editor: editorId }));
  const block = await ann.submit("work", { Name: "block", Hold: true }, here);
  await ann.reaches(block.record.logId, "running");
  const open = hold();
  const x = ann.submit("work", { Name: "x" }, here);
  const y = await ann.submit("work", { Name: "y" }, there);
  const x1 = await ann.submit("work", { Name: "x1" }, here);
  open();
  const all = [await x, y, x1].map(({ record }) => record.logId);
  const isHeld = async (): Promise<boolean> =>
    (await system.hand.hexists(keys.held("ann"), y.record.logId)) === 1;
  await eventually(isHeld, "y is held back");
  system.bench.finish("block");
  for (const logId of all) expect((await ended(system, logId)).record.state).toBe("completed");
});

test("▲5 a change that was read slowly is accepted when it is written: tests that began before do not answer after it", async () => {
  const { principals, hold } = slowPrincipals();
  const system = await start({ gateway: { backMs: 0 }, principals });
  await system.present(system.editor);
  const ann = system.client("ann", null);
  const on = { editor: system.editor.editorId };
  const run = { SimulatedTests: 1, SimulatedSeconds: 60 };
  const open = hold();
  const edit = ann.submit("work", { Name: "edit" }, on);
  const { record: tests } = await ann.submit("run-tests", run, on);
  await ann.reaches(tests.logId, "running");
  open();
  const { record: change } = await edit;
  expect(change.mutationSeq).toBeGreaterThan(tests.mutationSeq);
  expect(change.acceptedAt).toBeGreaterThanOrEqual(tests.acceptedAt);
  await system.redis.flush();
  const isBack = async (): Promise<boolean> =>
    (await system.store.operations.find(tests.logId).catch(() => undefined))?.state === "running";
  await eventually(isBack, "the tests are restored");
  await whenStoreIsBack(() => system.present(system.editor));
  const again = await whenStoreIsBack(() => ann.submit("run-tests", run, on));
  expect(again.relation).toBe("created");
});

test("▲4 a call without `editor` right after one: an Editor that has come since is asked for, and nothing was sent", async () => {
  const system = await start();
  const ann = system.client();
  await ended(system, (await ann.submit("work", { Name: "a" })).record.logId);
  const second = await system.addEditor();
  await system.present(second);
  await expect(ann.submit("work", { Name: "b" })).rejects.toMatchObject({ code: "EDITOR_AMBIGUOUS" });
  expect(system.executions("b")).toBe(0);
});
