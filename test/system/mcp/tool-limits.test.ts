/** An Editor's tool list is input: what is above a limit is left out, and everybody can see that it was. */
import { expect, test } from "vitest";
import { createToolList } from "../../../src/gateway/mcp/tools/tool-list.js";
import { readTools, TOOL_LIMITS } from "../../../src/shared/tools/call-rules.js";
import { SILENT } from "../../harness/silent.js";
import { forget } from "../../harness/system/said-of-editors.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const named = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `tool-${at}` }));
const nested = (depth: number): object => {
  let schema: object = {};
  for (let level = 1; level < depth; level += 1) schema = { not: schema };
  return schema;
};

test("20 000 tools become as many as are allowed", () => {
  const { tools, leftOut, reasons } = readTools(named(20_000));
  expect(tools).toHaveLength(1_000);
  expect(leftOut).toBe(19_000);
  expect(reasons).toEqual(["20000 tools exceed the limit of 1000"]);
});

test("a list that is too long loses the tools that do not fit, and no others", () => {
  const long = { name: "long", inputSchema: { description: "x".repeat(5_000) } };
  const { tools, leftOut, reasons } = readTools([{ name: "a" }, long, { name: "b" }], {
    ...TOOL_LIMITS,
    listCharacters: 1_000,
  });
  expect(tools.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(leftOut).toBe(1);
  expect(reasons).toEqual(["with long the list has more than 1000 characters"]);
});

test.each([
  ["just", nested(33)],
  ["far", JSON.parse(`{"not":${"[".repeat(100_000)}${"]".repeat(100_000)}}`) as object],
])("a schema that nests %s too deep is left out", (_much, inputSchema) => {
  const { tools, reasons } = readTools([
    { name: "deep", inputSchema },
    { name: "flat", inputSchema: nested(32) },
  ]);
  expect(tools.map(({ name }) => name)).toEqual(["flat"]);
  expect(reasons).toEqual(["the schema of deep is nested deeper than 32"]);
});

test("a description is cut; what else an entry says beside the tool is not kept", () => {
  const annotations = { readOnlyHint: true, more: "x".repeat(10_000) };
  const [tool] = readTools([{ name: "a", description: "d".repeat(4_001), annotations, more: 1 }]).tools;
  expect(tool?.description).toBe(`${"d".repeat(4_000)}…`);
  expect(JSON.stringify(tool)).not.toContain("more");
});

test("one entry that is none takes no other with it, and its words are not repeated", () => {
  const reported = [
    7,
    null,
    { name: "\u001b]52;c;x\u0007" },
    { name: "a" },
    { name: "a", description: "again" },
  ];
  const { tools, leftOut, reasons } = readTools(reported);
  expect(tools.map(({ name }) => name)).toEqual(["a"]);
  expect(leftOut).toBe(4);
  expect(reasons.join()).not.toMatch(/[\p{Cc}]/u);
  expect(reasons.at(-1)).toBe("a is listed twice");
});

test("a tool that models cannot be offered stays callable, and is reported as one that is left out", () => {
  const needs = { properties: { "a\u202eb": {} }, required: ["a\u202eb"] };
  const { tools, leftOut, reasons } = readTools([
    { name: "a/b" },
    { name: "c", inputSchema: needs },
    { name: "d" },
  ]);
  expect(tools.map(({ name }) => name)).toEqual(["a/b", "c", "d"]);
  expect(leftOut).toBe(2);
  expect(reasons).toEqual([
    "models are not offered a/b: models take names of at most 64 letters, digits, _ and -, which begin with a letter",
    'models are not offered c: it requires "a?b", and models take names of at most 64 letters, digits, _, . and -',
  ]);
});

test("who looks at the Editor sees that a tool is left out; calls of the others go on as usual", async () => {
  const { store, editor, broker, client, bench } = await start();
  const { editorId, tools, toolsChanged } = editor;
  const known = tools.get("work");
  if (!known) throw new Error("no such tool");
  tools.add({ ...known, name: "deep", inputSchema: { ...known.inputSchema, not: nested(32) } });
  toolsChanged();
  const diagnosis = async () => (await store.editors.find(editorId))?.diagnosis;
  await eventually(async () => (await diagnosis()) !== undefined, "it is told");
  expect(await diagnosis()).toMatchObject({
    code: "TOOLS_LEFT_OUT",
    message: expect.stringContaining("the schema of deep is nested deeper than 32"),
  });
  const names = (await broker.tools()).map(({ name }) => name);
  expect(names).toContain("work");
  expect(names).not.toContain("deep");

  const ann = client();
  const { record } = await ann.submit("work", { Name: "a", Hold: true });
  expect((await ann.reaches(record.logId, "running")).diagnosis).toBeUndefined();
  bench.finish("a");
  await ann.outcome(record.logId);
  tools.remove("deep");
  toolsChanged();
  await eventually(async () => (await diagnosis()) === undefined, "it is taken back");
});

test("a description begins with the Editors that it is of; those of a forgotten Editor leave the list", async () => {
  const system = await start();
  const { broker, store, editor } = system;
  const list = createToolList({ broker, notifier: store.notifier, log: SILENT }, { debounceMs: 0 });
  const described = async (): Promise<string | undefined> =>
    (await list.current("ann")).find(({ name }) => name === "work")?.description;
  // There is no other.
  expect(await described()).toMatch(/^\[Unity\] /);
  const second = await system.addEditor();
  await system.present(second);
  expect(await described()).toMatch(
    `[Unity Editors ${[editor.editorId, second.editorId].sort().join(", ")}] `,
  );

  let changes = 0;
  list.onChange(() => {
    changes += 1;
  });
  for (const each of [editor, second]) {
    await each.close();
    await system.away(each);
    await forget(system, each.editorId, true);
  }
  await eventually(() => changes > 0, "the change is told");
  expect(await described()).toBeUndefined();
  list.close();
});
