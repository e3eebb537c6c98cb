/**
 * The tools that only the C# bridge has, in a simulated Editor: described as there, but they do nothing. For tests of what a model
 * reads of all tools.
 */
import { BRIDGE_TOOLS, bridgeTool } from "../../../src/simulator/catalogue/bridge-tool.js";
import { createToolTable } from "../../../src/simulator/tools.js";

/** As the bridge answers; of the other tools no test reads an answer. */
const ANSWERS: Readonly<Record<string, object>> = {
  "clear-console": { Success: true, ClearedLogCount: 5 },
  "find-game-objects": {
    totalFound: 1,
    results: [
      {
        ...{ id: "1002@9fdb31a6", name: "Object1", path: "/Root0/Object1", scene: "SampleScene" },
        ...{ isActive: true, tag: "Untagged", layer: 0, components: ["Transform", "MeshRenderer"] },
      },
    ],
  },
};

const simulated = createToolTable();

export const toolsOfBridgeOnly = BRIDGE_TOOLS.filter(({ name }) => !simulated.get(name)).map(({ name }) =>
  bridgeTool(name, { run: async () => ANSWERS[name] ?? {} }),
);
