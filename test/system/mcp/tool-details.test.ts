/** The C# bridge's catalogue, as its own tests hold it in golden/tool-details.json, read the way the broker reads it. */
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { completeTool, ToolDetails } from "../../../src/shared/tools/tool.js";
import { createToolTable } from "../../../src/simulator/tools.js";

const golden = ToolDetails.array().parse(
  JSON.parse(readFileSync(new URL("../../golden/tool-details.json", import.meta.url), "utf8")),
);
const bridge = new Map(golden.map((details) => [details.name, completeTool(details)]));
const simulated = createToolTable()
  .details()
  .map(completeTool)
  .filter((tool) => bridge.has(tool.name));

/** What only the simulator has, or has otherwise, and why. */
const OTHERWISE: Record<string, string> = {
  "build-player cancellable": "nothing can stop BuildPipeline.BuildPlayer from outside",
  "get-provider-details cancellable": "it is a lookup that ends at once",
  "get-provider-details executionClass": "the same",
  "get-hierarchy Size": "the simulator's scene has a size, a real one does not",
  "find-game-objects RequiredComponent": "the bridge has uLoop's RequiredComponents, a list",
};

describe("the bridge's tools and the simulated ones", () => {
  test("every tool of the bridge is simulated", () => {
    expect(simulated.map((tool) => tool.name).sort()).toEqual([...bridge.keys()].sort());
  });

  test.each(simulated.map((tool) => [tool.name, tool] as const))(
    "%s behaves alike in the broker",
    (name, tool) => {
      const real = bridge.get(name);
      if (!real) throw new Error(`The bridge has no ${name}.`);
      for (const field of ["effect", "lane", "resumable", "cancellable", "executionClass"] as const) {
        if (!(`${name} ${field}` in OTHERWISE)) expect([field, real[field]]).toEqual([field, tool[field]]);
      }
      expect(real.annotations.destructiveHint).toBe(tool.annotations.destructiveHint);
      const known = Object.keys(real.inputSchema.properties ?? {});
      const wanted = Object.keys(tool.inputSchema.properties ?? {}).filter(
        (parameter) => !parameter.startsWith("Simulated") && !(`${name} ${parameter}` in OTHERWISE),
      );
      expect(known).toEqual(expect.arrayContaining(wanted));
      expect(real.inputSchema.required ?? []).toEqual(tool.inputSchema.required ?? []);
    },
  );

  test.each(golden.map((details) => [details.name, details] as const))(
    "%s is described twice alike",
    (_name, details) => {
      const schema = new Ajv2020({ strict: true }).compile(details.inputSchema ?? {});
      expect(schema({ NoSuchParameter: 1 })).toBe(false);
      const properties = (details.inputSchema?.properties ?? {}) as Record<string, { default?: unknown }>;
      expect(Object.keys(details.parameterSchema?.Properties ?? {})).toEqual(Object.keys(properties));
      const defaults = Object.entries(properties).flatMap(([name, property]) =>
        property.default === undefined ? [] : [[name, property.default]],
      );
      const required = (details.parameterSchema?.Required ?? []).map((name) => [name, "text"]);
      expect(schema(Object.fromEntries([...defaults, ...required]))).toBe(true);
    },
  );
});
