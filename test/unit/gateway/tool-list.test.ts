/** When MCP clients are told that the list of tools has changed. */
import { expect, test } from "vitest";
import { createToolList } from "../../../src/gateway/mcp/tools/tool-list.js";
import type { OfferedTool } from "../../../src/gateway/tools/catalog.js";
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

test("a schema that a dialect gives its meaning is listed as its Editor wrote it, a plain one without what is assumed", async () => {
  const assumed = { $schema: "https://json-schema.org/draft/2020-12/schema", additionalProperties: false };
  const offered = (name: string, schema: object): OfferedTool => ({
    ...{ name, description: "", annotations: {}, effect: "read_only", lane: "main", editors: ["e"] },
    ...{ cancellable: false, resumable: false, inputSchema: { type: "object", ...assumed, ...schema } },
  });
  const properties = { A: { type: "string" } };
  const composed = {
    $defs: { a: { $anchor: "here", type: "string" } },
    properties: { A: { $ref: "#here" } },
    allOf: [{ anyOf: [{ required: ["A"] }, { maxProperties: 1 }] }],
  };
  const tools = [offered("composed", composed), offered("plain", { properties })];
  const notifier = { on: () => () => undefined, close: () => undefined };
  const list = createToolList({ broker: { tools: async () => tools }, notifier, log: SILENT });
  const listed = new Map((await list.current("ann")).map((tool) => [tool.name, tool.inputSchema]));
  const timeout = expect.anything();
  expect(listed.get("plain")).toEqual({ type: "object", properties: { ...properties, timeout } });
  expect(listed.get("composed")).toEqual({
    ...{ type: "object", ...assumed, ...composed },
    properties: { ...composed.properties, timeout },
  });
  list.close();
});
