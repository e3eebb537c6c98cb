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
  return { check: (args: Record<string, never> | object) => schema.check(tool, args as never), problems };
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
