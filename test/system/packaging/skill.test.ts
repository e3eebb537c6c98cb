/** The skill of the plugin: every call that it shows is one that the real tools take, every word of theirs is there. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { Ajv } from "ajv";
import { afterEach, beforeEach, expect, test } from "vitest";
import { serveStdio } from "../../../src/gateway/mcp/mcp-session.js";
import { ERRORS } from "../../../src/shared/errors.js";
import { createHeardLog, createPipes, createPipeTransport } from "../../harness/mcp/mcp.js";
import { textOf } from "../../harness/packaging/files.js";
import { useSystem } from "../../harness/system/system.js";

const SKILL = textOf("packaging/claude-code/skills/unity-job-broker/SKILL.md");

const { start } = useSystem();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

let tools: Awaited<ReturnType<Client["listTools"]>>["tools"];
beforeEach(async () => {
  const { gateway } = await start();
  const pipes = createPipes();
  const service = serveStdio({ gateway, log: createHeardLog(), version: "0.0.0" }, pipes);
  closers.push(() => service.close());
  const client = new Client({ name: "assistant", version: "1" });
  await client.connect(createPipeTransport(pipes));
  ({ tools } = await client.listTools());
});

/** Lines such as `list_operations {"limit": 10}` in the blocks. */
function calls(): { tool: string; args: Record<string, unknown> }[] {
  const blocks = [...SKILL.matchAll(/^ *```jsonc\n(.*?)^ *```$/gms)].map(([, block = ""]) => block);
  const lines = blocks.join("").split("\n");
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("//"))
    .map((line) => {
      const [, tool = "", args = ""] = /^(\S+) (\{.*\})$/.exec(line) ?? [];
      return { tool, args: JSON.parse(args) as Record<string, unknown> };
    });
}

test("every call is one that its tool takes, with parameters that it has", () => {
  expect(calls().length).toBeGreaterThan(10);
  const ajv = new Ajv({ strict: false });
  for (const { tool, args } of calls()) {
    const described = tools.find(({ name }) => name === tool);
    expect(described, `there is no tool ${tool}`).toBeDefined();
    const { inputSchema } = described as (typeof tools)[number];
    const unknown = Object.keys(args).filter((name) => !(name in (inputSchema.properties ?? {})));
    expect({ tool, unknown }).toEqual({ tool, unknown: [] });
    const isValid = ajv.compile(inputSchema);
    isValid(args);
    expect({ tool, errors: isValid.errors }).toEqual({ tool, errors: null });
  }
});

test("every word in code is a tool, a parameter, a field or a value of an answer, or an error", () => {
  const known = new Set([
    ...tools.map(({ name }) => name),
    ...tools.flatMap(({ inputSchema }) => Object.keys(inputSchema.properties ?? {})),
    ...Object.keys(ERRORS),
    ...[...textOf("docs/reference/answers.md").matchAll(/`([a-z_]+)`/g)].map(([, word = ""]) => word),
  ]);
  const prose = SKILL.replace(/^ *```.*?^ *```$/gms, "");
  const words = [...prose.matchAll(/`([^`\s]+)`/g)].map(([, word = ""]) => word);
  expect(words.length).toBeGreaterThan(10);
  expect(words.filter((word) => !known.has(word))).toEqual([]);
});

test("it shows every tool of the broker that an assistant starts, waits, reads or ends with", () => {
  const shown = new Set(calls().map(({ tool }) => tool));
  const needed = ["get_operation_result", "cancel_operation", "list_operations", "fetch_cached_response"];
  expect(needed.filter((tool) => !shown.has(tool))).toEqual([]);
});
