/** A client that floods the gateway, with a token or without, keeps nobody else from being served. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import type { RouteGuardOptions } from "../../../src/gateway/auth/route-guard.js";
import { INITIALIZE, post, toolCall } from "../../harness/mcp/mcp.js";
import { useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { open, closers } = useTokenGateway(start);

/** A gateway, and a client of it that asks again and again. */
async function stage(door: Partial<RouteGuardOptions> = {}) {
  const gateway = await open({ callsPerSecond: 100_000, routeGuard: door });
  const { url, bearer } = gateway;
  const headers = await bearer("ann");
  const session = (await post(url, INITIALIZE, { headers })).sessionId ?? "";
  let asked = 0;
  const isServed = async (): Promise<void> => {
    asked += 1;
    const args = { Name: `a${asked}`, timeout: 30 };
    const answer = await post(url, toolCall(asked, "work", args), { session, headers });
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.messages)).toContain("completed");
  };
  return { ...gateway, isServed };
}

/** A process of its own: its connections are its files, not ours. It says "open <n>" as it goes on. */
const FLOOD = `
const { connect } = require("node:net");
const [port, count, words] = process.argv.slice(1);
let opened = 0;
const open = () => {
  if (opened >= Number(count)) return;
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => undefined).on("connect", () => {
    socket.write(words);
    opened += 1;
    if (opened % 1000 === 0) console.log("open " + opened);
    setImmediate(open);
  });
  socket.on("close", () => undefined);
};
for (let lane = 0; lane < 20; lane += 1) open();
setInterval(() => undefined, 60_000);
`;

function flood(
  port: number,
  count: number,
  words: string,
): { process: ChildProcess; lines: AsyncIterator<string> } {
  const child = spawn(process.execPath, ["-e", FLOOD, String(port), String(count), words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  closers.push(async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { process: child, lines };
}

test.each([
  ["10 000 idle connections", 10_000, ""],
  [
    "2 000 that begin a request and never end it",
    2_000,
    "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: a",
  ],
])("%s: others are served all the while", async (_, count, words) => {
  const { port, isServed } = await stage();
  const { lines } = flood(port, count, words);
  for (let thousand = 1; thousand <= count / 1_000; thousand += 1) {
    const { value } = await lines.next();
    expect(value).toBe(`open ${thousand * 1_000}`);
    await isServed();
  }
});

test("a thousand sessions of one, and bodies that are too large: another is served all the while", async () => {
  const { url, bearer, isServed } = await stage();
  const headers = await bearer("ben");
  for (let hundred = 0; hundred < 10; hundred += 1) {
    const opened = Array.from({ length: 100 }, () => post(url, INITIALIZE, { headers }));
    await isServed();
    for (const { status } of await Promise.all(opened)) expect(status).toBe(200);
  }
  const large = "x".repeat(5 * 1024 * 1024);
  const bodies = Array.from({ length: 20 }, () =>
    fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: large,
    }).then(
      ({ status }) => status,
      () => "reset",
    ),
  );
  await isServed();
  for (const answer of await Promise.all(bodies)) expect([413, "reset"]).toContain(answer);
  await isServed();
});

test("one principal's connections leave room for others, also after it was revoked", async () => {
  const { url, port, tokens, isServed } = await stage();
  const token = await tokens.create("ben", { role: "read" });
  const words = `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\nGET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  const { lines } = flood(port, 3_000, words);
  for (let thousand = 1; thousand <= 3; thousand += 1) {
    await lines.next();
    await isServed();
  }
  await tokens.revoke("ben");
  await isServed();
  expect((await fetch(new URL("/healthz", url))).status).toBe(200);
});

test("one principal has so many requests open at once, and another its own", async () => {
  const { url, bearer, isServed } = await stage({ openOfOne: 3 });
  const headers = await bearer("ben");
  const sessions: string[] = [];
  for (let each = 0; each < 3; each += 1)
    sessions.push((await post(url, INITIALIZE, { headers })).sessionId ?? "");
  const left = new AbortController();
  for (const session of sessions) {
    const accept = { accept: "text/event-stream", "mcp-session-id": session };
    expect((await fetch(url, { headers: { ...headers, ...accept }, signal: left.signal })).status).toBe(200);
  }
  const refused = await post(url, INITIALIZE, { headers });
  expect(refused).toMatchObject({
    status: 429,
    messages: [{ error: { message: expect.stringMatching(/requests are open/) } }],
  });
  await isServed();
  left.abort();
});
