/** The HTTP gateway's doors: who holds connections, sends slowly, or lost its token keeps nobody else out. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { createHttpGateway, type HttpGatewayOptions } from "../../../src/gateway/http/http.js";
import { createHeardLog, INITIALIZE, post } from "../../harness/mcp/mcp.js";
import { useSystem } from "../../harness/system/system.js";
import { type TokenGateway, useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { open, closers } = useTokenGateway(start);

interface Served extends Omit<TokenGateway, "bearer"> {
  /** Ann's. */
  bearer: { authorization: string };
  /** A raw connection. */
  dial(words?: string): Promise<Socket>;
}

async function serve(options: Partial<HttpGatewayOptions> = {}): Promise<Served> {
  const gateway = await open(options);
  const dial = async (words = ""): Promise<Socket> => {
    const socket = connect(gateway.port, "127.0.0.1");
    socket.on("error", () => undefined);
    closers.push(() => socket.destroy());
    await once(socket, "connect");
    socket.write(words);
    return socket;
  };
  return { ...gateway, bearer: await gateway.bearer("ann"), dial };
}

const closed = (socket: Socket): Promise<unknown> =>
  socket.closed ? Promise.resolve() : once(socket.resume(), "close");
const POST = (headers: string) =>
  `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${headers}\r\n`;

describe("connections", () => {
  test("a request without a token is answered and its connection ended, however much it still has to say", async () => {
    const { dial } = await serve({ requestMs: 600_000 });
    const socket = await dial(`${POST("Content-Length: 1000\r\n")}{`);
    let reported = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      reported += text;
    });
    await closed(socket);
    expect(reported).toMatch(/^HTTP\/1\.1 401 /);
  });

  test("one with a token that comes too slowly is ended too", async () => {
    const { dial, bearer } = await serve({ requestMs: 300, headersMs: 200 });
    const body = await dial(`${POST(`Content-Length: 1000\r\nAuthorization: ${bearer.authorization}\r\n`)}{`);
    const headers = await dial("POST /mcp HTTP/1.1\r\nHost: 127");
    const silent = await dial();
    await Promise.all([body, headers, silent].map(closed));
  });

  test("the oldest of too many strangers gives way; who asks with a token stays and is served", async () => {
    const { dial, url, bearer } = await serve({ routeGuard: { strangers: 4 } });
    const session = (await post(url, INITIALIZE, { headers: bearer })).sessionId ?? "";
    const known = await dial(
      `GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nMcp-Session-Id: ${session}\r\nAuthorization: ${bearer.authorization}\r\n\r\n`,
    );
    await once(known, "data");
    const strangers: Socket[] = [];
    for (let each = 0; each < 8; each += 1) strangers.push(await dial());
    await Promise.all(strangers.slice(0, 4).map(closed));
    expect(known.destroyed).toBe(false);
    expect((await post(url, INITIALIZE, { headers: bearer })).status).toBe(200);
  });
});

describe("a token that ends", () => {
  test.each(["revoked", "expired"])(
    "ends the open streams and waits of its holder, %s; the operation goes on",
    async (how) => {
      const { url, tokens, system } = await serve({ routeGuard: { revokedMs: 20 } });
      const ends = how === "expired" ? new Date(Date.now() + 3_000) : undefined;
      const headers = { authorization: `Bearer ${await tokens.create("cat", {}, ends)}` };
      const session = (await post(url, INITIALIZE, { headers })).sessionId ?? "";
      const stream = await fetch(url, {
        headers: { ...headers, accept: "text/event-stream", "mcp-session-id": session },
      });
      const ended = stream.text().then(
        () => "ended",
        () => "reset",
      );
      const params = { name: "work", arguments: { Name: "a", Hold: true, timeout: 60 } };
      const waits = post(
        url,
        { jsonrpc: "2.0", id: 2, method: "tools/call", params },
        { session, headers },
      ).then(
        () => "answered",
        () => "reset",
      );
      await system.bench.begins("a");
      if (how === "revoked") await tokens.revoke("cat");
      expect(await ended).toMatch(/ended|reset/);
      expect(await waits).toBe("reset");
      system.bench.finish("a");
      expect(system.executions("a")).toBe(1);
    },
  );
});

test("one principal that asks without a pause is told to wait; another is served", async () => {
  const { url, tokens, bearer } = await serve({ callsPerSecond: 5 });
  const other = { authorization: `Bearer ${await tokens.create("ben")}` };
  const asked = await Promise.all(
    Array.from({ length: 12 }, () => post(url, INITIALIZE, { headers: bearer })),
  );
  const refused = asked.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.messages[0]?.error?.message).toMatch(/requests came in a second.*Wait a second/s);
  expect((await post(url, INITIALIZE, { headers: other })).status).toBe(200);
});

test("what counts everybody's work takes the role that may see it", async () => {
  const { url, tokens, bearer } = await serve();
  const { origin } = new URL(url);
  const refused = await fetch(`${origin}/metrics`, { headers: bearer });
  expect([refused.status, ((await refused.json()) as { error_code: string }).error_code]).toEqual([
    403,
    "FORBIDDEN",
  ]);
  const operator = { authorization: `Bearer ${await tokens.create("op", { role: "operate" })}` };
  const seen = await fetch(`${origin}/metrics`, { headers: operator });
  expect([seen.status, await seen.text()]).toEqual([200, expect.stringContaining("unity_broker_")]);
});

describe("initialize", () => {
  const stuffed = (bytes: number) => ({
    ...INITIALIZE,
    params: {
      ...INITIALIZE.params,
      capabilities: { roots: { listChanged: true }, experimental: { stuffing: { text: "x".repeat(bytes) } } },
    },
  });

  test("one that is larger than any client needs is refused", async () => {
    const { url, bearer } = await serve();
    expect((await post(url, stuffed(70_000), { headers: bearer })).status).toBe(413);
  });

  test("the store keeps what another gateway needs of it, and nothing else; the session goes on there", async () => {
    const { url, bearer, system, tokens } = await serve();
    const session = (await post(url, stuffed(50_000), { headers: bearer })).sessionId ?? "";
    const [key = ""] = await system.hand.keys("{ujb}:session:*");
    expect((await system.hand.get(key))?.length).toBeLessThan(1_000);
    const next = await createHttpGateway(
      { gateway: await system.addGateway(), log: createHeardLog(), version: "0", auth: tokens },
      { host: "127.0.0.1", port: 0 },
    );
    closers.push(next.close);
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
    expect((await post(next.url, list, { session, headers: bearer })).status).toBe(200);
  });
});
