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

test("a tool that models cannot be offered is left out, with a line in the log each time that it is described anew", async () => {
  const offered = (name: string, schema: object): OfferedTool => ({
    ...{ name, description: "", annotations: {}, effect: "read_only", lane: "main", editors: ["e"] },
    ...{ cancellable: false, resumable: false, inputSchema: { type: "object", ...schema } },
  });
  const refused = { properties: { "a b": {} }, required: ["a b"] };
  let tools = [offered("refused", refused), offered("plain", { properties: { A: { type: "string" } } })];
  const notifier = { on: () => () => undefined, close: () => undefined };
  const warned: unknown[] = [];
  const log = { ...SILENT, warn: (details: object) => void warned.push(details) };
  const list = createToolList({ broker: { tools: async () => tools }, notifier, log });
  const names = async () => (await list.current("ann")).map(({ name }) => name);
  expect(await names()).toContain("plain");
  expect(await names()).not.toContain("refused");
  const told = { tool: "refused", reason: expect.stringContaining('requires "a b"') };
  expect(warned).toEqual([told]);
  tools = [offered("refused", refused)];
  await names();
  expect(warned).toEqual([told, told]);
  list.close();
});
