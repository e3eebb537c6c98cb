/**
 * Clients of other hands, each as its own program or library: they list, call, are told when a wait ends, and read the
 * result later, over both transports and in both eras of the protocol, against real processes.
 */
import { join } from "node:path";
import { Client as NewClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport as NewStdioTransport } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../../../src/embedded-redis/run-command.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import type { CallAnswer } from "../../harness/processes/process-clients.js";
import { startWorld, type World } from "../../harness/processes/process-world.js";
import { newerNode, npmPackage } from "../../harness/programs/npm-package.js";

const INSPECTOR = "2.12.0";
const INSPECTOR_LIMIT_MS = 60_000;

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

type Transport = "http" | "stdio";
type Result = { content?: unknown; structuredContent?: unknown };

interface AnyClient {
  tools(): Promise<string[]>;
  call(tool: string, args: Record<string, unknown>): Promise<CallAnswer>;
}

const namesOf = ({ tools }: { tools: { name: string }[] }): string[] => tools.map(({ name }) => name);

function answerOf(result: Result): CallAnswer {
  const [{ text } = { text: "" }] = result.content as { text: string }[];
  return (result.structuredContent ?? JSON.parse(text)) as CallAnswer;
}

/** The official client of today, which finds out by itself which revision its server speaks. */
async function newSdk(transport: Transport): Promise<AnyClient> {
  const client = new NewClient(
    { name: "new-official", version: "1" },
    { versionNegotiation: { mode: "auto" } },
  );
  closers.push(() => client.close());
  if (transport === "http") await client.connect(new StreamableHTTPClientTransport(new URL(world.url())));
  else {
    const process = new NewStdioTransport({ ...(await world.stdioServer()), stderr: "ignore" });
    await client.connect(process);
    world.processes.guard(process.pid ?? 0);
  }
  return {
    tools: async () => namesOf(await client.listTools()),
    call: async (name, args) => answerOf(await client.callTool({ name, arguments: args })),
  };
}

/** A proxy between a client that speaks stdio only and the gateway's address. */
async function mcpRemote(): Promise<AnyClient> {
  const client = new Client({ name: "behind-mcp-remote", version: "1" });
  closers.push(() => client.close());
  const program = join(import.meta.dirname, "../../../node_modules/mcp-remote/dist/proxy.js");
  const proxy = new StdioClientTransport({
    command: process.execPath,
    args: [program, world.url(), "--allow-http"],
    env: { ...world.env, MCP_REMOTE_CONFIG_DIR: join(world.folder, "mcp-remote") } as Record<string, string>,
    stderr: "ignore",
  });
  await client.connect(proxy);
  world.processes.guard(proxy.pid ?? 0);
  return {
    tools: async () => namesOf(await client.listTools()),
    call: async (name, args) => answerOf((await client.callTool({ name, arguments: args })) as Result),
  };
}

/** Its program, and a Node that runs it; asked for once. */
let obtained: Promise<[node: string, folder: string] | Error> | undefined;

/** The Inspector's command line: a new process, and so a new session, for each request. */
function inspector(era: "legacy" | "modern") {
  return async (transport: Transport): Promise<AnyClient | { missing: string }> => {
    obtained ??= Promise.all([newerNode(), npmPackage("@modelcontextprotocol/inspector", INSPECTOR)]).catch(
      (error: Error) => error,
    );
    const here = await obtained;
    if (here instanceof Error && process.env.CI) throw here;
    if (here instanceof Error) return { missing: here.message };
    const [node, folder] = here;
    const launcher = join(folder, "clients/launcher/build/index.js");
    const { command, args, env = {} } = await world.stdioServer();
    // It refuses a variable without a value.
    const variables = Object.entries(env).flatMap(([name, value]) =>
      value ? ["-e", `${name}=${value}`] : [],
    );
    const target =
      transport === "http"
        ? ["--transport", "http", "--server-url", world.url()]
        : [...variables, "--transport", "stdio", "--", command, ...(args ?? [])];
    const ask = async (...request: string[]): Promise<unknown> => {
      const options = ["--cli", "--format", "json", "--quiet", "--protocol-era", era, ...request];
      const { code, output } = await runCommand(node, [launcher, ...options, ...target], {
        env: { ...world.env, HOME: world.folder },
        timeoutMs: INSPECTOR_LIMIT_MS,
      });
      if (code !== 0) throw new Error(`the Inspector ended with ${code}: ${output}`);
      return (JSON.parse(output) as { result: unknown }).result;
    };
    return {
      tools: async () => namesOf((await ask("--method", "tools/list")) as { tools: { name: string }[] }),
      async call(name, given) {
        const called = ["--method", "tools/call", "--tool-name", name];
        return answerOf((await ask(...called, "--tool-args-json", JSON.stringify(given))) as Result);
      },
    };
  };
}

let numbers = 100;

describe.each([
  { name: "SDK 2, over HTTP", connect: () => newSdk("http") },
  { name: "SDK 2, over stdio", connect: () => newSdk("stdio") },
  { name: "mcp-remote", connect: mcpRemote },
  { name: "Inspector, over HTTP", connect: () => inspector("legacy")("http") },
  { name: "Inspector, over stdio", connect: () => inspector("legacy")("stdio") },
  { name: "Inspector of 2026-07-28, over HTTP", connect: () => inspector("modern")("http") },
  { name: "Inspector of 2026-07-28, over stdio", connect: () => inspector("modern")("stdio") },
])("$name", ({ connect }) => {
  it("lists the tools, is told when its wait ends, and reads the result later: one execution", async ({
    skip,
  }) => {
    const client = await connect();
    if ("missing" in client) return skip(client.missing);
    expect(await client.tools()).toEqual(
      expect.arrayContaining(["execute-menu-item", "get_operation_result"]),
    );
    numbers += 1;
    const call = {
      ...{ MenuItemPath: `Simulator/Block For 1.5${numbers} Seconds`, timeout: 0 },
      idempotency_key: `call ${numbers}`,
    };
    const told = await client.call("execute-menu-item", call);
    // A client that knows tasks waits for the task's end by itself.
    expect(told).toMatchObject({
      status: expect.stringMatching(/^(timeout|completed)$/),
      log_id: expect.any(String),
    });
    expect(await client.call("execute-menu-item", call)).toMatchObject({ log_id: told.log_id });
    const read = await client.call("get_operation_result", { log_id: told.log_id, wait: true, timeout: 20 });
    expect(read).toMatchObject({ status: "completed", result: { Success: true } });
    expect(await world.editor.executions(call.MenuItemPath)).toHaveLength(1);
  });
});
