/** An Editor's schemas are input: they neither end nor hold up a gateway that checks by them. */
import { afterEach, describe, expect, test } from "vitest";
import { createSchemaCheck } from "../../../src/gateway/tools/schema-check.js";
import {
  createToolSchema,
  TOOL_SCHEMA_DEFAULTS,
  type ToolSchemaOptions,
} from "../../../src/gateway/tools/tool-schema.js";
import { completeTool, type Tool } from "../../../src/shared/tools/tool.js";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const PATIENT = { timeoutMs: 60_000 };

const openSchema = (options: Partial<ToolSchemaOptions> = PATIENT) => {
  const problems: string[] = [];
  const schema = createToolSchema((_tool, reason) => problems.push(reason), options);
  closers.push(schema.close);
  const toolOf = (inputSchema: object, name = "work") =>
    completeTool({ name, description: "", inputSchema: { type: "object", ...inputSchema } });
  return {
    problems,
    schema,
    close: schema.close,
    toolOf,
    check: (tool: Tool, args: object): Promise<void> => schema.check(tool, JSON.stringify(args)),
  };
};

const schemaOf = (inputSchema: object, options?: Partial<ToolSchemaOptions>) => {
  const { check, problems, toolOf } = openSchema(options);
  const tool = toolOf(inputSchema);
  return { check: (args: object) => check(tool, args), problems };
};

describe("compiled ahead", () => {
  test.each([
    ["plain", { properties: { Name: { type: "string" } }, required: ["Name"] }, 0],
    ["one for the thread", { properties: { Name: { pattern: "^a" } }, required: ["Name"] }, 1],
  ])(
    "%s: it starts no more threads than its check needs, and the check is the same",
    async (_, given, threads) => {
      let started = 0;
      const { schema, toolOf, check, problems } = openSchema({
        ...PATIENT,
        start: (heap) => {
          started += 1;
          return TOOL_SCHEMA_DEFAULTS.start(heap);
        },
      });
      const tool = toolOf(given);
      await schema.prepare(tool);
      expect(started).toBe(threads);
      await expect(check(tool, {})).rejects.toMatchObject({ code: "INVALID_ARGUMENTS" });
      expect(started).toBe(threads);
      expect(problems).toEqual([]);
    },
  );

  test("one that is broken says so when it is used", async () => {
    const { schema, toolOf, check, problems } = openSchema();
    const tool = toolOf({ properties: { Name: { type: "no such type" } } });
    await schema.prepare(tool);
    expect(problems).toEqual([]);
    await check(tool, {});
    expect(problems).toEqual([expect.stringContaining("schema is invalid")]);
  });
});

test("an asynchronous schema checks nothing, and is told", async () => {
  const { check, problems } = schemaOf({ $async: true, required: ["Name"] });
  await check({});
  expect(problems).toEqual(["a schema must not be asynchronous"]);
});

test("what is too large checks nothing, and is told once", async () => {
  const large = { properties: { Name: { description: "x".repeat(600_000) } }, required: ["Name"] };
  const { check, problems } = schemaOf(large);
  await check({});
  await check({});
  expect(problems).toEqual([expect.stringContaining("exceeds the limit")]);
});

describe("what would take for ever is ended, and then the next call is checked", () => {
  const HONEST = { required: ["Name"] };

  test.each<[string, object, object]>([
    [
      "a pattern that backtracks",
      { properties: { Name: { pattern: "^(a+)+$" } } },
      { Name: `${"a".repeat(60)}!` },
    ],
    [
      "a schema that doubles with each reference",
      {
        $defs: Object.fromEntries(
          Array.from({ length: 60 }, (_, n) => [
            `l${n}`,
            { allOf: [{ $ref: `#/$defs/l${n + 1}` }, { $ref: `#/$defs/l${n + 1}` }] },
          ]).concat([["l60", { type: "object" } as never]]),
        ),
        $ref: "#/$defs/l0",
      },
      {},
    ],
    [
      "faults without number",
      { properties: { A: { items: { allOf: Array.from({ length: 9_000 }, () => false) } } } },
      { A: new Array(5_000).fill(0) },
    ],
  ])("%s", async (_what, schema, args) => {
    const { check, problems, toolOf } = openSchema({ timeoutMs: 2_000, maxHeapMb: 64 });
    const first = check(toolOf(schema, "hostile"), args);
    // Asked at the same time.
    const honest = expect(check(toolOf(HONEST), {})).rejects.toThrow(/must have required property 'Name'/);
    await first;
    await honest;
    expect(problems).toEqual([expect.stringMatching(/longer than|memory/)]);
  });

  test("and its tool's next schemas are not tried at once", async () => {
    const { check, problems, toolOf } = openSchema({ timeoutMs: 300, restMs: 60_000 });
    const hostile = (n: number) => ({ properties: { [`N${n}`]: { pattern: "^(a+)+$" } } });
    await check(toolOf(hostile(0)), { N0: `${"a".repeat(60)}!` });
    expect(problems).toHaveLength(1);
    for (let n = 1; n < 20; n += 1) await check(toolOf(hostile(n)), { [`N${n}`]: `${"a".repeat(60)}!` });
    expect(problems).toHaveLength(1);
  });
});

test("a tool whose checks are slow again and again rests, too", async () => {
  const { check, toolOf } = openSchema({ timeoutMs: 2_000, restMs: 60_000 });
  const tool = toolOf({ properties: { A: { uniqueItems: true } }, required: ["Name"] });
  const answer = (items: number): Promise<unknown> =>
    check(tool, { A: [...Array(Math.floor(items)).keys()] }).catch(() => "refused");
  const tookMs = async (items: number): Promise<number> => {
    const begun = performance.now();
    await answer(items);
    return performance.now() - begun;
  };
  let items = 1_000;
  await answer(items);
  while ((await tookMs(items)) < 400) items *= 1.4;
  let checks = 0;
  while (checks < 20 && (await answer(items)) === "refused") checks += 1;
  expect(checks).toBeLessThan(20);
});

test("a check waits for those of other tools only for a while", async () => {
  const { check, problems, toolOf } = openSchema({ timeoutMs: 60_000, waitMs: 100 });
  const slow = toolOf({ properties: { Name: { pattern: "^(a+)+$" } } }, "slow");
  const other = toolOf({ not: {} }, "other");
  const checking = check(slow, { Name: `${"a".repeat(60)}!` });
  await check(other, {});
  expect(problems).toEqual([expect.stringContaining("other tools")]);
  await closers.pop()?.();
  await checking;
});

test("patterns that would take gigabytes outside of every heap are not compiled", async () => {
  const { check, problems } = schemaOf({ properties: { A: { pattern: "[^\\p{L}\\p{N}]".repeat(100) } } });
  await check({ A: "a" });
  expect(problems).toEqual([expect.stringContaining("Unicode properties")]);
});

test("a schema that is none is compiled once, not with each call", () => {
  const schemas = createSchemaCheck();
  const none = (n: number): string =>
    JSON.stringify({ type: "object", properties: { [`A${n}`]: { type: "float" } } });
  const msOf = (schemaAt: (n: number) => string): number => {
    const begun = performance.now();
    const answers = Array.from({ length: 200 }, (_, n) => schemas.answer(schemaAt(n), "{}"));
    const tookMs = performance.now() - begun;
    for (const answer of answers)
      expect(answer).toHaveProperty("unusable", expect.stringContaining("is invalid"));
    return tookMs;
  };
  const distinct = msOf(none);
  expect(msOf(() => none(0))).toBeLessThan(distinct);
});

test("a check that is under way when the gateway closes lets its call go on", async () => {
  const { check, close, toolOf } = openSchema();
  const slow = toolOf({ properties: { Name: { pattern: "^(a+)+$" } } });
  const checking = check(slow, { Name: `${"a".repeat(60)}!` });
  await close();
  await checking;
  await check(toolOf({ allOf: [false] }), {});
});

test("faults are few and short, whatever the arguments and the schema are", async () => {
  const { check } = schemaOf({ additionalProperties: { pattern: `^${"b".repeat(5_000)}$` } });
  const names = Array.from({ length: 100 }, (_, n) => [`${n}${"k".repeat(10_000)}`, "a"]);
  const error = (await check(Object.fromEntries(names)).catch((thrown: unknown) => thrown)) as Error;
  expect(error.message.length).toBeLessThan(3_000);
  expect(JSON.stringify(error).length).toBeLessThan(15_000);
});

describe("honest schemas", () => {
  test.each<[string, object, object[], object[]]>([
    [
      "with patterns of their own each",
      { properties: { A: { pattern: "^a$" }, B: { pattern: "^b$" } } },
      [{ A: "a", B: "b" }],
      [{ A: "b" }, { B: "a" }],
    ],
    ["with a look ahead", { properties: { A: { pattern: "^(?=a)." } } }, [{ A: "ab" }], [{ A: "b" }]],
    [
      "with white space as JavaScript has it",
      { properties: { A: { pattern: "^a\\sb$" } } },
      [{ A: "a\u00a0b" }],
      [{ A: "ab" }],
    ],
    [
      "with escapes that the flag u forbids",
      { properties: { A: { pattern: "^\\w+\\-\\w+$" } } },
      [{ A: "a-b" }],
      [{ A: "ab" }],
    ],
    [
      "of draft 7",
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        definitions: { a: { type: "string" } },
        properties: { A: { items: [{ $ref: "#/definitions/a" }] } },
      },
      [{ A: ["a"] }],
      [{ A: [1] }],
    ],
    [
      "of 2020-12",
      {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        properties: { A: { prefixItems: [{ type: "string" }] } },
      },
      [{ A: ["a"] }],
      [{ A: [1] }],
    ],
    [
      "with references into their parts",
      {
        $defs: { "a/b~c d": { type: "string" } },
        properties: { A: { $ref: "#/$defs/a~1b~0c%20d" }, B: { items: { $ref: "#/$defs/a~1b~0c%20d" } } },
      },
      [{ A: "a", B: ["b"] }],
      [{ A: 1 }, { B: [1] }],
    ],
    [
      "with references to themselves",
      { properties: { child: { $ref: "#" }, name: { type: "string" } } },
      [{ child: { child: { name: "a" } } }],
      [{ child: { child: { name: 1 } } }],
    ],
    [
      "with an anchor",
      { $defs: { a: { $anchor: "here", type: "string" } }, properties: { A: { $ref: "#here" } } },
      [{ A: "a" }],
      [{ A: 1 }],
    ],
    [
      "with parts of a unit",
      { properties: { A: { multipleOf: 0.1 }, B: { multipleOf: 0.01 } } },
      [{ A: 0.3, B: 0.07 }],
      [{ A: 0.35 }],
    ],
    [
      "with names of JavaScript's own",
      { properties: { constructor: { type: "string" }, $id: { type: "string" } } },
      [{}, { $id: "a" }],
      [{ constructor: 1 }, { $id: 1 }],
    ],
    [
      "with items that must differ",
      { properties: { A: { uniqueItems: true } } },
      [{ A: [1, 2] }],
      [{ A: [1, 1] }],
    ],
    [
      "with many choices",
      { properties: { A: { enum: Array.from({ length: 3_000 }, (_, n) => `choice-number-${n}`) } } },
      [{ A: "choice-number-2999" }],
      [{ A: "x" }],
    ],
  ])("%s", async (_what, schema, right, wrong) => {
    const { check, problems } = schemaOf(schema);
    for (const args of right) await check(args);
    for (const args of wrong) await expect(check(args), JSON.stringify(args)).rejects.toThrow(/are wrong/);
    expect(problems).toEqual([]);
  });
});

test("arguments that the validator cannot compare are left to the Editor, and reported", async () => {
  const { check, problems } = schemaOf({ properties: { A: { const: { b: 1 } } } });
  await expect(check({ A: { b: 2 } })).rejects.toThrow(/must be equal to constant/);
  await check({ A: { valueOf: 1 } });
  expect(problems[0]).toContain("valueOf");
});

describe("plain schemas are checked without a thread", () => {
  const start = (): never => {
    throw new Error("a thread is started");
  };

  test("those of most tools are", async () => {
    const { check, problems } = schemaOf(
      {
        properties: {
          Name: { type: "string", description: "…", maxLength: 10 },
          Mode: { enum: ["a", "b"], default: "a" },
          Points: { type: "array", items: { type: "object", properties: { X: { type: "number" } } } },
          pattern: { type: "string" },
        },
        required: ["Name"],
        additionalProperties: false,
      },
      { start },
    );
    await check({ Name: "a", Mode: "b", Points: [{ X: 1 }], pattern: "(a+)+$" });
    await expect(check({ Name: "a", Points: [{ X: "1" }] })).rejects.toThrow(/Points\/0\/X must be number/);
    await expect(check({ Nmae: "a" })).rejects.toThrow(
      /\/Nmae there is no such parameter \(did you mean Name\?\)/,
    );
    expect(problems).toEqual([]);
  });

  test.each<[string, object, object]>([
    ["a pattern", { properties: { A: { pattern: "a" } } }, {}],
    ["a reference", { properties: { A: { $ref: "#" } } }, {}],
    ["a combination", { properties: { A: { items: { allOf: [false] } } } }, {}],
    ["a keyword of tomorrow", { always: {} }, {}],
    ["much to compare", { properties: { A: { enum: ["a".repeat(2_000)] } } }, { A: "b".repeat(2_000) }],
    ["much to compile", { properties: { A: { enum: ["a".repeat(20_000)] } } }, {}],
  ])("one with %s is not", async (_what, schema, args) => {
    const { check, problems } = schemaOf(schema, { start, restMs: 0 });
    await check(args);
    expect(problems).toEqual(["a thread is started"]);
  });
});
