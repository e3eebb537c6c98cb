/** A client that hangs up behind its call, which a gateway that stood still finds together with the call. */
import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { INITIALIZE, post, toolCall } from "../../harness/mcp/mcp.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { ask, statelessHeaders, statelessRequest } from "../../harness/mcp/stateless.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { serve } = useMcpCallers();

/** Sends this request over a connection of its own, and hangs up before the gateway can have read it. */
async function sendAndHangUp(port: number, headers: Record<string, string>, message: object): Promise<void> {
  const body = JSON.stringify(message);
  const all = {
    host: `127.0.0.1:${port}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "content-length": String(Buffer.byteLength(body)),
    ...headers,
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(`POST /mcp HTTP/1.1\r\n${head.join("")}\r\n${body}`);
  socket.destroy();
  await once(socket, "close");
}

test.each(["2025-11-25", "2026-07-28"])("of revision %s: the call does not begin", async (revision) => {
  const system = await start();
  const { url, port } = await serve(system.gateway);
  const { sessionId } = await post(url, INITIALIZE);
  const call = (name: string) => ({ ...toolCall(2, "work", { Name: name, timeout: 0 }) });
  const stateless = (name: string) =>
    statelessRequest("tools/call", { name: "work", arguments: { Name: name, timeout: 0 } });
  const session = { "mcp-session-id": sessionId ?? "", "mcp-protocol-version": "2025-11-25" };
  for (const name of ["a", "b", "c", "d", "e"])
    if (revision === "2025-11-25") await sendAndHangUp(port, session, call(name));
    else await sendAndHangUp(port, statelessHeaders(stateless(name)), stateless(name));
  // Another one that came later has run.
  await ask(url, "tools/call", { name: "work", arguments: { Name: "later", timeout: 30 } });
  await eventually(() => system.executions("later") === 1, "it runs");
  expect(system.bench.begun).toEqual(["later"]);
});
