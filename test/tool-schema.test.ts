/** An Editor's schemas are input: they neither end nor hold up whoever checks by them. */
import { expect, test } from "vitest";
import { createToolSchema } from "../src/gateway/tool-schema.js";
import { completeTool } from "../src/shared/tool.js";

const schemaOf = (inputSchema: object) => {
  const problems: string[] = [];
  const schema = createToolSchema((_tool, error) => problems.push(error.message));
  const tool = completeTool({
    name: "work",
    description: "",
    inputSchema: { type: "object", ...inputSchema },
  });
  const check = (args: object): void => schema.check(tool, args as never, JSON.stringify(args).length);
  return { check, problems };
};

test("an asynchronous schema checks nothing, and leaves no rejection behind", async () => {
  const rejections: unknown[] = [];
  const note = (reason: unknown): void => void rejections.push(reason);
  process.on("unhandledRejection", note);
  const { check, problems } = schemaOf({ $async: true, required: ["Name"] });
  check({});
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  expect(problems).toEqual(["a schema must not be asynchronous"]);
  expect(rejections).toEqual([]);
});

test("a pattern that backtracks without end is answered at once", () => {
  const { check, problems } = schemaOf({ properties: { Name: { pattern: "^(a+)+$" } } });
  expect(() => check({ Name: `${"a".repeat(40)}!` })).toThrow(/Name must match pattern/);
  check({ Name: "a".repeat(40) });
  expect(problems).toEqual([]);
});

test("each pattern is its own", () => {
  const { check } = schemaOf({ properties: { A: { pattern: "^a$" }, B: { pattern: "^b$" } } });
  check({ A: "a", B: "b" });
  expect(() => check({ A: "b", B: "b" })).toThrow(/\/A must match/);
  expect(() => check({ A: "a", B: "a" })).toThrow(/\/B must match/);
});

test("what RE2 cannot match, and what is too large, checks nothing and is told", () => {
  const lookahead = schemaOf({ properties: { Name: { pattern: "^(?=a)a$" } } });
  lookahead.check({ Name: "b" });
  expect(lookahead.problems).toHaveLength(1);
  const large = schemaOf({ properties: { Name: { description: "x".repeat(100_000) } }, required: ["Name"] });
  large.check({});
  expect(large.problems[0]).toContain("above");
});

test.each<[string, object, string]>([
  ["to itself", { allOf: [{ $ref: "#" }] }, "itself"],
  ["around", { $defs: { a: { $ref: "#/$defs/b" }, b: { not: { $ref: "#/$defs/a" } } } }, "itself"],
  ["into the depth of what it checks", { properties: { child: { $ref: "#" } } }, "itself"],
  ["elsewhere", { $ref: "http://example.com/schema" }, "must not refer to"],
  ["by an anchor", { $ref: "#here", $defs: { a: { $anchor: "here" } } }, "must not refer to"],
  ["from another base", { $defs: { a: { $id: "http://a", $ref: "#" } } }, "$id"],
  ["when it is run", { $dynamicRef: "#a" }, "$dynamicRef"],
])("a schema that refers %s checks nothing and is told", (_where, schema, why) => {
  const { check, problems } = schemaOf(schema);
  check({ child: { child: {} } });
  expect(problems[0]).toContain(why);
});

test("one that doubles with each reference checks nothing and is told", () => {
  const LEVELS = 40;
  const level = (n: number): object => {
    const next = { $ref: `#/$defs/l${n + 1}` };
    return n === LEVELS ? { type: "object" } : { allOf: [next, next] };
  };
  const $defs = Object.fromEntries(Array.from({ length: LEVELS + 1 }, (_, n) => [`l${n}`, level(n)]));
  const { check, problems } = schemaOf({ $defs, $ref: "#/$defs/l0" });
  check({ Name: "a" });
  expect(problems[0]).toContain("parts is above");
});

test("one that refers to its parts checks what they say", () => {
  const { check, problems } = schemaOf({
    $defs: { "a/b~c d": { type: "string" } },
    properties: { A: { $ref: "#/$defs/a~1b~0c%20d" }, B: { items: { $ref: "#/$defs/a~1b~0c%20d" } } },
  });
  check({ A: "a", B: ["b"] });
  expect(() => check({ A: 1 })).toThrow(/\/A must be string/);
  expect(() => check({ B: [1] })).toThrow(/\/B\/0 must be string/);
  expect(problems).toEqual([]);
});

test("what would take too long with these arguments is left to the Editor, and told", () => {
  const patterns = Array.from({ length: 800 }, (_, n) => [`^${n}$`, { type: "string" }]);
  const { check, problems } = schemaOf({ patternProperties: Object.fromEntries(patterns) });
  expect(() => check({ 7: 1 })).toThrow(/must be string/);
  check(Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [n, 1])));
  expect(problems[0]).toContain("is not checked with");
});

test("items are not compared with each other", () => {
  const { check, problems } = schemaOf({ properties: { A: { uniqueItems: true } } });
  check({ A: Array.from({ length: 30_000 }, (_, n) => ({ n: n % 2 })) });
  expect(problems).toEqual([]);
});

test("arguments that the validator cannot compare are left to the Editor, and told", () => {
  const { check, problems } = schemaOf({ properties: { A: { const: { b: 1 } } } });
  expect(() => check({ A: { b: 2 } })).toThrow(/must be equal to constant/);
  check({ A: { valueOf: 1 } });
  expect(problems[0]).toContain("valueOf");
});
