/** A simulated Editor in a process of its own, with one more tool: it changes something and ends at once. */
import { parameters } from "../../../src/simulator/tool-definition.js";
import { endWithParent, tellParent } from "./floors/child-process.js";
import { type EditorSettings, QUICK_TOOL } from "./quick-tool.js";
import { createSimulatedEditor } from "./shipped.js";

const { folder, editorsFolder } = JSON.parse(process.argv[2] ?? "") as EditorSettings;

const editor = await createSimulatedEditor({
  projectPath: `${folder}/Project`,
  port: 0,
  endpointFolder: editorsFolder,
  ledgerFolder: `${folder}/ledger`,
  tools: [
    {
      name: QUICK_TOOL,
      description: "Notes a text and ends at once.",
      inputSchema: parameters({ Text: { type: "string" } }, ["Text"]),
      effect: "mutating",
      lane: "main",
      resumable: false,
      cancellable: false,
      executionClass: "quick",
      blocksMainThread: false,
      run: async ({ args }) => ({ Text: args.text("Text") }),
    },
  ],
});

endWithParent(() => editor.close());
tellParent({ editorId: editor.editorId });
