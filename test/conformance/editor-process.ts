/** A simulated Editor in a process of its own, with the suite's tools. */
import { endWithParent, tellParent } from "../proofs/bench/floors/child-process.js";
import { createSimulatedEditor } from "../proofs/bench/shipped.js";
import { FIXTURES } from "./tools.js";

const { folder, editorsFolder } = JSON.parse(process.argv[2] ?? "") as {
  folder: string;
  editorsFolder: string;
};

const editor = await createSimulatedEditor({
  projectPath: `${folder}/Project`,
  port: 0,
  endpointFolder: editorsFolder,
  ledgerFolder: `${folder}/ledger`,
  tools: [...FIXTURES],
});

endWithParent(() => editor.close());
tellParent({ editorId: editor.editorId });
