/** Requests that offer another protocol and are meant for this one, as Java's HTTP client sends them. */
import { request } from "node:http";
import { expect, test } from "vitest";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { serve } = useMcpCallers();

const OFFERS = {
  connection: "Upgrade, HTTP2-Settings",
  upgrade: "h2c",
  "http2-settings": "AAMAAABkAAQAAP__",
};

/** In two pieces: the second one comes after Node has seen the headers. */
async function post(url: string, body: object, offers: Record<string, string>) {
  const text = JSON.stringify(body);
  const asked = request(url, {
    method: "POST",
    headers: {
      ...offers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "content-length": Buffer.byteLength(text),
    },
  });
  const answered = new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    asked.once("error", reject);
    asked.once("response", (response) => {
      let read = "";
      response.setEncoding("utf8").on("data", (piece) => {
        read += piece;
      });
      response.once("end", () => resolve({ status: response.statusCode, text: read }));
    });
  });
  asked.write(text.slice(0, 5), () => setImmediate(() => asked.end(text.slice(5))));
  return answered;
}

const name = "x".repeat(300_000);

test.each([
  ["HTTP/2", OFFERS],
  ["a WebSocket, by POST", { connection: "Upgrade", upgrade: "websocket" }],
])("%s is not taken: the call runs, once", async (_what, offers) => {
  const system = await start();
  const { url } = await serve(system.gateway);
  const call = { tool: "work", arguments: { Name: name }, timeout: 30 };
  const said = await post(new URL("/api/v1/operations", url).href, call, offers);
  expect(said).toMatchObject({ status: 200, text: expect.stringContaining('"completed"') });
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "java", version: "1" } },
  };
  expect(await post(url, initialize, offers)).toMatchObject({ status: 200 });
  expect(system.executions(name)).toBe(1);
});
