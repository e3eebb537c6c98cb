import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EDITOR_CODES } from "../../../src/shared/wire/wire.js";
import {
  createEditorLink,
  type EditorLink,
  type EditorLinkDeps,
  type EditorLinkHandlers,
  type EditorLinkOptions,
} from "../../../src/worker/editor/editor-link.js";
import { nextProven } from "../../harness/editor/proof.js";
import {
  createQueue,
  type PeerConnection,
  startTcpPeer,
  type TcpPeer,
} from "../../harness/editor/tcp-peer.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";

let peer: TcpPeer;
const links: EditorLink[] = [];
const warnings: string[] = [];
const log = {
  debug: () => {},
  info: () => {},
  warn: (_: object, message: string) => void warnings.push(message),
  error: (_: object, message: string) => void warnings.push(message),
};

beforeEach(async () => {
  warnings.length = 0;
  peer = await startTcpPeer();
});

afterEach(async () => {
  for (const link of links.splice(0)) await link.close();
  await peer.close();
  await expectNoLeak();
});

const HELLO = {
  protocol: 1,
  editorId: "game@1",
  projectName: "game",
  projectPath: "/projects/game",
  unityVersion: "6000.0.1f1",
  pid: 1,
  editorSessionId: "session",
  generation: 1,
  assetCounter: 0,
  ledgerId: "ledger",
  ledgerSeq: 7,
  toolsHash: "tools",
  phase: "idle",
  heartbeatSeconds: 60,
  open: [{ operationId: "op-1", state: "running" }],
  unacknowledged: ["op-0"],
};
const FENCE = { epoch: 1, ownerNonce: "nonce" };
const OUTCOME = { status: "completed", result: { ok: true }, startedAt: 1, endedAt: 2, executionMs: 1 };
const HEARTBEAT = {
  editorSessionId: "session",
  generation: 1,
  phase: "idle",
  mainThreadStallMs: 0,
  queued: 0,
};

interface Setup {
  deps?: Partial<EditorLinkDeps>;
  handlers?: Partial<EditorLinkHandlers>;
  options?: EditorLinkOptions;
}

/** A link whose every event is a line in `events`. */
function start({ deps, handlers, options }: Setup = {}) {
  const events: string[] = [];
  const unread = createQueue<string>();
  const note = (event: string) => {
    events.push(event);
    unread.push(event);
  };
  const link = createEditorLink(
    {
      endpoint: { host: "127.0.0.1", port: peer.port, token: "secret", editorId: "game@1" },
      fence: () => FENCE,
      storeId: async () => "store",
      identity: { brokerId: "broker", workerId: "worker", version: "0.1.0" },
      log,
      ...deps,
    },
    { backoff: { stepMs: 10, maxMs: 30 }, ...options },
  );
  link.start({
    onHello: (hello) => note(`hello ${hello.editorId}`),
    onRunning: ({ operationId }) => note(`running ${operationId}`),
    onProgress: ({ operationId, seq }) => note(`progress ${operationId} ${seq}`),
    onFinished: ({ operationId, outcome }) => note(`finished ${operationId} ${outcome.status}`),
    onHeartbeat: ({ phase }) => note(`heartbeat ${phase}`),
    onToolsChanged: () => note("tools changed"),
    onShutdownAnnounced: (reason) => note(`shutdown announced ${reason}`),
    onDisconnected: (reason) => note(`disconnected ${reason}`),
    onFenced: () => false,
    onRefused: (error) => note(`refused ${error.name}`),
    onState: (state) => note(state),
    ...handlers,
  });
  links.push(link);
  /** Waits for an event, passing over the others. */
  const until = async (event: string): Promise<void> => {
    while ((await unread.take()) !== event);
  };
  return { link, events, until };
}

async function answerHello(
  there: PeerConnection,
  hello: object = HELLO,
  token = "secret",
): Promise<Record<string, unknown>> {
  const { id, params } = await nextProven(there, token);
  there.reply(id, hello);
  return params;
}

async function startReady(setup: Setup = {}) {
  const started = start(setup);
  const there = await peer.accept();
  await answerHello(there);
  await started.link.whenReady();
  return { ...started, there };
}

describe("Hello", () => {
  it("names store, worker and fence, and never the token", async () => {
    const { link } = start();
    expect(await answerHello(await peer.accept())).toEqual({
      protocol: 1,
      log: true,
      storeId: "store",
      brokerId: "broker",
      workerId: "worker",
      version: "0.1.0",
      epoch: 1,
      ownerNonce: "nonce",
      nonce: expect.stringMatching(/^[\w-]{32}$/),
    });
    await link.whenReady();
    expect(link.hello?.ledgerSeq).toBe(7);
  });

  it("is handled before anything that came behind it, and before the link is ready", async () => {
    let handled = () => {};
    const handling = new Promise<void>((resolve) => {
      handled = resolve;
    });
    const called = createQueue<string>();
    const { link, events, until } = start({
      handlers: {
        async onHello(_, calls) {
          called.push((await calls.get("op-1")).state);
          await handling;
          events.push("hello handled");
        },
      },
    });
    const there = await peer.accept();
    const { id } = await nextProven(there, "secret");
    there.reply(id, HELLO);
    there.notify("operation/finished", { operationId: "op-1", outcome: OUTCOME, ledgerSeq: 8 });
    there.notify("operation/progress", { operationId: "op-2", seq: 1, progress: 0.5 });
    const get = await there.nextRequest("operation/get");
    there.reply(get.id, { state: "running", ledgerSeq: 7 });
    expect(await called.take()).toBe("running");
    expect(link.state).toBe("connecting");
    await expect(link.get("op-1")).rejects.toMatchObject({ reason: "not_ready", sent: false });
    handled();
    await until("ready");
    expect(events).toEqual(["hello handled", "finished op-1 completed", "progress op-2 1", "ready"]);
  });

  it("is said again on the same connection with a raised fence", async () => {
    let epoch = 1;
    const { link } = start({
      deps: { fence: () => ({ epoch, ownerNonce: "nonce" }) },
      handlers: {
        async onFenced(highest) {
          epoch = highest + 1;
          return true;
        },
      },
    });
    const there = await peer.accept();
    const { id } = await nextProven(there, "secret");
    there.fail(id, EDITOR_CODES.FENCED, "fenced", { highestEpoch: 41 });
    expect(await answerHello(there)).toMatchObject({ epoch: 42 });
    await link.whenReady();
  });

  it("closes the link when it was fenced and the lease is gone", async () => {
    const { link, until, events } = start();
    const there = await peer.accept();
    const waiting = expect(link.whenReady()).rejects.toMatchObject({ reason: "shutdown", sent: false });
    const { id } = await nextProven(there, "secret");
    there.fail(id, EDITOR_CODES.FENCED, "fenced", { highestEpoch: 41 });
    await until("closed");
    await waiting;
    await there.gone;
    expect(link.lastDisconnect).toBe("fenced");
    expect(events).toEqual(["closed"]);
  });

  it("gives up a fence that two brokers raise against each other", async () => {
    const { until } = start({ handlers: { onFenced: () => true }, options: { refusedRetryMs: 60_000 } });
    const there = await peer.accept();
    for (let hellos = 0; hellos < 3; hellos++) {
      const { id } = await nextProven(there, "secret");
      there.fail(id, EDITOR_CODES.FENCED, "fenced", { highestEpoch: hellos });
    }
    await until("refused RpcFailure");
    await there.gone;
  });

  it("that is refused waits, and is said at once to a new address", async () => {
    const { link, until } = start({ options: { refusedRetryMs: 60_000 } });
    const there = await peer.accept();
    const { id } = await nextProven(there, "secret");
    there.fail(id, EDITOR_CODES.UNAUTHORIZED, "wrong token");
    await until("refused RpcFailure");
    await there.gone;
    link.moveTo({ host: "127.0.0.1", port: peer.port, token: "new" });
    await answerHello(await peer.accept(), HELLO, "new");
    await link.whenReady();
  });

  it("to an Editor that shuts down is soon said again", async () => {
    const { until } = start({ options: { refusedRetryMs: 60_000 } });
    const there = await peer.accept();
    const { id } = await nextProven(there, "secret");
    there.fail(id, EDITOR_CODES.EDITOR_SHUTTING_DOWN, "bye");
    await until("refused RpcFailure");
    await answerHello(await peer.accept());
    await until("ready");
  });

  it.each([
    ["another Editor", { ...HELLO, editorId: "other@2" }, "WrongEditor"],
    ["another protocol", { ...HELLO, protocol: 2 }, "UnreadableAnswer"],
    ["nonsense", { hello: "world" }, "UnreadableAnswer"],
  ])("answered by %s is refused", async (_, answer, error) => {
    const { until, events } = start({ options: { refusedRetryMs: 60_000 } });
    const there = await peer.accept();
    await answerHello(there, answer);
    await until(`refused ${error}`);
    await there.gone;
    expect(events).toEqual([`refused ${error}`]);
  });

  it("is said again when handling it failed", async () => {
    let attempts = 0;
    const { until, events } = start({
      handlers: {
        async onHello() {
          if (++attempts === 1) throw new Error("the store is away");
        },
      },
    });
    await answerHello(await peer.accept());
    await answerHello(await peer.accept());
    await until("ready");
    expect(events).toEqual(["disconnected hello_failed", "ready"]);
  });
});

describe("A link", () => {
  it("comes back after every loss, and tells each once", async () => {
    const { link, events, until, there } = await startReady();
    there.end();
    const second = await peer.accept();
    await answerHello(second, { ...HELLO, generation: 2 });
    await link.whenReady();
    second.reset();
    await until("disconnected reset");
    await answerHello(await peer.accept());
    await until("ready");
    const round = ["hello game@1", "ready", "connecting"];
    expect(events).toEqual([
      ...round,
      "disconnected peer_closed",
      ...round,
      "disconnected reset",
      "hello game@1",
      "ready",
    ]);
  });

  it("is back soon after a refusing port listens again", async () => {
    await peer.deafen();
    const { link, until } = start();
    const waiting = link.whenReady();
    await expect(link.list()).rejects.toMatchObject({ reason: "not_ready", sent: false });
    await peer.listen();
    await answerHello(await peer.accept());
    await Promise.all([waiting, until("ready")]);
  });

  it("is not ready on a connection that ended while hello was handled", async () => {
    const lines = createQueue<PeerConnection>();
    let hellos = 0;
    const { until, events } = start({
      handlers: {
        async onHello() {
          if (++hellos > 1) return;
          const there = await lines.take();
          there.end();
          await there.gone;
        },
      },
    });
    const there = await peer.accept();
    await answerHello(there);
    lines.push(there);
    await answerHello(await peer.accept());
    await until("ready");
    expect(events).toEqual(["disconnected peer_closed", "ready"]);
  });

  it("notices a half-open peer and calls again", async () => {
    const { link, until } = start({ options: { heartbeatTimeoutMs: 80 } });
    const there = await peer.accept();
    await answerHello(there);
    await until("ready");
    there.notify("bridge/heartbeat", HEARTBEAT);
    await until("heartbeat idle");
    expect(link.lastHeartbeat?.queued).toBe(0);
    await until("disconnected heartbeat_lost");
    await answerHello(await peer.accept());
    await link.whenReady();
    expect(link.lastHeartbeat).toBeUndefined();
  });

  it("never repeats a request: one without an answer is reported lost, and only hello follows", async () => {
    const { link, there } = await startReady();
    const cancel = link.cancel("op-1");
    const rejected = expect(cancel).rejects.toMatchObject({
      name: "ConnectionLost",
      reason: "reset",
      sent: true,
    });
    await there.nextRequest("operation/cancel");
    there.reset();
    await rejected;
    const next = await peer.accept();
    await answerHello(next);
    await link.whenReady();
    void link.list().catch(() => {});
    expect(await next.nextMessage()).toMatchObject({ method: "operation/list" });
  });

  it("says hello anew when a request finds it fenced", async () => {
    const { link, there, until } = await startReady();
    const answer = expect(link.revoke("op-1")).rejects.toMatchObject({ code: EDITOR_CODES.FENCED });
    const { id } = await there.nextRequest("operation/revoke");
    there.fail(id, EDITOR_CODES.FENCED, "fenced", { highestEpoch: 2 });
    await answer;
    await until("disconnected fenced");
    await answerHello(await peer.accept());
    await until("ready");
    link.helloAgain();
    await until("disconnected fenced");
    await answerHello(await peer.accept());
    await until("ready");
  });

  it("passes on what the Editor says, and drops what cannot be read", async () => {
    const { there, until, events } = await startReady();
    there.notify("operation/running", { operationId: "op-1", ledgerSeq: 8 });
    there.notify("operation/running", { operationId: 1 });
    there.notify("operation/progress", {
      operationId: "op-1",
      seq: 1,
      progress: 0.5,
      more: "from a newer peer",
    });
    there.notify("operation/progress", "half");
    there.notify("operation/finished", {
      operationId: "op-1",
      outcome: { status: "splendid" },
      ledgerSeq: 9,
    });
    there.notify("operation/finished", { operationId: "op-1", outcome: OUTCOME, ledgerSeq: 9 });
    there.notify("bridge/heartbeat", { phase: "idle" });
    there.notify("constructor", {});
    there.notify("notifications/tools/list_changed");
    there.notify("notifications/server/shutdown", { reason: "domain_reload" });
    await until("shutdown announced domain_reload");
    expect(events.slice(2)).toEqual([
      "running op-1",
      "progress op-1 1",
      "finished op-1 completed",
      "tools changed",
      "shutdown announced domain_reload",
    ]);
    expect(warnings.filter((message) => message.endsWith("dropped"))).toHaveLength(4);
  });

  it("goes on when a handler throws", async () => {
    const { there, until } = await startReady({
      handlers: {
        onRunning() {
          throw new Error("no");
        },
        onProgress: () => Promise.reject(new Error("no")),
      },
    });
    there.notify("operation/running", { operationId: "op-1", ledgerSeq: 8 });
    there.notify("operation/progress", { operationId: "op-1", seq: 1, progress: 0.5 });
    there.notify("notifications/tools/list_changed");
    await until("tools changed");
    expect(warnings).toHaveLength(2);
  });

  it("asks with the words of the protocol and hands typed refusals to the caller", async () => {
    const { link, there } = await startReady();
    const submit = {
      operationId: "op-2",
      hash: "h",
      after: null,
      origin: { principal: "local", tool: "build", fingerprint: "f" },
      tool: "build",
      arguments: { target: "Android" },
      argumentsHash: "a",
      acceptedAt: 1,
      ...FENCE,
      ledgerId: "ledger",
    };
    const exchange = async (method: string, asked: Promise<unknown>, params: object, answer: object) => {
      const request = await there.nextRequest(method);
      expect(request.params).toEqual(params);
      there.reply(request.id, answer);
      return asked;
    };
    const one = { operationId: "op-2" };
    const state = { state: "accepted", ledgerSeq: 8 };
    expect(await exchange("operation/submit", link.submit(submit), submit, state)).toEqual(state);
    const sameAs = { state: "same_as", operationId: "op-1", stateThere: "completed", ledgerSeq: 8 };
    expect(await exchange("operation/submit", link.submit(submit), submit, sameAs)).toEqual(sameAs);
    const unknown = { state: "unknown", ledgerSeq: 8 };
    expect(await exchange("operation/get", link.get("op-2"), one, unknown)).toEqual(unknown);
    const requested = { state: "requested" };
    expect(await exchange("operation/cancel", link.cancel("op-2"), one, requested)).toEqual(requested);
    const revoked = { state: "revoked" };
    expect(await exchange("operation/revoke", link.revoke("op-2"), one, revoked)).toEqual(revoked);
    const listed = { operations: [{ ...one, state: "completed" }] };
    expect(await exchange("operation/list", link.list(), {}, listed)).toEqual(listed.operations);
    const asked = { operationId: "op-2", offset: 3, length: 9 };
    const part = { offset: 3, total: 5, base64: "eHk=" };
    expect(await exchange("operation/result", link.resultPart("op-2", 3, 9), asked, part)).toEqual(part);
    await exchange("operation/ack", link.ack(["op-2"]), { operationIds: ["op-2"] }, {});
    const tools = { Tools: [{ name: "build" }], Ver: "1" };
    const details = link.toolDetails();
    expect(
      await exchange("get-tool-details", details, { IncludeDevelopmentOnly: false }, tools),
    ).toMatchObject(tools);

    for (const code of [
      EDITOR_CODES.LEDGER_LOST,
      EDITOR_CODES.FOREIGN_BROKER,
      EDITOR_CODES.EDITOR_SHUTTING_DOWN,
    ]) {
      const refused = expect(link.submit(submit)).rejects.toMatchObject({ name: "RpcFailure", code });
      there.fail((await there.nextRequest("operation/submit")).id, code, "no");
      await refused;
    }
    const unreadable = expect(link.get("op-2")).rejects.toMatchObject({ name: "UnreadableAnswer" });
    there.reply((await there.nextRequest("operation/get")).id, { state: "splendid" });
    await unreadable;
    expect(link.state).toBe("ready");
  });

  it("reads a list to its end, and each operation once", async () => {
    const { link, there } = await startReady();
    const [first, second, third] = ["op-1", "op-2", "op-3"].map((operationId) => ({
      operationId,
      state: "completed",
    }));
    const answer = async (params: object, page: object) => {
      const request = await there.nextRequest("operation/list");
      expect(request.params).toEqual(params);
      there.reply(request.id, page);
    };
    const running = { ...second, state: "running" };

    const all = link.list();
    await answer({}, { operations: [running, first], nextCursor: "1:op-1", ledgerSeq: 8 });
    // It ended between the two pages.
    await answer({ cursor: "1:op-1" }, { operations: [second], nextCursor: "2:op-2" });
    await answer({ cursor: "2:op-2" }, { operations: [third] });
    expect(await all).toEqual([second, first, third]);

    const endless = expect(link.list()).rejects.toMatchObject({ name: "UnreadableAnswer" });
    await answer({}, { operations: [first], nextCursor: "1:op-1" });
    await answer({ cursor: "1:op-1" }, { operations: [second], nextCursor: "1:op-1" });
    await endless;
  });

  it("lets a waiter go away", async () => {
    const { link } = start();
    const leaving = new AbortController();
    const waiting = link.whenReady(leaving.signal);
    leaving.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(link.whenReady(AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
  });

  it("moves a live connection to another address", async () => {
    const { link, until, there } = await startReady();
    const other = await startTcpPeer();
    link.moveTo({ host: "127.0.0.1", port: other.port, token: "other" });
    await until("disconnected moved");
    await there.gone;
    await answerHello(await other.accept(), HELLO, "other");
    await link.whenReady();
    await link.close();
    await other.close();
  });
});

describe("close() leaves nothing open", () => {
  it("during connect", async () => {
    const { link, events } = start();
    await link.close();
    await link.close();
    await expect(link.list()).rejects.toMatchObject({ reason: "shutdown", sent: false });
    expect(events).toEqual(["closed"]);
  });

  it("during hello", async () => {
    const { link, events } = start();
    const there = await peer.accept();
    await there.nextRequest("bridge/hello");
    await link.close();
    await there.gone;
    expect(events).toEqual(["closed"]);
  });

  it("while hello is being handled, even by a handler that never ends", async () => {
    const entered = createQueue<true>();
    const { link } = start({
      handlers: {
        onHello() {
          entered.push(true);
          return new Promise(() => {});
        },
      },
    });
    const there = await peer.accept();
    await answerHello(there);
    await entered.take();
    await link.close();
    await there.gone;
  });

  it("while ready: open requests are reported, and the end comes after `closed`", async () => {
    const { link, events, there } = await startReady();
    const rejected = expect(link.list()).rejects.toMatchObject({ reason: "shutdown" });
    await there.nextRequest("operation/list");
    await link.close();
    await rejected;
    await there.gone;
    expect(events.slice(2)).toEqual(["closed", "disconnected shutdown"]);
  });

  it("in the pause between two attempts", async () => {
    const { link, until } = start({ options: { refusedRetryMs: 60_000 } });
    const there = await peer.accept();
    const { id } = await nextProven(there, "secret");
    there.fail(id, EDITOR_CODES.FOREIGN_BROKER, "bound elsewhere", { boundTo: "other", since: 1 });
    await until("refused RpcFailure");
    await there.gone;
    await link.close();
  });
});

it("An Editor that comes anew owes what it owed: the next connection begins with a rest", async () => {
  const { link, there, until } = await startReady({
    handlers: {
      onHeartbeat() {
        const since = performance.now();
        while (performance.now() - since < 700) {
          // As if it were much work.
        }
      },
    },
  });
  const rests = () => warnings.filter((line) => line.includes("read more slowly")).length;
  there.notify("bridge/heartbeat", HEARTBEAT);
  while (rests() === 0) await new Promise((turn) => setTimeout(turn, 5));
  link.helloAgain();
  await until("disconnected fenced");
  await answerHello(await peer.accept());
  await link.whenReady();
  expect(rests()).toBeGreaterThan(1);
});
