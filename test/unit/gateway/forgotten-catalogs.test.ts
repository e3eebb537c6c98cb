/** An Editor that is forgotten while its tools are being noted by another process stays forgotten. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLastCatalogs } from "../../../src/gateway/editors/last-catalogs.js";
import type { AwayEditor } from "../../../src/shared/store/editors/editors.js";
import { completeTool, ToolDetails } from "../../../src/shared/tools/tool.js";
import { SILENT } from "../../harness/silent.js";
import { MARK } from "../shared/record.js";

const tool = (details: object) => completeTool(ToolDetails.parse(details));

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ujb-forgotten-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const open = () => createLastCatalogs({ noteFile: join(root, "editors.json"), log: SILENT });
const editor = (work: string): AwayEditor => ({
  profile: {
    ...{ editorId: "game@1", projectName: "Game", projectPath: "/projects/game" },
    ...{ unityVersion: "6000.0.1f1", pid: 1, ...MARK },
  },
  lastSeenAt: Date.now(),
  tools: [tool({ name: work })],
});

test.each([
  ["before it is asked for", true],
  ["after it was found", false],
])("forgotten %s", async (_when, isFirst) => {
  const [one, other] = [open(), open()];
  await one.note(editor("work"));
  await one.note(editor("other-work"), async () => {
    await other.drop("game@1");
    return !isFirst;
  });
  expect(await other.all()).toEqual([]);
  expect(readdirSync(join(root, "editors.catalogs"))).toEqual([]);
});

test("one whose retention ended meanwhile keeps the note that it had", async () => {
  await open().note(editor("work"));
  await open().note(editor("other-work"), async () => false);
  expect((await open().all()).map(({ tools }) => tools[0]?.name)).toEqual(["work"]);
});
