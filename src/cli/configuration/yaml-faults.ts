/** What is wrong with YAML that can be read: names that are there twice, aliases, and what other formats and versions have. */
import type * as Yaml from "yaml";

interface Fault {
  /** Where it is in the text. */
  offset: number;
  what(placeAt: (offset: number) => { line: number }): string;
}

/** Looks at each node once, however large the file is. `targets`: what each alias names. */
export function examined(
  document: Yaml.Document.Parsed,
  yaml: typeof Yaml,
): { faults: Fault[]; targets: Map<Yaml.Alias, Yaml.Node> } {
  const faults: Fault[] = [];
  const anchors = new Map<string, Yaml.Node>();
  const targets = new Map<Yaml.Alias, Yaml.Node>();
  const startOf = (node: Yaml.Node): number => node.range?.[0] ?? 0;
  const fault = (node: Yaml.Node, what: Fault["what"]): void => {
    faults.push({ offset: startOf(node), what });
  };

  const examineKeys = (map: Yaml.YAMLMap): void => {
    const seen = new Map<string, Yaml.Node>();
    for (const { key } of map.items) {
      if (!yaml.isScalar(key)) continue;
      const name = String(key.value);
      const first = seen.get(name);
      if (first) fault(key, (placeAt) => `${name} is there already, in line ${placeAt(startOf(first)).line}`);
      else if (name === "<<") fault(key, () => "YAML 1.2 has no merge keys: write the keys out");
      else if (/^\/[/*]/.test(name)) fault(key, () => "comments begin with #, in JSON too");
      seen.set(name, first ?? key);
    }
  };

  yaml.visit(document, (_key, node, path) => {
    if (yaml.isAlias(node)) {
      const named = anchors.get(node.source);
      if (!named) fault(node, () => `*${node.source} names nothing: &${node.source} must stand before it`);
      else if (path.includes(named)) fault(node, () => `*${node.source} is within what it names`);
      else targets.set(node, named);
    } else if (yaml.isScalar(node) || yaml.isCollection(node)) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
      if (yaml.isMap(node)) examineKeys(node);
    }
  });
  if (faults.length === 0) {
    try {
      document.toJS();
    } catch {
      const [first] = targets.keys();
      faults.push({ offset: first ? startOf(first) : 0, what: () => TOO_MANY });
    }
  }
  return { faults, targets };
}

/** The parser's own limit against texts that grow without bounds. */
const TOO_MANY =
  "from here on, aliases stand for too much: more than 100 uses of one anchor, those within others counted";
