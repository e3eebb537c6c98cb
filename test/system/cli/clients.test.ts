/** Real clients, as people have them: each lists and calls tools over stdio and over HTTP against real processes. */
import { createMCPClient, type MCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as AiStdioTransport } from "@ai-sdk/mcp/mcp-stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import type { CallAnswer } from "../../harness/processes/process-clients.js";
import { startWorld, type World } from "../../harness/processes/process-world.js";
import { until } from "../../harness/processes/processes.js";

let world: World;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  world = await startWorld();
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
afterAll(async () => {
  await world.close();
  await expectNoLeak();
});

/** What every client can do, however its library calls it. */
interface AnyClient {
  tools(): Promise<{ name: string; properties: string[] }[]>;
  call(name: string, args: Record<string, unknown>): Promise<CallAnswer>;
}

async function connectOfficial(transport: "http" | "stdio"): Promise<Client> {
  const client = new Client({ name: "official", version: "1" });
  closers.push(() => client.close());
  if (transport === "http") {
    await client.connect(new StreamableHTTPClientTransport(new URL(world.url())));
  } else {
    const process = new StdioClientTransport({ ...(await world.stdioServer()), stderr: "ignore" });
    await client.connect(process);
    world.processes.guard(process.pid ?? 0);
  }
  return client;
}

async function official(transport: "http" | "stdio"): Promise<AnyClient> {
  const client = await connectOfficial(transport);
  return {
    async tools() {
      const { tools } = await client.listTools();
      return tools.map(({ name, inputSchema }) => ({
        name,
        properties: Object.keys(inputSchema.properties ?? {}),
      }));
    },
    async call(name, args) {
      return (await client.callTool({ name, arguments: args })).structuredContent as CallAnswer;
    },
  };
}

async function independent(transport: "http" | "stdio"): Promise<AnyClient> {
  const client: MCPClient = await createMCPClient({
    transport:
      transport === "http"
        ? { type: "http", url: world.url() }
        : new AiStdioTransport({ ...(await world.stdioServer()), stderr: "ignore" }),
  });
  closers.push(() => client.close());
  return {
    async tools() {
      const { tools } = await client.listTools();
      return tools.map(({ name, inputSchema }) => ({
        name,
        properties: Object.keys(inputSchema.properties ?? {}),
      }));
    },
    async call(name, args) {
      const tool = (await client.tools())[name];
      if (!tool) throw new Error(`there is no tool ${name}`);
      const result = await tool.execute(args, { toolCallId: "call", messages: [] });
      return (result as { structuredContent: CallAnswer }).structuredContent;
    },
  };
}

let numbers = 100;
/** A menu item that nobody called before. */
function menuItem(seconds: string): string {
  numbers += 1;
  return `Simulator/Block For ${seconds}${numbers} Seconds`;
}

describe.each([
  { library: "@modelcontextprotocol/sdk", connect: official },
  { library: "@ai-sdk/mcp", connect: independent },
])("$library", ({ connect }) => {
  describe.each(["http", "stdio"] as const)("over %s", (transport) => {
    it("lists the Editor's tools with the broker's parameters, and the broker's own", async () => {
      const client = await connect(transport);
      const tools = await until("the Editor's tools are listed", async () => {
        const listed = await client.tools();
        return listed.some(({ name }) => name === "execute-menu-item") && listed;
      });
      const menu = tools.find(({ name }) => name === "execute-menu-item");
      expect(menu?.properties).toEqual(
        expect.arrayContaining(["MenuItemPath", "timeout", "idempotency_key", "force_new"]),
      );
      const names = tools.map(({ name }) => name);
      expect(names).toEqual(
        expect.arrayContaining([
          "run-tests",
          "get_operation_result",
          "get_operation_status",
          "cancel_operation",
          "list_operations",
          "list_editors",
          "select_editor",
        ]),
      );
      expect(new Set(names).size).toBe(names.length);
    });

    it("calls a tool, is told when its wait ends, and reads the result by its log_id", async () => {
      const client = await connect(transport);
      const item = menuItem("5.0");
      const first = await client.call("execute-menu-item", { MenuItemPath: item, timeout: 0 });
      expect(first).toMatchObject({ status: "timeout", log_id: expect.any(String) });
      const again = await client.call("execute-menu-item", { MenuItemPath: item, timeout: 0 });
      expect(again).toMatchObject({ status: "timeout", log_id: first.log_id, deduplicated: true });
      const read = await client.call("get_operation_result", {
        log_id: first.log_id,
        wait: true,
        timeout: 20,
      });
      expect(read).toMatchObject({ status: "completed", result: { Success: true, MenuItemPath: item } });
      expect(await world.editor.executions(item)).toHaveLength(1);
    });

    it("is told the structured result of a call that reads, each time anew", async () => {
      const client = await connect(transport);
      const first = await client.call("get-hierarchy", { SimulatedSize: 3, timeout: 10 });
      const second = await client.call("get-hierarchy", { SimulatedSize: 3, timeout: 10 });
      expect(first).toMatchObject({ status: "completed", result: { nodeCount: 3 } });
      expect(second).toMatchObject({ status: "completed", result: first.result });
      expect(second.log_id).not.toBe(first.log_id);
    });

    it("is told what is wrong with a call", async () => {
      const client = await connect(transport);
      expect(await client.call("execute-menu-item", { timeout: 5 })).toMatchObject({
        status: "error",
        error_code: "INVALID_ARGUMENTS",
        message: expect.stringContaining("MenuItemPath"),
      });
      const failing = { MenuItemPath: "Simulator/Fail", idempotency_key: `fail ${numbers++}`, timeout: 10 };
      expect(await client.call("execute-menu-item", failing)).toMatchObject({
        status: "error",
        error: expect.stringContaining("exception"),
      });
      const nobodys = { log_id: "00000000-0000-4000-8000-000000000000" };
      expect(await client.call("get_operation_result", nobodys)).toMatchObject({ status: "not_found" });
    });
  });
});

describe.each(["http", "stdio"] as const)("the official client over %s", (transport) => {
  it("hears progress that grows, and gets the text that is the structured answer", async () => {
    const client = await connectOfficial(transport);
    const heard: number[] = [];
    const messages: string[] = [];
    numbers += 1;
    const result = await client.callTool(
      {
        name: "run-tests",
        arguments: { SimulatedTests: 8, SimulatedSeconds: 0.25, FilterValue: `${numbers}`, timeout: 30 },
      },
      undefined,
      {
        onprogress({ progress, message }) {
          heard.push(progress);
          messages.push(message ?? "");
        },
      },
    );
    expect(result.structuredContent).toMatchObject({ status: "completed", result: { total: 8, passed: 8 } });
    const [{ text } = { text: "" }] = result.content as { text: string }[];
    expect(JSON.parse(text)).toEqual(result.structuredContent);
    expect(heard.length).toBeGreaterThanOrEqual(3);
    expect(heard).toEqual([...new Set(heard)].sort((a, b) => a - b));
    expect(messages.join("\n")).toMatch(/running.*Test00/);
  });

  it("is told that the list of tools changed", async () => {
    const client = await connectOfficial(transport);
    await until("the Editor's tools are listed", async () =>
      (await client.listTools()).tools.some(({ name }) => name === "ping"),
    );
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      changes += 1;
    });
    const name = `added-${transport}`;
    const lists = async (): Promise<boolean> =>
      (await client.listTools()).tools.some((tool) => tool.name === name);
    await world.editor.do({ do: "addTool", name });
    await until("the client was told of the new tool", async () => changes > 0 && (await lists()));
    expect(
      (await client.callTool({ name, arguments: { Text: "hello", timeout: 10 } })).structuredContent,
    ).toMatchObject({ status: "completed", result: { Text: "hello" } });
    const before = changes;
    await world.editor.do({ do: "removeTool", name });
    await until("the client was told that it is gone", async () => changes > before && !(await lists()));
  });

  it("gives a call up by its own timeout, and finds the same operation", async () => {
    const client = await connectOfficial(transport);
    const call = { name: "execute-menu-item", arguments: { MenuItemPath: menuItem("0.8"), timeout: 20 } };
    const executions = () => world.editor.executions(call.arguments.MenuItemPath);
    // Where the machine stands still its time is over before the call is accepted, which then never begins.
    do await expect(client.callTool(call, undefined, { timeout: 300 })).rejects.toThrow(/timed out/);
    while ((await executions()).length === 0);
    const reported = (await client.callTool(call)).structuredContent as CallAnswer;
    expect(reported).toMatchObject({ status: "completed", deduplicated: true });
    expect(await executions()).toHaveLength(1);
  });
});
