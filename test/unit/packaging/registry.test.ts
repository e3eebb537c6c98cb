/** The entry in the MCP registry: its form, and that it names what is published. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { withBundle } from "../../../packaging/registry/with-bundle.js";
import { CONFIG } from "../../../src/shared/config.js";
import { jsonOf } from "../../harness/packaging/files.js";
import { RegistryEntry } from "../../harness/packaging/formats.js";

interface Package {
  name: string;
  version: string;
  mcpName: string;
  bin: Record<string, string>;
}
const entry = RegistryEntry.parse(jsonOf("packaging/registry/server.json"));
const published = jsonOf<Package>("package.json");

describe("the registry's entry", () => {
  test("names the npm package, which names the entry: the registry compares both", () => {
    expect(published.mcpName).toBe(entry.name);
    const [npm, ...others] = entry.packages;
    expect(others).toEqual([]);
    expect(npm).toMatchObject({
      registryType: "npm",
      identifier: published.name,
      version: published.version,
    });
    // npx runs the command that is called as the package is.
    expect(Object.keys(published.bin)).toContain(npm?.identifier);
    expect(npm?.packageArguments?.map(({ value }) => value)).toEqual(["mcp"]);
  });

  test("asks for no variable that the broker does not read", () => {
    const asked = entry.packages.flatMap(({ environmentVariables = [] }) => environmentVariables);
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.map(({ name }) => name).filter((name) => !(name in CONFIG))).toEqual([]);
  });

  test("of a release has the bundle too, by its hash", () => {
    const bundle = Buffer.from("a bundle");
    const url = "https://github.com/o/r/releases/download/v1.2.3/unity-job-broker.mcpb";
    const of = RegistryEntry.parse(withBundle(bundle, url));
    expect(of).toMatchObject({ name: entry.name, version: entry.version });
    expect(of.packages).toEqual([
      ...entry.packages,
      {
        registryType: "mcpb",
        identifier: url,
        version: entry.version,
        fileSha256: createHash("sha256").update(bundle).digest("hex"),
        transport: { type: "stdio" },
      },
    ]);
  });

  test.each([
    ["a misspelt field", { ...entry, titel: "x" }],
    ["a description that is too long", { ...entry, description: "x".repeat(101) }],
    ["a name without a namespace", { ...entry, name: "unity-job-broker" }],
    ["a range of versions", { ...entry, packages: [{ ...entry.packages[0], version: "^1.0.0" }] }],
    ["a bundle without its hash", { ...entry, packages: [{ ...entry.packages[0], registryType: "mcpb" }] }],
  ])("with %s is refused", (_what, wrong) => {
    expect(RegistryEntry.safeParse(wrong).success).toBe(false);
  });
});
