/** The one catalogue of the C# bridge and the simulator, read the way the broker reads it. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import type { JsonObjectSchema } from "../../../src/shared/tools/tool.js";
import { BRIDGE_TOOLS } from "../../../src/simulator/catalogue/bridge-tool.js";
import { createToolTable } from "../../../src/simulator/tools.js";

/** Of the simulator alone, for what no tool of the bridge does, and described as such. */
const OWN = "set-property";
const simulated = createToolTable().details();

/** A value that fits. */
function anyOf({ type, enum: words }: { type?: unknown; enum?: unknown[] } = {}): unknown {
  if (type === "array") return [];
  return type === "object" ? {} : (words?.[0] ?? "text");
}

describe("the bridge's tools and the simulated ones", () => {
  test("one is the simulator's own", () => {
    expect(simulated.find(({ name }) => name === OWN)?.description).toMatch(/^Simulator: /);
  });

  const shared = simulated.filter(({ name }) => name !== OWN).map((tool) => [tool.name, tool] as const);
  test.each(shared)("%s is the same, but for parameters of the simulation", (name, tool) => {
    const { inputSchema, parameterSchema, ...rest } = structuredClone(tool);
    const properties = (inputSchema as JsonObjectSchema).properties ?? {};
    for (const [parameter, schema] of Object.entries(properties)) {
      if (!parameter.startsWith("Simulated")) continue;
      expect(schema).not.toHaveProperty("description");
      expect(inputSchema?.required ?? []).not.toContain(parameter);
      delete properties[parameter];
      delete parameterSchema?.Properties[parameter];
    }
    expect({ ...rest, inputSchema, parameterSchema }).toEqual(
      BRIDGE_TOOLS.find((details) => details.name === name),
    );
  });

  const each = BRIDGE_TOOLS.map((details) => [details.name, details] as const);
  test.each(each)("%s is described twice alike", (_name, details) => {
    const schema = new Ajv2020({ strict: true }).compile(details.inputSchema ?? {});
    expect(schema({ NoSuchParameter: 1 })).toBe(false);
    const properties = (details.inputSchema?.properties ?? {}) as Record<
      string,
      { type?: unknown; default?: unknown; enum?: unknown[] }
    >;
    expect(Object.keys(details.parameterSchema?.Properties ?? {})).toEqual(Object.keys(properties));
    const defaults = Object.entries(properties).flatMap(([name, property]) =>
      property.default === undefined ? [] : [[name, property.default]],
    );
    const required = (details.parameterSchema?.Required ?? []).map((name) => [name, anyOf(properties[name])]);
    expect(schema(Object.fromEntries([...defaults, ...required]))).toBe(true);
  });
});
