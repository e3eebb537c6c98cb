/** What reaches no route, or is no HTTP: it is refused in the form of its surface, never in that of the framework. */
import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const tokenGateway = useTokenGateway(start);

interface Said {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Sent as it stands, and read until the connection ends. */
async function say(port: number, text: string): Promise<Said> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  let read = "";
  socket.setEncoding("utf8").on("data", (piece: string) => {
    read += piece;
  });
  socket.write(text);
  await once(socket, "close");
  const [head = "", ...rest] = read.split("\r\n\r\n");
  const [line = "", ...fields] = head.split("\r\n");
  const pairs = fields.map((field) => {
    const [name = "", ...value] = field.split(": ");
    return [name.toLowerCase(), value.join(": ")];
  });
  return {
    status: Number(line.split(" ")[1]),
    headers: Object.fromEntries(pairs),
    body: rest.join("\r\n\r\n"),
  };
}

const JSON_BODY = "Content-Type: application/json\r\n";
const SOCKET = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
const KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
const LONG = "a".repeat(500);
const HUGE = `X-Huge: ${"a".repeat(20_000)}\r\n`;

test.each([
  ["a percent-encoding that is none", "GET /api/v1/operations/%E0%A4%A", "", 400, "INVALID_ARGUMENTS"],
  ["… with a WebSocket", "GET /api/v1/operations/%E0%A4%A", `${SOCKET}${KEY}`, 400, "INVALID_ARGUMENTS"],
  ["… on another surface", "GET /operators/%E0%A4%A", "", 400, "INVALID_ARGUMENTS"],
  ["a part that is too long", `GET /api/v1/operations/${LONG}`, "", 414, "INVALID_ARGUMENTS"],
  ["a method that is no route's", "PROPFIND /api/v1/operations", "", 404, undefined],
  ["TRACE", "TRACE /api/v1/operations", "", 404, undefined],
  ["OPTIONS", "OPTIONS /api/v1/operations", "", 404, undefined],
  ["a method that needs a type", "QUERY /api/v1/operations", "", 400, undefined],
  ["… on another surface", "QUERY /metrics", "", 400, undefined],
  ["a method that HTTP does not know", "UNKNOWN /api/v1/operations", "", 400, undefined],
  ["an unknown route", "GET /", "", 404, undefined],
  ["a method that is not the page's", "POST /metrics", "", 404, undefined],
  ["headers that are too large", "GET /api/v1/me", HUGE, 431, undefined],
  ["a length that is none", "POST /api/v1/operations", `${JSON_BODY}Content-Length: abc\r\n`, 400, undefined],
  ["another type", "POST /api/v1/operations", "Content-Type: text/plain\r\n", 415, undefined],
  ["no WebSocket where one is", "GET /api/v1/ws", "", 426, undefined],
  [
    "another version of WebSockets",
    "GET /api/v1/ws",
    `${SOCKET}${KEY}Sec-WebSocket-Version: 99\r\n`,
    400,
    undefined,
  ],
  ["a WebSocket without a key", "GET /api/v1/ws", `${SOCKET}Sec-WebSocket-Version: 13\r\n`, 400, undefined],
  ["no HTTP", "hello", "", 400, undefined],
])("%s is answered with a problem", async (_what, asked, headers, status, code) => {
  const { port, bearer } = await tokenGateway.open();
  const { authorization } = await bearer("ann", { role: "admin" });
  const close = headers.includes("Upgrade") ? "" : "Connection: close\r\n";
  const always = `Host: 127.0.0.1:${port}\r\n${close}Authorization: ${authorization}\r\n`;
  const said = await say(port, `${asked} HTTP/1.1\r\n${always}${headers}\r\n`);
  expect(said).toMatchObject({ status, headers: { "content-type": "application/problem+json" } });
  const body = JSON.parse(said.body);
  expect(body).toMatchObject({ status, title: expect.any(String), detail: expect.any(String) });
  expect(body.error_code).toBe(code);
  expect(body.type).toBe(code === undefined ? "about:blank" : `urn:unity-broker:error:${code}`);
});

test.each(["PUT", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])(
  "%s /mcp is refused as JSON-RPC",
  async (method) => {
    const { port } = await tokenGateway.open();
    const said = await say(port, `${method} /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
    expect(said).toMatchObject({ status: 405, headers: { allow: "GET, POST, DELETE" } });
    expect(JSON.parse(said.body)).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32600 } });
  },
);

test.each(["/api/v1/operations", "/mcp", "/"])("HEAD %s is refused without a body", async (path) => {
  const { port } = await tokenGateway.open();
  const said = await say(port, `HEAD ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
  expect(said).toMatchObject({ status: path === "/mcp" ? 405 : 404, body: "" });
});

test.each([
  ["headers", () => "GET /api/v1/me HTTP/1.1\r\nHost: 1"],
  [
    "a body",
    (token: string) =>
      `POST /api/v1/operations HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${token}\r\n${JSON_BODY}Content-Length: 9\r\n\r\n{`,
  ],
])("%s too slow to arrive: it is said so", async (_what, words) => {
  const { port, bearer } = await tokenGateway.open({ requestMs: 200, headersMs: 200 });
  const { authorization } = await bearer("ann");
  const said = await say(port, words(authorization));
  expect(said).toMatchObject({ status: 408, headers: { "content-type": "application/problem+json" } });
});

test("behind a part of another answer nothing is said", async () => {
  const { port, bearer } = await tokenGateway.open();
  const { authorization } = await bearer("ann");
  const asked = `GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization}\r\n\r\n`;
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  let read = "";
  socket.setEncoding("utf8").on("data", (piece: string) => {
    read += piece;
  });
  socket.write(asked);
  await once(socket, "data");
  socket.write("no request\r\n\r\n");
  await once(socket, "close");
  expect(read.match(/HTTP\/1\.1/g)).toHaveLength(1);
});
