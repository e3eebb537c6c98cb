/** get-logs has what the Editor's own Console has: lines from before a domain reload, and the compiler's messages. */
import { expect, test } from "vitest";
import { hasDotnet } from "../../harness/editor/dotnet.js";
import { type EditorUnderTest, startEditorUnderTest } from "../../harness/editor/editor-under-test.js";
import { eventually } from "../../harness/eventually.js";
import type { Owner } from "../simulator/simulator-client.js";

interface Logs {
  AsOf?: number;
  Logs: { LogType: string; Message: string; At: number }[];
}

let calls = 0;
async function logsOf(owner: Owner): Promise<Logs> {
  calls += 1;
  const id = `logs-${calls}`;
  await owner.submit(id, { tool: "get-logs", arguments: {} });
  return (await owner.finished(id)).result as Logs;
}

async function inEditor(use: (editor: EditorUnderTest) => Promise<void>): Promise<void> {
  const editor = await startEditorUnderTest("dotnet");
  try {
    await use(editor);
  } finally {
    await editor.close();
  }
}

test.skipIf(!hasDotnet)("lines from before a domain reload are there after it, with their times", () =>
  inEditor(async (editor) => {
    await editor.do({ do: "log", type: "Warning", message: "before the reload" });
    const before = await logsOf(await editor.owner());
    const [written] = before.Logs;
    expect(written).toMatchObject({ LogType: "Warning", Message: "before the reload" });

    await editor.do({ do: "reload", downMs: 100 });
    await editor.do({ do: "log", message: "after the reload" });
    const owner = await editor.owner();
    const after = await logsOf(owner);
    expect(after.Logs.map(({ Message }) => Message)).toEqual(["before the reload", "after the reload"]);
    expect(after.Logs[0]).toEqual(written);
    expect(after.AsOf).toBeGreaterThan(before.AsOf ?? 0);
    expect(after.Logs[1]?.At).toBeGreaterThanOrEqual(after.AsOf ?? Number.NaN);

    // A read in the background, while the main thread is blocked.
    await editor.do({ do: "stallMainThread", ms: 1500 });
    expect((await logsOf(owner)).Logs).toEqual(after.Logs);
  }),
);

test.skipIf(!hasDotnet)("the messages of each compilation take the place of those of the one before", () =>
  inEditor(async (editor) => {
    const owner = await editor.owner();
    await editor.do({ do: "log", message: "a line" });
    await editor.do({ do: "script", compileErrors: 2, compileSeconds: 0 });
    await owner.submit("broken", { tool: "compile", arguments: {} });
    await owner.finished("broken");
    const messages = async (of: Owner): Promise<string[]> =>
      (await logsOf(of)).Logs.map(({ Message }) => Message);
    await eventually(async () => (await messages(owner)).length === 3, "the compiler's messages are read");
    expect(await messages(owner)).toEqual([
      "a line",
      "Assets/Scripts/Script0.cs(1,1): error CS1002: ; expected",
      "Assets/Scripts/Script1.cs(2,1): error CS1002: ; expected",
    ]);

    await editor.do({ do: "script", compileErrors: 0, compileReloads: true });
    await owner.submit("mended", { tool: "compile", arguments: {} });
    const isReloaded = async () => (await editor.do({ do: "status" })).generation === 1;
    await eventually(isReloaded, "the domain was reloaded");
    expect(await messages(await editor.owner())).toEqual(["a line"]);
  }),
);
