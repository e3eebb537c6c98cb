/** A real MCP client over stdio, in this process, that calls itself as a test says. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { afterEach } from "vitest";
import type { Gateway } from "../../../src/gateway/gateway.js";
import { serveStdio } from "../../../src/gateway/mcp/mcp-session.js";
import { createHeardLog, createPipes, createPipeTransport } from "./mcp.js";

export interface Asked {
  text: string;
  answer: Record<string, unknown>;
  raw: Awaited<ReturnType<Client["callTool"]>>;
}

export interface Assistant {
  client: Client;
  ask(tool: string, args?: Record<string, unknown>): Promise<Asked>;
}

/** Call it at the top of a test file. */
export function useAssistants(): (served: { gateway: Gateway }, name?: string) => Promise<Assistant> {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });
  return async ({ gateway }, name = "assistant") => {
    const pipes = createPipes();
    const service = serveStdio({ gateway, log: createHeardLog(), version: "0.0.0" }, pipes);
    closers.push(() => service.close());
    const client = new Client({ name, version: "1" });
    await client.connect(createPipeTransport(pipes));
    return {
      client,
      async ask(tool, args = {}) {
        const raw = await client.callTool({ name: tool, arguments: args });
        const [{ text }] = raw.content as [{ text: string }];
        return { raw, text, answer: JSON.parse(text) as Record<string, unknown> };
      },
    };
  };
}
