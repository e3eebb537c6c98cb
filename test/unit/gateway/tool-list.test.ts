/** When MCP clients are told that the list of tools has changed. */
import { expect, test } from "vitest";
import type { OfferedTool } from "../../../src/gateway/catalog.js";
import { createToolList } from "../../../src/gateway/mcp/tools/tool-list.js";
import { SILENT } from "../../harness/silent.js";

test("no list is given out before the one that later lists are compared with", async () => {
  let readFirst = (_tools: OfferedTool[]): void => undefined;
  const first = new Promise<OfferedTool[]>((resolve) => {
    readFirst = resolve;
  });
  let reads = 0;
  const broker = {
    tools: async () => {
      reads += 1;
      return reads === 1 ? first : [];
    },
  };
  const notifier = { on: () => () => undefined, close: () => undefined };
  const list = createToolList({ broker, notifier, log: SILENT });
  let isGiven = false;
  const given = list.current("ann").then(() => {
    isGiven = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isGiven).toBe(false);
  readFirst([]);
  await given;
  list.close();
});

test("a tool that models cannot be offered is left out", async () => {
  const offered = (name: string, schema: object): OfferedTool => ({
    ...{ name, description: "", annotations: {}, effect: "read_only", lane: "main", editors: ["e"] },
    ...{ cancellable: false, resumable: false, inputSchema: { type: "object", ...schema } },
  });
  const tools = [
    offered("refused", { properties: { "a b": {} }, required: ["a b"] }),
    offered("plain", { properties: { A: { type: "string" } }, additionalProperties: false }),
  ];
  const notifier = { on: () => () => undefined, close: () => undefined };
  const list = createToolList({ broker: { tools: async () => tools }, notifier, log: SILENT });
  const listed = new Map((await list.current("ann")).map((tool) => [tool.name, tool.inputSchema]));
  expect(listed.has("refused")).toBe(false);
  expect(listed.get("plain")).toEqual({
    type: "object",
    properties: { A: { type: "string" }, timeout: expect.anything() },
  });
  list.close();
});
