/** The prompts: what they teach is what the tools take. */
import { GetPromptResultSchema, ListPromptsResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { filledPrompt, PROMPTS } from "../../../src/gateway/mcp/prompts.js";
import { BROKER_TOOLS } from "../../../src/gateway/mcp/tools/broker-tools.js";
import { WAITS } from "../../../src/shared/wait-time.js";

const GIVEN = { tool: "build-player", log_id: "0b6f", arguments: '{"Target": "Android"}' };
const textOf = (name: string, given: Record<string, string> = GIVEN, waits = WAITS): string => {
  const [{ content } = { content: undefined }] = filledPrompt(name, given, waits).messages;
  if (content?.type !== "text") throw new Error(`${name} has no text`);
  return content.text;
};

test("start, wait and read; after a timeout; run again on purpose: in the protocol's form", () => {
  expect(PROMPTS.map(({ name }) => name)).toEqual(["start_and_wait", "after_a_timeout", "run_again"]);
  expect(ListPromptsResultSchema.parse({ prompts: PROMPTS })).toEqual({ prompts: PROMPTS });
  for (const { name } of PROMPTS) {
    const prompt = filledPrompt(name, GIVEN, WAITS);
    expect(GetPromptResultSchema.parse(prompt)).toEqual(prompt);
  }
});

test("each argument that is offered is used, and none is left open", () => {
  for (const { name, arguments: known = [] } of PROMPTS) {
    const text = textOf(name);
    for (const argument of known)
      expect(text, `${name}: ${argument.name}`).toContain(GIVEN[argument.name as keyof typeof GIVEN]);
    expect(text).not.toMatch(/\{\w+\}/);
    const needed = known.filter(({ required }) => required).map((argument) => argument.name);
    expect(Object.keys(GIVEN)).toEqual(expect.arrayContaining(needed));
  }
  expect(textOf("after_a_timeout", {})).toContain("Its log_id: (none)");
  // What an argument says is no template.
  expect(textOf("start_and_wait", { tool: "{arguments}", arguments: "x" })).toContain(
    "tool {arguments} with",
  );
});

test("the tools that they name exist, with the parameters that they pass", () => {
  for (const { name } of PROMPTS) {
    const text = textOf(name);
    const called = [...text.matchAll(/\b([a-z]+_[a-z_]+) \(([^)]*)\)/g)];
    for (const [, tool = "", list = ""] of called) {
      const properties = BROKER_TOOLS.get(tool)?.described(WAITS).inputSchema.properties ?? {};
      expect(Object.keys(properties), `${name}: ${tool}`).toEqual(
        expect.arrayContaining(list.split(", ").map((parameter) => parameter.split(":")[0])),
      );
    }
    const alone = [...text.matchAll(/\b(?:get|fetch|list|cancel)_[a-z_]+/g)].map(([tool]) => tool);
    expect(alone.length).toBeGreaterThan(0);
    expect(alone.filter((tool) => !BROKER_TOOLS.has(tool))).toEqual([]);
  }
});

test("a prompt that does not exist, or lacks an argument, is refused with what there is", () => {
  const get = (name: string, given: Record<string, string>) => () => filledPrompt(name, given, WAITS);
  expect(get("run", {})).toThrow(/there are: start_and_wait, after_a_timeout, run_again\./);
  expect(get("run_again", { tool: "work" })).toThrow(/run_again needs log_id/);
});

test("they ask for the longest wait that there is", () => {
  const short = { ...WAITS, mostSeconds: 20 };
  expect(textOf("start_and_wait", GIVEN, short)).toContain("with timeout: 20.");
  expect(textOf("start_and_wait")).toContain("with timeout: 50.");
});
