/** A simulated Editor in a process of its own, with the suite's tools. */
import { echoTool } from "../../src/simulator/tools/short.js";
import { endWithParent, tellParent } from "../proofs/bench/floors/child-process.js";
import { createSimulatedEditor } from "../proofs/bench/shipped.js";
import { changing, FIXTURES } from "./tools.js";

const { folder, editorsFolder } = JSON.parse(process.argv[2] ?? "") as {
  folder: string;
  editorsFolder: string;
};

/** Comes with one call of the tool that changes the list, and goes with the next. */
const COMING = "comes_and_goes";

const editor = await createSimulatedEditor({
  projectPath: `${folder}/Project`,
  port: 0,
  endpointFolder: editorsFolder,
  ledgerFolder: `${folder}/ledger`,
  tools: [...FIXTURES, changing(() => change())],
});

function change(): void {
  if (editor.tools.get(COMING)) editor.tools.remove(COMING);
  else editor.tools.add(echoTool(COMING));
  editor.toolsChanged();
}

endWithParent(() => editor.close());
tellParent({ editorId: editor.editorId });
