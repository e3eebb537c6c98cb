/**
 * Another user of this machine gains nothing: each attempt is made twice, by the same code in a process of its own, as
 * that user and as the owner. The owner's succeeds, so that it is the user that fails and not the attempt.
 */
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { encodeFrame, rpcRequest } from "../../../src/shared/wire/rpc.js";
import { HelloResult } from "../../../src/shared/wire/wire.js";
import { askProven } from "../../../src/worker/editor/proving.js";
import { createConnection } from "../../../src/worker/transport/connection.js";
import { createPushServer } from "../../../src/worker/transport/push-server.js";
import { TELLING_ENGINES } from "../../harness/editor/dotnet.js";
import { type EditorUnderTest, startEditorUnderTest } from "../../harness/editor/editor-under-test.js";
import { eventually } from "../../harness/eventually.js";
import { runningBrokers } from "../../harness/processes/brokers.js";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { noOtherUser, type Running, run, start, type Who } from "../../harness/processes/other-user.js";
import { openStdioClient } from "../../harness/processes/process-clients.js";
import { useSystem } from "../../harness/system/system.js";

const log = { debug() {}, info() {}, warn() {}, error() {} };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const frame = (method: string, params: object): string =>
  encodeFrame(rpcRequest(1, method, params)).toString("latin1");
const HELLO = {
  ...{ protocol: 1, storeId: "s", brokerId: "b", workerId: "w", version: "1" },
  ...{ epoch: 1, ownerNonce: "n" },
};
const NONCE = "a".repeat(32);

/** Everything that is answered until the other side is silent for a moment or has closed the connection. */
const say = async (node: NodeJS.Require, { port, text }: { port: number; text: string }): Promise<string> => {
  const socket = (node("node:net") as typeof import("node:net")).connect(port, "127.0.0.1");
  let heard = "";
  socket.on("connect", () => socket.write(text, "latin1"));
  return new Promise((resolve) => {
    socket.on("data", (chunk) => {
      heard += chunk;
      setTimeout(() => resolve(heard), 100);
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(heard));
  });
};

/** So many calls, each on a connection that is left at once. */
const sayAndLeave = async (
  node: NodeJS.Require,
  { port, text, times }: { port: number; text: string; times: number },
): Promise<number> => {
  const { connect } = node("node:net") as typeof import("node:net");
  for (let time = 0; time < times; time += 1) {
    await new Promise<void>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => socket.write(text, "latin1", () => socket.destroy()));
      socket.on("error", () => undefined);
      socket.on("close", () => resolve());
    });
  }
  return times;
};

/** Holds many connections and makes new ones all the time; says a line when all of the first have been tried. */
const flood = async (
  node: NodeJS.Require,
  { port, most }: { port: number; most: number },
): Promise<never> => {
  const { connect } = node("node:net") as typeof import("node:net");
  const open: import("node:net").Socket[] = [];
  for (let count = 1; ; count += 1) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    open.push(socket);
    if (open.length > most) open.shift()?.destroy();
    if (count === most) console.log("flooding");
    if (count % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

/** Which of these can be read, or listed where they are folders. */
const readable = (node: NodeJS.Require, paths: string[]): string[] => {
  const { readdirSync, readFileSync, statSync } = node("node:fs") as typeof import("node:fs");
  return paths.filter((path) => {
    try {
      if (statSync(path).isDirectory()) readdirSync(path);
      else readFileSync(path);
      return true;
    } catch {
      return false;
    }
  });
};

/** Everything below a folder that is reached by others as far as it is open to them. */
function below(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() || statSync(path).isDirectory());
}

describe.skipIf(noOtherUser !== undefined)(
  `another user of this machine (skipped where ${noOtherUser ?? "there is none"})`,
  () => {
    describe.each(TELLING_ENGINES)("at an Editor's door (%s)", (engine) => {
      const editor = async (options: { plainSurface?: boolean } = {}): Promise<EditorUnderTest> => {
        const started = await startEditorUnderTest(engine, options);
        closers.push(() => started.close());
        return started;
      };

      test("is not answered a hello", async () => {
        const { port } = await editor();
        const text = frame("bridge/hello", { ...HELLO, nonce: NONCE });
        expect(await run("owner", say, { port, text })).toContain('"proof"');
        expect(await run("other", say, { port, text })).toBe("");
      });

      test("runs nothing on the plain surface, staying or leaving", async () => {
        const under = await editor({ plainSurface: true });
        const { port } = under;
        const executions = async (): Promise<number> =>
          readFileSync(join(under.folder, "executions.log"), { encoding: "utf8", flag: "a+" }).split("\n")
            .length - 1;
        const text = frame("execute-menu-item", { MenuItemPath: "Assets/Refresh" });
        expect(await run("other", say, { port, text })).toBe("");
        await run("other", sayAndLeave, { port, text, times: 100 });
        // What was sent before this has been looked at.
        expect(await run("owner", say, { port, text: frame("ping", {}) })).toContain("Unity Editor received");
        expect(await executions()).toBe(0);
        expect(await run("owner", say, { port, text })).toContain("result");
        expect(await executions()).toBe(1);
      });

      test("keeps its owner from nothing by many connections", async () => {
        const under = await editor();
        const flooding = start("other", flood, { port: under.port, most: 300 });
        closers.push(() => flooding.kill());
        await flooding.line();
        for (let time = 0; time < 5; time += 1) {
          const owner = await under.owner();
          expect(await owner.request("operation/list", {})).toMatchObject({ operations: [] });
          owner.close();
        }
      });

      test("reads nothing of what the Editor keeps", async () => {
        const under = await editor();
        const owner = await under.owner();
        await owner.submit("op", { arguments: { MenuItemPath: "Assets/Refresh" } });
        await owner.finished("op");
        // As in a home folder that is open to others.
        chmodSync(under.folder, 0o755);
        const paths = [
          ...below(join(under.folder, "editors")),
          under.ledgerFolder,
          ...below(under.ledgerFolder),
        ];
        expect(paths.length).toBeGreaterThanOrEqual(3);
        expect(await run("owner", readable, paths)).toEqual(paths);
        expect(await run("other", readable, paths)).toEqual([]);
      });

      test("learns nothing from the worker by taking the port, and the Editor gets it back", async () => {
        const under = await editor();
        const { port, token } = under;
        const hello = async () => {
          const line = createConnection({ host: "127.0.0.1", port, log, onNotification() {} });
          try {
            await line.opened;
            return await askProven(line, { token }, HelloResult, "bridge/hello", HELLO);
          } finally {
            await line.close();
          }
        };
        expect(await hello()).toMatchObject({ editorId: under.editorId });
        let squatter: Running<never> | undefined;
        await under.do({ do: "crash", keepUnflushed: true });
        squatter = start("other", squat, { port });
        closers.push(() => squatter?.kill());
        expect(await squatter.line()).toBe("listening");
        await expect(hello()).rejects.toMatchObject({ name: "UnprovenEditor" });
        const heard = await squatter.line();
        expect(heard).toContain("bridge/hello");
        expect(heard).not.toContain(token);
        expect(heard).not.toContain("bridge/prove");
        await squatter.kill();
        await under.do({ do: "restart" });
      });
    });

    test("pushes nothing to a worker, not even with the key", async () => {
      for (const isKeyless of [false, true]) {
        const pushed: string[] = [];
        const server = createPushServer({
          log,
          onPush: (type) => pushed.push(type),
          isKeyless: () => isKeyless,
        });
        closers.push(server.close);
        const target = await server.endpoint();
        const port = Number(target?.address.split(":")[1]);
        const event = (type: string, payload = {}) =>
          `${JSON.stringify({ type, timestamp: "t", payload })}\n`;
        const text = event("CONNECTION_ESTABLISHED", { key: target?.key }) + event("UNITY_SHUTDOWN");
        const flooding = start("other", flood, { port, most: 100 });
        await flooding.line();
        await run("other", sayAndLeave, { port, text, times: 20 });
        expect(pushed).toEqual([]);
        await flooding.kill();
        const editor = start("owner", say, { port, text });
        await eventually(() => pushed.length === 2, "the Editor is heard");
        await editor.kill();
      }
    });

    describe("with an endpoint file of its own", () => {
      const { start: startSystem } = useSystem();

      test("gets no call: the file is not believed, and callers are told so", async () => {
        const calls: Socket[] = [];
        const theirs = createServer((socket) => calls.push(socket.on("error", () => undefined)));
        const close = (): Promise<unknown> => {
          for (const socket of calls) socket.destroy();
          return new Promise((resolve) => theirs.close(resolve));
        };
        closers.push(close);
        await new Promise<void>((resolve) => theirs.listen(0, "127.0.0.1", resolve));
        const system = await startSystem();
        const folder = join(system.editor.endpointFile, "..");
        // As if made manually, or by an older version.
        for (const open of [join(folder, ".."), folder]) chmodSync(open, 0o777);
        const { port } = theirs.address() as { port: number };
        const file = {
          ...system.editor.endpoint(),
          editorId: "shop@1",
          projectName: "Shop",
          token: "theirs",
          port,
        };
        const written = { path: join(folder, "shop@1.json"), text: JSON.stringify(file) };
        expect(await run("other", write, written)).toBe(true);
        await eventually(async () => {
          const { unreached } = await system.broker.editors();
          return unreached.some(({ editor, code }) => editor === "shop@1" && code === "ENDPOINT_REFUSED");
        }, "it is said that the file is not believed");
        // Every look comes to the same.
        const { record } = await system.client().submit("work", { Name: "a" });
        await system.client().outcome(record.logId);
        expect(calls).toEqual([]);
        expect(await run("other", remove, written.path)).toBe(true);
        writeFileSync(written.path, written.text, { mode: 0o600 });
        await eventually(() => calls.length > 0, "the owner's file is believed");
        // Before the system's own end, which finds nothing left open.
        await close();
      });
    });

    describe("of a broker's machine", () => {
      const { start: startCommand, here } = useCommandLine();

      test("gets through no door of the gateway, and neither to its token nor to its Redis", async () => {
        chmodSync(here().folder, 0o755);
        chmodSync(here().dataDir, 0o755);
        const gateway = startCommand("gateway", ["gateway", "--port", "0"]);
        const [, url = ""] = await gateway.line(/^MCP endpoint: (.*)$/);
        const tokenFile = join(here().dataDir, "local.token");
        const endpoint = JSON.parse(readFileSync(join(here().dataDir, "redis", "endpoint.json"), "utf8"));
        const socket = String(endpoint.address.path);
        const attempt = (who: Who) => run(who, askGateway, { url, tokenFile, socket });
        expect(await attempt("owner")).toEqual({
          withToken: { "/mcp": 200, "/metrics": 200, "/dashboard": 200 },
          without: { "/mcp": 401, "/metrics": 401, "/dashboard": 401 },
          redis: "+PONG",
        });
        expect(await attempt("other")).toEqual({
          withToken: "EACCES",
          without: { "/mcp": 401, "/metrics": 401, "/dashboard": 401 },
          redis: "EACCES",
        });
        const kept = below(here().dataDir);
        expect(kept.some((path) => path.includes("appendonlydir/"))).toBe(true);
        expect(await run("owner", readable, kept)).toEqual(kept);
        expect(await run("other", readable, kept)).toEqual([]);
      });

      test("is no client of the background broker, and puts none in its place", async () => {
        chmodSync(here().folder, 0o755);
        chmodSync(here().dataDir, 0o755);
        const client = await openStdioClient(startCommand("mcp", ["mcp"]));
        const [pid] = runningBrokers(here().env);
        const folder = join(here().dataDir, "brokers", readdirSync(join(here().dataDir, "brokers"))[0] ?? "");
        const endpointFile = join(folder, "endpoint.json");
        const { socket } = JSON.parse(readFileSync(endpointFile, "utf8")) as { socket: string };
        expect(await run("owner", askBroker, socket)).toMatchObject({ kind: "status", pid });
        expect(await run("other", askBroker, socket)).toBe("EACCES");
        const planted = { path: endpointFile, text: "{}" };
        await expect(run("other", write, planted)).rejects.toThrow("EACCES");
        await expect(run("other", remove, socket)).rejects.toThrow("EACCES");
        const kept = below(folder);
        expect(await run("owner", readable, kept)).toEqual(kept);
        expect(await run("other", readable, kept)).toEqual([]);
        // What others can enter is not connected to, whatever the endpoint says: another broker takes the place.
        await client.close();
        chmodSync(dirname(socket), 0o755);
        const next = await openStdioClient(startCommand("next mcp", ["mcp"]));
        expect(runningBrokers(here().env)).not.toContain(pid);
        await next.close();
      });
    });
  },
);

/** What a broker says of itself. */
function askBroker(node: NodeJS.Require, path: string): Promise<object | string> {
  const net = node("node:net") as typeof import("node:net");
  return new Promise((resolve) => {
    const socket = net.connect(path);
    socket.on("error", ({ code }: NodeJS.ErrnoException) => resolve(String(code)));
    socket.on("data", (chunk) => resolve(JSON.parse(chunk.toString())));
    socket.write(`${JSON.stringify({ kind: "control", protocol: 1, version: "0", ask: "status" })}\n`);
  });
}

/** Listens on the port; says what the first caller said, which it answers with a proof of its own making. */
async function squat(node: NodeJS.Require, { port }: { port: number }): Promise<never> {
  const { createServer } = node("node:net") as typeof import("node:net");
  const server = createServer((socket) => {
    let heard = "";
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      heard += chunk;
      const id = /"id":(\d+)/.exec(heard)?.[1];
      const result = { nonce: "b".repeat(32), proof: "0".repeat(64) };
      const text = JSON.stringify({ jsonrpc: "2.0", id: Number(id), result });
      socket.write(`Content-Length: ${text.length}\r\n\r\n${text}`);
    });
    socket.on("close", () => console.log(JSON.stringify(heard)));
  });
  for (;;) {
    const isOurs = await new Promise((resolve) => {
      server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
    });
    if (isOurs) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  console.log("listening");
  return new Promise(() => undefined);
}

function write(node: NodeJS.Require, { path, text }: { path: string; text: string }): boolean {
  (node("node:fs") as typeof import("node:fs")).writeFileSync(path, text, { mode: 0o600 });
  return true;
}

function remove(node: NodeJS.Require, path: string): boolean {
  (node("node:fs") as typeof import("node:fs")).rmSync(path);
  return true;
}

async function askGateway(
  node: NodeJS.Require,
  { url, tokenFile, socket }: { url: string; tokenFile: string; socket: string },
): Promise<object> {
  const fs = node("node:fs") as typeof import("node:fs");
  const net = node("node:net") as typeof import("node:net");
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  const all = async (authorization: Record<string, string>) => {
    const statuses: Record<string, number> = {};
    for (const path of ["/mcp", "/metrics", "/dashboard"]) {
      const post = { method: "POST", body };
      const headers = {
        ...authorization,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      };
      const answer = await fetch(new URL(path, url), { ...(path === "/mcp" ? post : {}), headers });
      await answer.body?.cancel();
      statuses[path] = answer.status;
    }
    return statuses;
  };
  const withToken = async () => {
    try {
      return await all({ authorization: `Bearer ${fs.readFileSync(tokenFile, "utf8").trim()}` });
    } catch (error) {
      return (error as { code?: string }).code;
    }
  };
  const redis = await new Promise((resolve) => {
    const line = net.connect(socket, () => line.write("PING\r\n"));
    line.on("data", (chunk) => resolve(chunk.toString().trim()));
    line.on("error", (error) => resolve((error as { code?: string }).code));
  });
  return { withToken: await withToken(), without: await all({}), redis };
}
