/** One call of the command line over an MCP client. */
import { getEventListeners } from "node:events";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished, test } from "vitest";
import { clientOver } from "../../../src/cli/client/mcp-client.js";

/** A broker that answers one tool and never the other. */
async function connected() {
  const server = new Server({ name: "broker", version: "1" }, { capabilities: { tools: {} } });
  let heard: () => void;
  const asked = new Promise<void>((resolve) => {
    heard = resolve;
  });
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    if (params.name === "answered") return { content: [], structuredContent: { status: "completed" } };
    heard();
    return new Promise<never>(() => undefined);
  });
  const client = new Client({ name: "test", version: "1" });
  const [here, there] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(there), client.connect(here)]);
  onTestFinished(() => client.close());
  return { broker: clientOver(client, () => client.close()), asked };
}

test("an answer that does not come within its limit is lost", async () => {
  const { broker } = await connected();
  await expect(broker.call("never", {}, { limitMs: 10 })).rejects.toThrow(/timed out/);
});

test("a signal ends the calls that it was given to, and keeps nothing of those that were answered", async () => {
  const { broker, asked } = await connected();
  const interrupt = new AbortController();
  for (let call = 0; call < 20; call += 1) await broker.call("answered", {}, { signal: interrupt.signal });
  expect(getEventListeners(interrupt.signal, "abort")).toEqual([]);
  const waiting = broker.call("never", {}, { signal: interrupt.signal });
  await asked;
  interrupt.abort(new Error("interrupted"));
  await expect(waiting).rejects.toThrow("interrupted");
  await expect(broker.call("answered", {}, { signal: interrupt.signal })).rejects.toThrow("interrupted");
});
