/** The prompts: what they teach is what the tools take. */
import { GetPromptResultSchema, ListPromptsResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { BROKER_TOOLS } from "../../../src/gateway/mcp/tools/broker-tools.js";
import { getPrompt, listPrompts } from "../../../src/gateway/mcp/tools/prompts.js";
import { WAITS } from "../../../src/shared/wait-time.js";

const GIVEN = { tool: "build-player", log_id: "0b6f", arguments: '{"Target": "Android"}' };
const textOf = (name: string, given: Record<string, string> = GIVEN): string => {
  const [{ content } = { content: undefined }] = getPrompt(name, given).messages;
  if (content?.type !== "text") throw new Error(`${name} has no text`);
  return content.text;
};

test("start, wait and read; after a timeout; run again on purpose: in the protocol's form", () => {
  const prompts = listPrompts();
  expect(prompts.map(({ name }) => name)).toEqual(["start_and_wait", "after_a_timeout", "run_again"]);
  expect(ListPromptsResultSchema.parse({ prompts })).toEqual({ prompts });
  for (const { name } of prompts) {
    const prompt = getPrompt(name, GIVEN);
    expect(GetPromptResultSchema.parse(prompt)).toEqual(prompt);
  }
});

test("each argument that is offered is used, and none is left open", () => {
  for (const { name, arguments: known = [] } of listPrompts()) {
    for (const argument of known)
      expect(textOf(name), `${name}: ${argument.name}`).toContain(GIVEN[argument.name as keyof typeof GIVEN]);
    expect(textOf(name)).not.toMatch(/\{\w+\}/);
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
  for (const { name } of listPrompts()) {
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
  expect(() => getPrompt("run")).toThrow(/there are: start_and_wait, after_a_timeout, run_again/);
  expect(() => getPrompt("run_again", { tool: "work" })).toThrow(/run_again needs log_id/);
});

test("they ask for the longest wait that there is", () => {
  const [{ content } = { content: undefined }] = getPrompt("start_and_wait", GIVEN, {
    mostSeconds: 20,
  }).messages;
  expect(content).toMatchObject({ text: expect.stringContaining("with timeout: 20.") });
  expect(textOf("start_and_wait")).toContain("with timeout: 50.");
});
