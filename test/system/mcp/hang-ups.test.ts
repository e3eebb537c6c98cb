/** A client that hangs up behind its call, which a gateway that stood still finds together with the call. */
import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { INITIALIZE, post, toolCall } from "../../harness/mcp/mcp.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { ask, statelessHeaders, statelessRequest } from "../../harness/mcp/stateless.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { serve } = useMcpCallers();

/** Sends this request over a connection of its own, and hangs up: before the gateway can have read it, or after so many turns of its loop. */
async function sendAndHangUp(
  url: string,
  headers: Record<string, string>,
  message: object,
  turns = 0,
): Promise<void> {
  const { port, host, pathname } = new URL(url);
  const body = JSON.stringify(message);
  const all = {
    host,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "content-length": String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(Number(port), "127.0.0.1");
  await once(socket, "connect");
  socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
  for (let turn = 0; turn < turns; turn += 1) await nextTurn();
  socket.destroy();
  await once(socket, "close");
}

test.each(["MCP 2025-11-25", "MCP 2026-07-28", "REST"])("over %s the call does not begin", async (kind) => {
  const system = await start();
  const { url } = await serve(system.gateway);
  const { sessionId } = await post(url, INITIALIZE);
  const session = { "mcp-session-id": sessionId ?? "", "mcp-protocol-version": "2025-11-25" };
  const later = { name: "work", arguments: { Name: "later", timeout: 30 } };
  for (const Name of ["a", "b", "c", "d", "e"]) {
    const stateless = statelessRequest("tools/call", { name: "work", arguments: { Name } });
    if (kind === "REST") {
      const call = { tool: "work", arguments: { Name } };
      await sendAndHangUp(new URL("/api/v1/operations", url).href, {}, call);
    } else if (kind === "MCP 2026-07-28") await sendAndHangUp(url, statelessHeaders(stateless), stateless);
    else await sendAndHangUp(url, session, toolCall(2, "work", { Name }));
  }
  await ask(url, "tools/call", later);
  expect(system.bench.begun).toEqual(["later"]);
});

test.each(["MCP 2025-11-25", "MCP 2026-07-28", "REST"])(
  "over %s a change does not begin whose client hangs up while the store lets it wait",
  async (kind) => {
    const system = await start();
    const { url } = await serve(system.gateway);
    const { sessionId } = await post(url, INITIALIZE);
    const session = { "mcp-session-id": sessionId ?? "", "mcp-protocol-version": "2025-11-25" };
    const call = { name: "work", arguments: { Name: "a" } };
    // It has a chain now, which is read before it may run again.
    await ask(url, "tools/call", call);
    const stateless = statelessRequest("tools/call", call);
    await system.hand.client("PAUSE", 1_000);
    const rest = { tool: "work", arguments: { Name: "a" } };
    if (kind === "REST") await sendAndHangUp(new URL("/api/v1/operations", url).href, {}, rest, TURNS);
    else if (kind === "MCP 2026-07-28")
      await sendAndHangUp(url, statelessHeaders(stateless), stateless, TURNS);
    else await sendAndHangUp(url, session, toolCall(2, "work", { Name: "a" }), TURNS);
    await ask(url, "tools/call", { name: "work", arguments: { Name: "later", timeout: 30 } });
    expect(system.bench.begun).toEqual(["a", "later"]);
  },
);

/** Of the event loop: more than a call takes to come to the store. */
const TURNS = 1_000;
