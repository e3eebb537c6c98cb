/**
 * A frame that an Editor has received and not read: in the buffer of a process that stands still, or somewhere on
 * the way. Nobody else is given its operation before that Editor has journalled that it never runs it.
 */
import { afterEach, describe, expect, test } from "vitest";
import { TELLING_ENGINES } from "../../harness/editor/dotnet.js";
import { type EditorUnderTest, startEditorUnderTest } from "../../harness/editor/editor-under-test.js";
import { eventually } from "../../harness/eventually.js";
import { useWorkerProcesses } from "../../harness/processes/use-worker-processes.js";
import type { WorkerProcess } from "../../harness/processes/worker-processes.js";
import type { Client } from "../../harness/system/client.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
const workers = useWorkerProcesses();

const ARGUMENTS = { MenuItemPath: "Simulator/Block For 0.1 Seconds" };

interface Scene {
  system: System;
  editor: EditorUnderTest;
  ann: Client;
  owner: WorkerProcess;
  heir: WorkerProcess;
  submit(): ReturnType<Client["submit"]>;
}

/** The Editor as a process with two workers, and another Editor that is idle and has a worker of its own. */
async function stage(engine: EditorUnderTest["engine"]): Promise<Scene> {
  const system = await start();
  const editor = await startEditorUnderTest(engine);
  closers.push(() => editor.close());
  const owner = await workers.startFor(system, editor.endpoint);
  const { editorId } = editor;
  await eventually(
    async () => (await system.store.editors.tools(editorId)).length > 0,
    "its tools are known",
  );
  const heir = await workers.startFor(system, editor.endpoint);
  const ann = system.client();
  return {
    system,
    editor,
    ann,
    owner,
    heir,
    submit: () => ann.submit("execute-menu-item", ARGUMENTS, { editor: editorId }),
  };
}

describe.each(TELLING_ENGINES)("the %s Editor", (engine) => {
  test("schedule J: it stands still with the frame in its buffer; its worker is replaced; it reads on", async () => {
    const { system, editor, ann, owner, heir, submit } = await stage(engine);
    const { pid } = editor.endpoint();
    process.kill(pid, "SIGSTOP");
    try {
      const written = new Promise<void>((resolve) => owner.toEditor.before("operation/submit", resolve));
      const asked = new Promise<void>((resolve) => heir.toEditor.before("bridge/hello", resolve));
      const { record } = await submit();
      await written;
      await owner.process.kill("SIGKILL");
      await asked;
      // The same call, to whom it may concern: it is that one.
      const again = await ann.submit("execute-menu-item", ARGUMENTS);
      expect(again).toMatchObject({ relation: "joined", record: { logId: record.logId } });
      expect(await system.record(record.logId)).toMatchObject({
        state: "dispatched",
        editor: editor.editorId,
      });
      process.kill(pid, "SIGCONT");
      expect((await ann.outcome(record.logId)).record).toMatchObject({ state: "completed" });
      expect(await editor.begun(record.logId)).toBe(1);
      expect(system.editor.counter()).toEqual([]);
    } finally {
      process.kill(pid, "SIGCONT");
    }
  });

  test("schedule J: a frame that is lost on the way is unknown to the next session: revoked there, and only then interrupted", async () => {
    const { system, editor, ann, owner, heir, submit } = await stage(engine);
    const held = new Promise<void>((resolve) =>
      owner.toEditor.before("operation/submit", () => resolve(owner.toEditor.hold())),
    );
    const { record } = await submit();
    await held;
    const revoking = new Promise<void>((resolve) =>
      heir.toEditor.before("operation/revoke", () => resolve(heir.toEditor.hold())),
    );
    await editor.crashAndRestart();
    heir.follow();
    await owner.process.kill("SIGKILL");
    await revoking;
    expect(await system.record(record.logId)).toMatchObject({ state: "dispatched", editor: editor.editorId });
    heir.toEditor.fix();
    expect((await ann.outcome(record.logId)).record).toMatchObject({
      state: "interrupted",
      error: { code: "OUTCOME_UNKNOWN" },
    });
    // The frame of the earlier worker is refused, by that session and by the next. The heir would take the seat again.
    await heir.process.kill("SIGKILL");
    const late = await editor.owner({ epoch: 1_000, storeId: system.store.storeId() });
    const params = late.submitParams(record.logId, {
      tool: record.tool,
      arguments: ARGUMENTS,
      argumentsHash: record.fingerprint,
      hash: record.hash,
    });
    expect(await late.refusal("operation/submit", params)).toMatchObject({ code: -32021 });
    expect(await editor.begun(record.logId)).toBe(0);
    expect(system.editor.counter()).toEqual([]);
  });
});
