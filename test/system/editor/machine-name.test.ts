/** Editor and broker derive an Editor's id from one file, so that the broker knows an Editor that it launches. */
import { readFileSync, realpathSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { editorIdOf } from "../../../src/shared/editors/target.js";
import { thisMachine } from "../../../src/shared/machine/this-machine.js";
import { ENGINES } from "../../harness/editor/dotnet.js";
import { startEditorUnderTest } from "../../harness/editor/editor-under-test.js";

test.for(ENGINES)("the machine's name is the first host name, for both sides (%s)", async (engine) => {
  const editor = await startEditorUnderTest(engine);
  try {
    const state = join(editor.folder, "home", ".unity-job-broker");
    expect(readFileSync(join(state, "machine"), "utf8")).toBe(`${hostname()}\n`);
    const project = join(realpathSync(dirname(editor.ledgerFolder)), "Project");
    expect(editor.editorId).toBe(editorIdOf("Project", thisMachine(state, "another.example"), project));
  } finally {
    await editor.close();
  }
});
