/** What becomes of a call's arguments: what is nearly right is put right, what only the Editor can know is left to it, the rest is named. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readArguments } from "../../../src/gateway/catalog.js";
import type { JsonObject } from "../../../src/shared/operation/decide.js";

const SCHEMA = {
  properties: {
    MenuItemPath: { type: "string" },
    Count: { type: "integer", minimum: 1, maximum: 10 },
    Ratio: { type: "number" },
    Dry: { type: "boolean" },
    Mode: { type: "string", enum: ["EditMode", "PlayMode"] },
    Words: { type: "array", items: { type: "string" } },
    Inner: {
      type: "object",
      properties: { Key: { type: "string" }, Weight: { type: "integer" } },
      required: ["Key"],
      additionalProperties: false,
    },
    Inners: { type: "array", items: { type: "object", properties: { Key: { type: "string" } } } },
    Values: { type: "object", additionalProperties: { type: "number" } },
    Anything: {},
    OrNull: { type: ["string", "null"] },
  },
  required: ["MenuItemPath"],
  additionalProperties: false,
};
const read = (args: JsonObject, schema: object = SCHEMA) =>
  readArguments({ type: "object", ...schema }, args);
const PATH = { MenuItemPath: "a" };

describe("what is nearly right is put right", () => {
  test.each<[string, JsonObject, JsonObject]>([
    ["nothing to do", { ...PATH, Count: 3 }, { ...PATH, Count: 3 }],
    ["camelCase", { menuItemPath: "a", count: 3 }, { ...PATH, Count: 3 }],
    ["snake_case", { menu_item_path: "a", or_null: "b" }, { ...PATH, OrNull: "b" }],
    ["kebab-case and capitals", { "menu-item-path": "a", MODE: "EditMode" }, { ...PATH, Mode: "EditMode" }],
    [
      "names within",
      { ...PATH, inner: { key: "k" }, inners: [{ key: "k" }] },
      { ...PATH, Inner: { Key: "k" }, Inners: [{ Key: "k" }] },
    ],
    [
      "null for what is not used",
      { ...PATH, Count: null, Dry: null, Mode: null, Words: null, Inner: null },
      PATH,
    ],
    ['"" for what is not used', { ...PATH, Count: "", Dry: "", Mode: "", Words: "", Inner: "" }, PATH],
    ["null within", { ...PATH, Inner: { Key: "k", Weight: null } }, { ...PATH, Inner: { Key: "k" } }],
    [
      'null and "" where they are values',
      { MenuItemPath: "", OrNull: null, Anything: null },
      { MenuItemPath: "", OrNull: null, Anything: null },
    ],
    [
      "numbers and booleans as text",
      { ...PATH, Count: "3", Ratio: " 1.5 ", Dry: "True" },
      { ...PATH, Count: 3, Ratio: 1.5, Dry: true },
    ],
    ["a whole number with a point", { ...PATH, Count: 3.0 }, { ...PATH, Count: 3 }],
    ["a choice in other letters", { ...PATH, Mode: "editmode" }, { ...PATH, Mode: "EditMode" }],
    ["one spelling unused, the other used", { menuItemPath: null, menu_item_path: "a" }, PATH],
    ["the right spelling unused, another used", { menuItemPath: "a", MenuItemPath: null }, PATH],
    [
      "a name of JavaScript's own",
      JSON.parse('{"MenuItemPath":"a","Values":{"__proto__":1}}'),
      JSON.parse('{"MenuItemPath":"a","Values":{"__proto__":1}}'),
    ],
  ])("%s", (_what, args, expected) => {
    expect(read(args)).toEqual({ arguments: expected, faults: [] });
  });

  test("null and an empty text for a choice whose type nobody says, and the name that fills nothing in a map", () => {
    const schema = { properties: { Mode: { enum: ["a"] }, Map: { type: "object" } } };
    expect(read({ Mode: "", Map: { random_string: "a" } }, schema)).toEqual({
      arguments: { Map: { random_string: "a" } },
      faults: [],
    });
    expect(read({ Nothing: 1 }, { properties: { Nothing: { type: "null" } } }).faults).toEqual([
      { path: "/Nothing", reason: "Nothing must be null, not 1" },
    ]);
  });

  test("a tool without parameters takes what clients send that cannot send nothing", () => {
    expect(read({ random_string: "dummy" }, { properties: {}, additionalProperties: false })).toEqual({
      arguments: {},
      faults: [],
    });
  });

  test("an open schema keeps what it does not know, and what two spellings would make one", () => {
    const open = { properties: { Name: { type: "string" } } };
    expect(read({ name: "a", other: null }, open).arguments).toEqual({ Name: "a", other: null });
    expect(read({ Name: "a", name: "b" }, open).arguments).toEqual({ Name: "a", name: "b" });
    const alike = { properties: { user_id: {}, userId: {} }, additionalProperties: false };
    expect(read({ userId: 1, user_id: 2 }, alike).arguments).toEqual({ userId: 1, user_id: 2 });
  });
});

describe("what is wrong is named in a clause", () => {
  test.each<[JsonObject, string, string]>([
    [{}, "/MenuItemPath", "MenuItemPath is missing"],
    [{ MenuItemPath: null }, "/MenuItemPath", "MenuItemPath is missing"],
    [{ MenuItemPath: 7 }, "/MenuItemPath", "MenuItemPath must be a string, not 7"],
    [{ ...PATH, Count: "abc" }, "/Count", 'Count must be an integer, not the text "abc"'],
    [{ ...PATH, Count: 1.5 }, "/Count", "Count must be an integer, not 1.5"],
    [{ ...PATH, Count: 0 }, "/Count", "Count must be at least 1, not 0"],
    [{ ...PATH, Count: 11 }, "/Count", "Count must be at most 10, not 11"],
    [
      { ...PATH, Count: "9007199254740993" },
      "/Count",
      'Count must be an integer, not the text "9007199254740993"',
    ],
    [{ ...PATH, Dry: "yes" }, "/Dry", 'Dry must be a boolean, not the text "yes"'],
    [{ ...PATH, Words: "a" }, "/Words", 'Words must be an array, not the text "a"'],
    [{ ...PATH, Words: ["a", null] }, "/Words/1", "Words[1] must be a string, not null"],
    [{ ...PATH, Inner: [] }, "/Inner", "Inner must be an object, not an array"],
    [{ ...PATH, inner: {} }, "/inner/Key", "inner.Key is missing"],
    [
      { ...PATH, Inners: [{}, { Key: {} }] },
      "/Inners/1/Key",
      "Inners[1].Key must be a string, not an object",
    ],
    [{ ...PATH, Values: { a: "b" } }, "/Values/a", 'Values.a must be a number, not the text "b"'],
    [{ ...PATH, OrNull: 1 }, "/OrNull", "OrNull must be a string, not 1"],
    [
      { ...PATH, Mode: "Edit" },
      "/Mode",
      'Mode must be one of EditMode, PlayMode, not the text "Edit" (did you mean EditMode?)',
    ],
    [{ ...PATH, Mode: 1 }, "/Mode", "Mode must be a string, not 1"],
    [{ ...PATH, Conut: 1 }, "/Conut", "there is no parameter Conut (did you mean Count?)"],
    [{ ...PATH, Inner: { Key: "k", "a/b": 1 } }, "/Inner/a~1b", "there is no parameter Inner.a/b"],
    [{ ...PATH, menu_item_path: "b" }, "/menu_item_path", "MenuItemPath is given twice"],
  ])("%j", (args, path, reason) => {
    expect(read(args).faults).toEqual([{ path, reason }]);
  });

  test("faults are few and short, whatever the arguments are", () => {
    const names = Array.from({ length: 100 }, (_, n) => [`${n}${"k".repeat(10_000)}`, "a"]);
    const { faults } = read(Object.fromEntries(names));
    expect(faults).toHaveLength(20);
    expect(JSON.stringify(faults).length).toBeLessThan(15_000);
  });
});

test.each<[string, object, JsonObject]>([
  ["a pattern", { properties: { A: { type: "string", pattern: "^(a+)+$" } } }, { A: `${"a".repeat(60)}!` }],
  ["a reference", { properties: { A: { $ref: "#/$defs/a" } }, $defs: { a: { type: "string" } } }, { A: 1 }],
  ["a combination", { properties: { A: { anyOf: [{ type: "string" }] } } }, { A: 1 }],
  ["names by pattern", { patternProperties: { "^a": {} }, additionalProperties: false }, { abc: 1 }],
  ["a type of another dialect", { properties: { A: { type: "float" } } }, { A: "x" }],
  ["a schema that is none", { properties: 1, required: true, additionalProperties: 1 } as object, { A: "x" }],
])("%s is left to the Editor", (_what, schema, args) => {
  expect(read(args, schema)).toEqual({ arguments: args, faults: [] });
});

test("a large schema and large arguments take no time that grows with both", () => {
  const words = Array.from({ length: 50_000 }, (_, n) => `Word${n}`);
  const schema = {
    properties: {
      A: { type: "array", items: { type: "string", enum: words } },
      B: { type: "array", items: { required: words } },
    },
  };
  const many = {
    A: Array.from({ length: 100_000 }, (_, n) => `word${n % 50_000}`),
    B: new Array(100_000).fill({}),
  };
  const { arguments: read_, faults } = read(many, schema);
  expect((read_.A as string[])[49_999]).toBe("Word49999");
  expect(faults).toHaveLength(20);
});

const NAME = fc.constantFrom("Name", "name", "NAME", "na_me", "Other", "__proto__", "constructor");
const { schema: ANY_SCHEMA } = fc.letrec((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.jsonValue(),
    fc.record(
      {
        type: fc.oneof(fc.constantFrom("string", "integer", "object", "array", "null", "x"), fc.jsonValue()),
        properties: fc.dictionary(NAME, tie("schema"), { maxKeys: 3 }),
        required: fc.oneof(fc.array(NAME), fc.jsonValue()),
        items: tie("schema"),
        additionalProperties: tie("schema"),
        enum: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()),
        nullable: fc.boolean(),
        minimum: fc.jsonValue(),
      },
      { requiredKeys: [] },
    ),
  ),
}));

test("what may be chosen is told, whatever it is", () => {
  const { faults } = read({ A: "x" }, { properties: { A: { enum: ["a", 3, null, { toString: false }] } } });
  expect(faults).toEqual([
    {
      path: "/A",
      reason: 'A must be one of a, 3, null, {"toString":false}, not the text "x" (did you mean a?)',
    },
  ]);
});

test("whatever the schema and the arguments are, reading them twice is reading them once", () => {
  fc.assert(
    fc.property(ANY_SCHEMA, fc.dictionary(NAME, fc.jsonValue()), (schema, args) => {
      const described = typeof schema === "object" && schema !== null && !Array.isArray(schema) ? schema : {};
      const once = read(args, described);
      if (once.faults.length > 0) return;
      expect(read(once.arguments, described)).toEqual(once);
    }),
    { numRuns: 500 },
  );
});
