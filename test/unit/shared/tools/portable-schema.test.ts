/** Which schemas models are offered: those of three APIs' rules, whatever an Editor describes. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BROKER_TOOLS } from "../../../../src/gateway/mcp/tools/broker-tools.js";
import { createToolList } from "../../../../src/gateway/mcp/tools/tool-list.js";
import { portableSchema } from "../../../../src/shared/tools/portable-schema.js";
import { completeTool, type JsonObjectSchema } from "../../../../src/shared/tools/tool.js";
import { WAITS } from "../../../../src/shared/wait-time.js";
import { BRIDGE_TOOLS } from "../../../../src/simulator/catalogue/bridge-tool.js";
import { refusalsOf } from "../../../harness/mcp/model-apis.js";
import { SILENT } from "../../../harness/silent.js";

const listed = (schema: object, name = "work"): JsonObjectSchema | string => {
  const portable = portableSchema({ name, inputSchema: { type: "object", ...schema } });
  return "reason" in portable ? portable.reason : portable.inputSchema;
};
const propertyOf = (schema: object): unknown => {
  const portable = listed({ properties: { A: schema } });
  return typeof portable === "string" ? portable : portable.properties?.A;
};

const ANY = { anyOf: expect.arrayContaining([{ type: "string" }, { type: "object" }]) };

describe("one parameter", () => {
  test.each<[string, object, unknown]>([
    ["a list of anything", { type: "array" }, { type: "array", items: ANY }],
    ["a list of anything, said by true", { type: "array", items: true }, { type: "array", items: ANY }],
    [
      "a list by position",
      { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
      { type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } },
    ],
    ["a text or null", { type: ["string", "null"], description: "D" }, { type: "string", description: "D" }],
    ["a text or null by anyOf", { anyOf: [{ type: "string" }, { type: "null" }] }, { type: "string" }],
    [
      "a text or a number",
      { type: ["string", "number"], default: "a", description: "D" },
      { anyOf: [{ type: "string" }, { type: "number" }], description: "D" },
    ],
    [
      "one of several, each with its constant",
      { oneOf: [{ const: "a" }, { const: "b", title: "B" }] },
      {
        anyOf: [
          { type: "string", enum: ["a"] },
          { type: "string", enum: ["b"], description: "B" },
        ],
      },
    ],
    [
      "all of several",
      { allOf: [{ type: "string" }, { description: "D" }] },
      { type: "string", description: "D" },
    ],
    ["words without a type", { enum: ["a", "b", "", null] }, { type: "string", enum: ["a", "b"] }],
    [
      "numbers to choose from",
      { enum: [1, 2], description: "D" },
      { type: "number", description: "D One of 1, 2." },
    ],
    [
      "a bound, a format and a pattern",
      { type: "number", minimum: 1, exclusiveMaximum: 3, format: "f" },
      { type: "number", minimum: 1 },
    ],
    ["anything", {}, ANY],
    ["what no schema is", "string" as never, ANY],
    [
      "an object that requires what it does not have",
      { type: "object", properties: { B: {} }, required: ["B", "C"], additionalProperties: false },
      { type: "object", properties: { B: ANY }, required: ["B"] },
    ],
    [
      "an object with a name that models cannot write",
      { type: "object", properties: { "a b": {} } },
      { type: "object" },
    ],
    [
      "a mark that has clients repeat arguments in headers, which nobody compares with the body",
      { type: "string", "x-mcp-header": "Region" },
      { type: "string" },
    ],
    ["what an empty default says", { type: "boolean", default: false }, { type: "boolean" }],
  ])("%s", (_what, schema, expected) => {
    expect(propertyOf(schema)).toEqual(expected);
  });
});

describe("a whole tool", () => {
  test("references are written out, and one that refers to itself is described once", () => {
    const node = {
      type: "object",
      properties: {
        Name: { type: "string" },
        Children: { type: "array", items: { $ref: "#/$defs/a~1node" } },
      },
    };
    const schema = {
      $defs: { "a/node": node },
      properties: { Root: { $ref: "#/$defs/a~1node", description: "D" } },
    };
    expect(listed(schema)).toEqual({
      type: "object",
      properties: {
        Root: {
          type: "object",
          description: "D",
          properties: { Name: { type: "string" }, Children: { type: "array", items: { type: "object" } } },
        },
      },
    });
  });

  test("what its alternatives have is offered, and only what all of them need is required", () => {
    const alternatives = [
      { properties: { Url: { type: "string" } }, required: ["Url"] },
      { properties: { File: { type: "string" } }, required: ["File"] },
    ];
    const own = { properties: { Name: { type: "string" } }, required: ["Name"] };
    const text = { type: "string" };
    for (const keyword of ["anyOf", "oneOf"])
      expect(listed({ ...own, [keyword]: alternatives })).toEqual({
        type: "object",
        properties: { Name: text, Url: text, File: text },
        required: ["Name"],
      });
    expect(listed({ ...own, allOf: alternatives })).toMatchObject({ required: ["Name", "Url", "File"] });
    expect(listed({ ...own, anyOf: [{ required: ["Name"] }, { maxProperties: 1 }] })).toEqual({
      type: "object",
      properties: { Name: text },
      required: ["Name"],
    });
  });

  test.each<[string, string, object]>([
    ["its name has a slash", "a/b", {}],
    ["its name is long", "a".repeat(65), {}],
    ["its name begins with a digit", "3d", {}],
    [
      "it needs a parameter that models cannot name",
      "work",
      { properties: { "a b": {} }, required: ["a b"] },
    ],
    [
      "its references double",
      "work",
      {
        $defs: Object.fromEntries(
          Array.from({ length: 30 }, (_, at) => [
            `n${at}`,
            { properties: { A: { $ref: `#/$defs/n${at + 1}` }, B: { $ref: `#/$defs/n${at + 1}` } } },
          ]),
        ),
        properties: { A: { $ref: "#/$defs/n0" } },
      },
    ],
  ])("is left out with a reason if %s", (_why, name, schema) => {
    expect(listed(schema, name)).toEqual(expect.stringMatching(/^(models take|it requires|its schema has) /));
  });
});

const KEYWORDS = [
  ...[
    "type",
    "properties",
    "required",
    "items",
    "prefixItems",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
  ],
  ...[
    "$ref",
    "$defs",
    "definitions",
    "$schema",
    "$id",
    "$anchor",
    "if",
    "then",
    "default",
    "description",
    "title",
  ],
  ...["minimum", "maxLength", "pattern", "format", "additionalProperties", "patternProperties", "nullable"],
];
const NAMES = ["A", "a b", "größe", "x".repeat(70), "$top", "__proto__", "constructor", "timeout"];
const WORDS = ["string", "number", "integer", "boolean", "array", "object", "null", "float", "any"];
const REFS = ["#", "#/$defs/A", "#/properties/A", "#/nowhere", "https://example.com/a", "#anchor"];

const { schema: HOSTILE } = fc.letrec<{ schema: unknown; value: unknown }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "medium", withCrossShrink: true },
    fc.record({ type: fc.oneof(fc.constantFrom(...WORDS), fc.subarray(WORDS)) }),
    fc.record({ $ref: fc.constantFrom(...REFS) }),
    fc.record({
      type: fc.constant("object"),
      properties: fc.dictionary(fc.constantFrom(...NAMES), tie("schema"), { maxKeys: 4 }),
      required: fc.subarray(NAMES),
    }),
    fc.record({ anyOf: fc.array(tie("schema"), { maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie("schema"), { maxLength: 3 }), description: fc.string() }),
    fc.record({ allOf: fc.array(tie("schema"), { maxLength: 3 }), type: fc.constantFrom(...WORDS) }),
    fc.record({ $defs: fc.dictionary(fc.constantFrom(...NAMES), tie("schema"), { maxKeys: 2 }) }),
    fc.record({ enum: fc.array(fc.jsonValue(), { maxLength: 3 }), default: fc.jsonValue() }),
    fc.dictionary(fc.constantFrom(...KEYWORDS), tie("value"), { maxKeys: 4 }),
    fc.jsonValue(),
  ),
  value: fc.oneof(
    tie("schema"),
    fc.array(tie("schema"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie("schema"), { maxKeys: 3 }),
    fc.constantFrom<unknown>(...WORDS, ...REFS, true, 1, "(?P<a>"),
  ),
}));

test("whatever schema an Editor sends, what is listed of it no API refuses", () => {
  let lists = 0;
  fc.assert(
    fc.property(HOSTILE, (hostile) => {
      const schema =
        typeof hostile === "object" && hostile !== null && !Array.isArray(hostile) ? hostile : {};
      const inputSchema = JSON.parse(JSON.stringify({ ...schema, type: "object" }));
      const portable = portableSchema({ name: "work", inputSchema });
      if ("reason" in portable) return;
      lists += 1;
      expect(refusalsOf({ name: "work", inputSchema: portable.inputSchema })).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
  expect(lists).toBeGreaterThan(1_000);
});

test("the checker of those rules finds what each API refuses", () => {
  const hostile: [object, string][] = [
    [{ type: "array" }, "no items"],
    [{ type: ["string", "null"] }, "the type string,null"],
    [{ $ref: "#/$defs/a" }, "has $ref"],
    [{}, "not one of type and anyOf"],
    [{ type: "integer", enum: [1] }, "other words"],
    [{ type: "object", properties: { "a b": { type: "string" } } }, 'parameter "a b"'],
    [{ type: "object", required: ["b"] }, "requires b"],
  ];
  for (const [schema, why] of hostile) {
    const refused = refusalsOf({ name: "t", inputSchema: { type: "object", properties: { A: schema } } });
    expect(refused, why).toContainEqual(expect.stringContaining(why));
  }
  const atRoot = refusalsOf({ name: "a/b", inputSchema: { type: "object", anyOf: [] } });
  expect(atRoot.join()).toMatch(/the name a\/b.*anyOf at the root/);
});

test("all tools of the bridge and of the broker are listed, and no API refuses one", async () => {
  const offered = BRIDGE_TOOLS.map((details) => ({ ...completeTool(details), editors: ["e"] }));
  const notifier = { on: () => () => undefined, close: () => undefined };
  const list = createToolList({
    broker: { tools: async () => offered },
    notifier,
    log: SILENT,
    waits: WAITS,
  });
  const tools = await list.current("ann");
  list.close();
  expect(tools.map(({ name }) => name)).toEqual(
    [...offered.map(({ name }) => name), ...BROKER_TOOLS.keys()].sort(),
  );
  for (const tool of tools) expect(refusalsOf(tool), tool.name).toEqual([]);
});
