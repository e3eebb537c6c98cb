/** Console lines on the wire: only for a worker that asks for them, and the last ones before the end. Both Editors. */
import { expect, test } from "vitest";
import { ENGINES } from "../../harness/editor/dotnet.js";
import { startEditorUnderTest } from "../../harness/editor/editor-under-test.js";

test.each(ENGINES)("%s sends them to a worker that asks for them", async (engine) => {
  const editor = await startEditorUnderTest(engine);
  try {
    const block = { arguments: { MenuItemPath: "Simulator/Block For 0.01 Seconds" } };
    const silent = await editor.owner();
    await silent.submit("a", block);
    expect(await silent.finished("a")).toMatchObject({ status: "completed" });
    expect(silent.unread("operation/log")).toEqual([]);

    const asking = await editor.owner({ log: true });
    await editor.do({ do: "log", type: "Error", message: "of no operation" });
    await asking.submit("p", { tool: "ping", arguments: {} });
    await asking.finished("p");
    await asking.submit("b", block);
    expect(await asking.finished("b")).toMatchObject({ status: "completed" });
    expect(asking.unread("operation/log")).toMatchObject([
      {
        operationId: "b",
        lines: [{ type: "log", message: "Executed Simulator/Block For 0.01 Seconds" }],
        ledgerSeq: expect.any(Number),
      },
    ]);
  } finally {
    await editor.close();
  }
});
