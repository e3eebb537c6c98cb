/** unity-search and its providers. */
import { bridgeTool } from "../catalogue/bridge-tool.js";
import { toolFailure } from "../tool-definition.js";

const PROVIDERS = [
  { Id: "asset", DisplayName: "Project", IsActive: true, Priority: 25, FilterId: "p:" },
  { Id: "scene", DisplayName: "Hierarchy", IsActive: true, Priority: 50, FilterId: "h:" },
  { Id: "menu", DisplayName: "Menu", IsActive: true, Priority: 80, FilterId: "m:" },
];

const FOUND = Array.from({ length: 5 }, (_, index) => ({
  Id: `asset-${index}`,
  Provider: "asset",
  Type: "Material",
  Path: `Assets/Found/${index}.asset`,
}));

export const unitySearch = bridgeTool("unity-search", {
  simulated: {
    Seconds: { type: "number", description: "how long it takes", minimum: 0, default: 0 },
  },
  async run({ args, wait }) {
    const SearchQuery = args.text("SearchQuery");
    const asked = args.texts("Providers");
    const unknown = asked.find((id) => !PROVIDERS.some((provider) => provider.Id === id));
    if (unknown !== undefined) {
      const known = PROVIDERS.map(({ Id }) => Id).join(", ");
      throw toolFailure("invalid_arguments", `There is no provider ${unknown}. Known are ${known}.`);
    }
    await wait(args.number("SimulatedSeconds", 0));
    const extensions = args.texts("FileExtensions").map((one) => `.${one.replace(/^\./, "")}`);
    const types = args.texts("AssetTypes");
    const below = glob(args.text("PathFilter", ""));
    const matching = FOUND.filter(
      ({ Provider, Type, Path }) =>
        (asked.length === 0 || asked.includes(Provider)) &&
        (extensions.length === 0 || extensions.some((one) => Path.endsWith(one))) &&
        (types.length === 0 || types.includes(Type)) &&
        below(Path),
    );
    const withDescription = args.flag("IncludeDescription", true);
    const Results = matching.slice(0, args.number("MaxResults", 50)).map((one, index) => ({
      ...one,
      Label: `${SearchQuery} ${index}`,
      ...(withDescription ? { Description: one.Path } : {}),
    }));
    return { SearchQuery, TotalCount: matching.length, DisplayedCount: Results.length, Results };
  },
});

export const getProviderDetails = bridgeTool("get-provider-details", {
  async run({ args }) {
    const id = args.text("ProviderId", "");
    const withDescription = args.flag("IncludeDescriptions", true);
    const Providers = PROVIDERS.filter((provider) => id === "" || provider.Id === id).map((provider) => ({
      ...provider,
      ...(withDescription ? { Description: `Finds what ${provider.DisplayName} has` } : {}),
    }));
    return { TotalCount: Providers.length, ActiveCount: Providers.length, Providers };
  },
});

/** `*` stands for any text; empty for every path. */
function glob(filter: string): (path: string) => boolean {
  if (filter === "") return () => true;
  const parts = filter.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`^${parts.join(".*")}$`);
  return (path) => pattern.test(path);
}
