import { once } from "node:events";
/** The push channel: lines that come in pieces, and two channels that say the same. */
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { type PushType, parsePush } from "../../../src/shared/wire/push.js";
import { createLineAssembler } from "../../../src/shared/wire/rpc.js";
import { PROTOCOL_VERSION } from "../../../src/shared/wire/wire.js";
import { createEditorEvents, type EditorEvent } from "../../../src/worker/editor/editor-events.js";
import { createEditorLink, type EditorLink } from "../../../src/worker/editor/editor-link.js";
import { createPushServer, type PushTarget } from "../../../src/worker/transport/push-server.js";
import { nextProven } from "../../harness/editor/proof.js";
import { type PeerConnection, startTcpPeer } from "../../harness/editor/tcp-peer.js";
import { eventually } from "../../harness/eventually.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";

const log = { debug() {}, info() {}, warn() {}, error() {} };
const closers: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await expectNoLeak();
});

const line = (type: string, payload: object = {}) => `${JSON.stringify({ type, timestamp: "t", payload })}\n`;

describe("lines", () => {
  test("are the same however they are cut, inside characters as well", () => {
    const text = Buffer.from(
      `${line("TOOLS_CHANGED", { name: "Übersicht 工具 🛠" })}\r\n${line("UNITY_SHUTDOWN")}`,
    );
    for (let at = 0; at <= text.length; at += 1) {
      const lines = createLineAssembler(1_000);
      const found = [...lines.push(text.subarray(0, at)), ...lines.push(text.subarray(at))];
      expect(found.map((each) => each && parsePush(each)?.type)).toEqual(["TOOLS_CHANGED", "UNITY_SHUTDOWN"]);
      expect(found[0]).toContain("Übersicht 工具 🛠");
    }
  });

  test("that are too long are skipped unread, and the next one is read", () => {
    const lines = createLineAssembler(100);
    const long = () => lines.push(Buffer.alloc(1_000, "x"));
    // Said as soon as it is known: nothing more of it is kept.
    const found: (string | undefined)[] = long();
    expect(found).toEqual([undefined]);
    for (let piece = 0; piece < 1_000; piece += 1) expect(long()).toEqual([]);
    found.push(...lines.push(Buffer.from(`\n${line("UNITY_SHUTDOWN")}`)));
    expect(found.map((each) => each && parsePush(each)?.type)).toEqual([undefined, "UNITY_SHUTDOWN"]);
  });

  test.each(["", "{", "null", "[]", '{"type":"SOMETHING"}', '{"type":1}'])("%j is no push", (text) => {
    expect(parsePush(text)).toBeUndefined();
  });
});

describe("the server", () => {
  test("reads a peer that says too much more slowly", async () => {
    let slower = (): void => undefined;
    const isSlower = new Promise<void>((resolve) => {
      slower = resolve;
    });
    const heard = { ...log, warn: () => slower() };
    const server = createPushServer({ log: heard, onPush: () => undefined, isKeyless: () => true });
    closers.push(server.close);
    const socket = await call(await server.endpoint());
    const much = "1\n".repeat(32 * 1024);
    const flood = (): void => {
      while (socket.write(much));
      socket.once("drain", flood);
    };
    flood();
    await isSlower;
    const read = server.ignored();
    for (let turn = 0; turn < 100; turn += 1) await new Promise((next) => setImmediate(next));
    expect(server.ignored()).toBe(read);
  });

  test("reads every connection, ignores what is no push, counts it, and leaves nothing open", async () => {
    const pushed: PushType[] = [];
    const server = createPushServer({ log, onPush: (type) => pushed.push(type), isKeyless: () => true });
    closers.push(server.close);
    const socket = await call(await server.endpoint());
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n{"type":"TOOLS_CH');
    const other = await call(await server.endpoint());
    other.write(line("DOMAIN_RELOAD"));
    await eventually(() => pushed.length === 1, "the other one was read");
    socket.write(`ANGED"}\nnonsense\n${line("DOMAIN_RELOAD_RECOVERED")}`);
    await eventually(() => pushed.length === 3, "all were read");
    expect(pushed).toEqual(["DOMAIN_RELOAD", "TOOLS_CHANGED", "DOMAIN_RELOAD_RECOVERED"]);
    expect(server.ignored()).toBe(3);
  });
});

describe("the server of a proven Editor", () => {
  test("takes pushes only from a connection that begins with its key; others are closed, silent ones too", async () => {
    const pushed: PushType[] = [];
    const server = createPushServer({
      log,
      onPush: (type) => pushed.push(type),
      isKeyless: () => false,
      strangerMs: 50,
    });
    closers.push(server.close);
    const target = await server.endpoint();
    const ended = (socket: Socket): Promise<unknown> => once(socket.resume(), "close");
    const [silent, guessing] = [await call(target), await call(target)];
    guessing.write(line("CONNECTION_ESTABLISHED", { key: "guessed" }) + line("UNITY_SHUTDOWN"));
    await Promise.all([ended(silent), ended(guessing)]);
    const editor = await call(target);
    editor.write(line("CONNECTION_ESTABLISHED", { key: target?.key }) + line("DOMAIN_RELOAD"));
    await eventually(() => pushed.length === 2, "the Editor is heard");
    expect(pushed).toEqual(["CONNECTION_ESTABLISHED", "DOMAIN_RELOAD"]);
  });
});

test("an Editor is never kept out by idle strangers", async () => {
  const pushed: PushType[] = [];
  const server = createPushServer({
    log,
    onPush: (type) => pushed.push(type),
    isKeyless: () => false,
    strangerMs: 3_600_000,
  });
  closers.push(server.close);
  const target = await server.endpoint();
  const first = await call(target);
  const firstEnded = once(first.resume(), "close");
  for (let count = 0; count < 10; count += 1) (await call(target)).resume();
  await firstEnded;
  const editor = await call(target);
  editor.write(line("CONNECTION_ESTABLISHED", { key: target?.key }));
  await eventually(() => pushed.length === 1, "the Editor is heard");
  for (let count = 0; count < 10; count += 1) (await call(target)).resume();
  editor.write(line("DOMAIN_RELOAD"));
  await eventually(() => pushed.length === 2, "the Editor is still heard");
});

describe("both channels say it", () => {
  const heard = () => {
    let now = 0;
    const acted: EditorEvent[] = [];
    const events = createEditorEvents(
      (event) => acted.push(event),
      () => now,
    );
    return { events, acted, later: (ms: number) => (now += ms) };
  };

  test("it acts once, whichever is first", () => {
    const { events, acted, later } = heard();
    events.toolsChanged();
    later(300);
    events.pushed("TOOLS_CHANGED");
    later(300);
    events.pushed("TOOLS_CHANGED");
    events.toolsChanged();
    expect(acted).toEqual(["tools_changed", "tools_changed"]);
    events.stopping("DomainReload");
    events.pushed("DOMAIN_RELOAD");
    events.pushed("UNITY_SHUTDOWN");
    events.stopping("editor_quit");
    expect(acted.slice(2)).toEqual(["reloading", "leaving"]);
  });

  test("two changes in quick succession are two, in any order of their words", () => {
    const { events, acted } = heard();
    events.toolsChanged();
    events.toolsChanged();
    events.pushed("TOOLS_CHANGED");
    events.pushed("TOOLS_CHANGED");
    expect(acted).toHaveLength(2);
  });

  test("a word whose twin was lost does not swallow a later one", () => {
    const { events, acted, later } = heard();
    events.toolsChanged();
    later(60_000);
    events.pushed("TOOLS_CHANGED");
    expect(acted).toHaveLength(2);
  });
});

describe("a link that listens for pushes", () => {
  const HELLO = {
    protocol: PROTOCOL_VERSION,
    editorId: "game@1",
    projectName: "game",
    projectPath: "/game",
    unityVersion: "6000.0.30f1",
    pid: 1,
    editorSessionId: "session",
    generation: 0,
    assetCounter: 0,
    ledgerId: "ledger",
    ledgerSeq: 0,
    toolsHash: "x",
    phase: "ready",
    heartbeatSeconds: 60,
    open: [],
    unacknowledged: [],
  };

  /** Backing off takes an hour: an earlier attempt was announced. */
  async function start() {
    const peer = await startTcpPeer();
    const events: string[] = [];
    const link: EditorLink = createEditorLink(
      {
        endpoint: { host: "127.0.0.1", port: peer.port, token: "t" },
        fence: () => ({ epoch: 1, ownerNonce: "n" }),
        storeId: async () => "s",
        identity: { brokerId: "b", workerId: "w", version: "1" },
        log,
        push: true,
      },
      { backoff: { stepMs: 3_600_000, maxMs: 3_600_000 }, stableMs: 3_600_000 },
    );
    link.start({
      onHello: () => undefined,
      onRunning: () => undefined,
      onProgress: () => undefined,
      onFinished: () => undefined,
      onHeartbeat: () => undefined,
      onToolsChanged: () => void events.push("tools"),
      onDisconnected: () => undefined,
      onFenced: () => false,
      onEvent: (event) => void events.push(event),
    });
    closers.push(peer.close, link.close);
    const there = await peer.accept();
    const endpoint = await greet(there);
    await link.whenReady();
    const push = await call(endpoint);
    push.write(line("CONNECTION_ESTABLISHED", { key: endpoint.key }));
    return { peer, link, events, there, push, endpoint };
  }

  async function greet(there: PeerConnection): Promise<PushTarget> {
    const hello = await nextProven(there, "t");
    there.reply(hello.id, HELLO);
    const named = await there.nextRequest("set-client-name");
    there.reply(named.id, {});
    const endpoint = String(named.params.PushNotificationEndpoint);
    const key = String(named.params.PushNotificationKey);
    const reported = await there.nextRequest("sendPushNotificationEndpoint");
    expect(reported.params).toEqual({ endpoint, key });
    there.fail(reported.id, -32601, "unknown");
    return { address: endpoint, key };
  }

  /** Two refused attempts: now it backs off. */
  async function lose({ peer, there, link }: Awaited<ReturnType<typeof start>>): Promise<void> {
    await peer.deafen();
    there.end();
    await eventually(() => link.lastDisconnect === "refused", "nobody listens");
  }

  test("comes back at once when the Editor says that it recovered, and its endpoint is the same", async () => {
    const started = await start();
    await lose(started);
    await started.peer.listen();
    started.push.write(line("DOMAIN_RELOAD_RECOVERED"));
    const again = await started.peer.accept();
    expect(await greet(again)).toEqual(started.endpoint);
    await started.link.whenReady();
  });

  test("does not back off while a reload was announced", async () => {
    const started = await start();
    started.push.write(line("DOMAIN_RELOAD"));
    await eventually(() => started.events.includes("reloading"), "it was heard");
    await lose(started);
    await started.peer.listen();
    await greet(await started.peer.accept());
    await started.link.whenReady();
  });

  test("a change of tools that both channels tell is asked for once; what others push is noted", async () => {
    const { there, push, events } = await start();
    there.notify("notifications/tools/list_changed");
    push.write(line("TOOLS_CHANGED"));
    push.write(line("USER_DISCONNECT"));
    push.write(line("UNITY_SHUTDOWN"));
    await eventually(() => events.includes("leaving"), "all were heard");
    expect(events.filter((event) => event === "tools")).toHaveLength(1);
    expect(events).toContain("disconnected_by_user");
  });
});

function call(target: PushTarget | undefined): Promise<Socket> {
  const [host = "", port] = (target?.address ?? "").split(":");
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port) }, () => resolve(socket));
    socket.once("error", reject);
    closers.push(() => socket.destroy());
  });
}
