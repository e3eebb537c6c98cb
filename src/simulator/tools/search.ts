/** unity-search and its providers. */
import { parameters, type SimulatedTool } from "../tool-definition.js";

const PROVIDERS = [
  { Id: "asset", DisplayName: "Project", Priority: 25 },
  { Id: "scene", DisplayName: "Hierarchy", Priority: 50 },
  { Id: "menu", DisplayName: "Menu", Priority: 80 },
];

const reading = {
  effect: "read_only",
  lane: "main",
  resumable: false,
  cancellable: true,
  executionClass: "medium",
  blocksMainThread: true,
} as const;

export const unitySearch: SimulatedTool = {
  ...reading,
  name: "unity-search",
  description: "Searches the project with Unity Search.",
  inputSchema: parameters(
    {
      SearchQuery: { type: "string", description: "For example t:Material" },
      MaxResults: { type: "integer", description: "At most this many", minimum: 1, default: 50 },
      SimulatedSeconds: {
        type: "number",
        description: "Simulator: how long it takes",
        minimum: 0,
        default: 0,
      },
    },
    ["SearchQuery"],
  ),
  async run({ args, wait }) {
    const query = args.text("SearchQuery");
    await wait(args.number("SimulatedSeconds", 0));
    const Results = Array.from({ length: Math.min(5, args.number("MaxResults", 50)) }, (_, index) => ({
      Id: `asset-${index}`,
      Label: `${query} ${index}`,
      Path: `Assets/Found/${index}.asset`,
    }));
    return { SearchQuery: query, TotalCount: 5, DisplayedCount: Results.length, Results };
  },
};

export const getProviderDetails: SimulatedTool = {
  ...reading,
  name: "get-provider-details",
  description: "Lists the providers of Unity Search.",
  inputSchema: parameters({
    ProviderId: { type: "string", description: "Only this one", default: "" },
  }),
  async run({ args }) {
    const id = args.text("ProviderId", "");
    const Providers = PROVIDERS.filter((provider) => id === "" || provider.Id === id);
    return { TotalCount: Providers.length, Providers };
  },
};
