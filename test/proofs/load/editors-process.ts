/** Many simulated Editors in one process, each with a ledger, an endpoint file and a counter file of its own. */
import { parameters } from "../../../src/simulator/tool-definition.js";
import { endWithParent, tellParent } from "../bench/floors/child-process.js";
import { createSimulatedEditor } from "../bench/shipped.js";
import { type EditorsSettings, TOOL } from "./settings.js";

const { folder, editorsFolder, count } = JSON.parse(process.argv[2] ?? "") as EditorsSettings;

const editors = await Promise.all(
  Array.from({ length: count }, (_, at) =>
    createSimulatedEditor({
      projectPath: `${folder}/Project ${at}`,
      port: 0,
      endpointFolder: editorsFolder,
      ledgerFolder: `${folder}/${at}`,
      tools: [
        {
          name: TOOL,
          description: "Notes a text and ends at once.",
          inputSchema: parameters({ Text: { type: "string" } }, ["Text"]),
          effect: "mutating",
          lane: "main",
          resumable: false,
          cancellable: false,
          executionClass: "quick",
          blocksMainThread: false,
          label: (args) => args.text("Text"),
          run: async ({ args }) => ({ Text: args.text("Text") }),
        },
      ],
    }),
  ),
);

endWithParent(async () => void (await Promise.all(editors.map((editor) => editor.close()))));
tellParent({ editors: editors.map(({ editorId, counterFile }) => ({ editorId, counterFile })) });
