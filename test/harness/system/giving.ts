/** One Editor with a tool that answers whatever a test gives it, and real MCP clients that call it. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { afterEach } from "vitest";
import type { GatewayOptions } from "../../../src/gateway/gateway.js";
import { type StdioService, serveStdio } from "../../../src/gateway/mcp/mcp-session.js";
import type { SimulatedEditorOptions } from "../../../src/simulator/options.js";
import { parameters } from "../../../src/simulator/tool-definition.js";
import { createHeardLog, createPipes, createPipeTransport } from "../mcp/mcp.js";
import { type System, type SystemOptions, useSystem } from "./system.js";

export type CallAnswer = Record<string, unknown> & {
  log_id: string;
  cache_id: string;
  data: unknown;
  status: string;
};
export type Call = (name: string, args?: Record<string, unknown>) => Promise<CallAnswer>;

export interface Giving {
  system: System;
  /** Calls the tool, which answers `document`. */
  give(document: unknown, more?: Record<string, unknown>): Promise<CallAnswer>;
  /** The same, as the client's library has it. */
  raw(document: unknown): ReturnType<Client["callTool"]>;
  fetch(args: Record<string, unknown>): Promise<CallAnswer>;
  /** The first client. */
  client: Client;
  /** How often the tool ran. */
  runs(): number;
  /** A client in a session of its own. */
  caller(principal?: string): Promise<Call>;
  /** A client that calls itself this. */
  named(name: string): Promise<Client>;
}

export interface GivingOptions extends Omit<SystemOptions, "gateway" | "editor"> {
  gateway?: Partial<GatewayOptions>;
  editor?: Omit<SimulatedEditorOptions, "tools">;
}

/** Call it at the top of a test file. */
export function useGiving(): (options?: GivingOptions) => Promise<Giving> {
  const { start } = useSystem();
  const services: StdioService[] = [];
  afterEach(async () => {
    for (const service of services.splice(0)) await service.close();
  });

  const connect = async ({ gateway }: System, principal?: string, name = "test"): Promise<Client> => {
    const pipes = createPipes();
    const deps = { gateway, log: createHeardLog(), version: "0.0.0" };
    services.push(serveStdio(deps, pipes, principal ? { principal } : {}));
    const client = new Client({ name, version: "1" });
    await client.connect(createPipeTransport(pipes));
    return client;
  };
  const callOf =
    (client: Client): Call =>
    async (name, args = {}) => {
      const { content } = await client.callTool({ name, arguments: args });
      return JSON.parse((content as [{ text: string }])[0].text) as CallAnswer;
    };

  return async (options = {}) => {
    let given: unknown;
    let runs = 0;
    const give = {
      name: "give",
      description: "Gives what the test wants.",
      inputSchema: parameters({ Number: { type: "number" } }, []),
      effect: "mutating",
      lane: "main",
      resumable: false,
      cancellable: false,
      executionClass: "quick",
      blocksMainThread: true,
      label: () => "give",
      async run() {
        runs += 1;
        return given;
      },
    } as const;
    const system = await start({ ...options, editor: { ...options.editor, tools: [give] } });
    const client = await connect(system);
    const call = callOf(client);
    return {
      system,
      client,
      async give(document, more = {}) {
        given = document;
        return call("give", { Number: runs, timeout: 30, ...more });
      },
      raw(document) {
        given = document;
        return client.callTool({ name: "give", arguments: { Number: runs, timeout: 30 } });
      },
      fetch: (args) => call("fetch_cached_response", args),
      runs: () => runs,
      caller: async (principal) => callOf(await connect(system, principal)),
      named: (name) => connect(system, undefined, name),
    };
  };
}
