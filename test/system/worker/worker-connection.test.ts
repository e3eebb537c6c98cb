import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { encodeFrame, RpcFailure, rpcNotification, rpcResult } from "../../../src/shared/wire/rpc.js";
import {
  type Connection,
  type ConnectionOptions,
  createConnection,
} from "../../../src/worker/transport/connection.js";
import { ConnectionLost } from "../../../src/worker/transport/disconnect.js";
import {
  createQueue,
  type PeerConnection,
  startTcpPeer,
  type TcpPeer,
} from "../../harness/editor/tcp-peer.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";

let peer: TcpPeer;
const connections: Connection[] = [];
const logged: string[] = [];
const log = {
  debug: (_: object, message: string) => void logged.push(message),
  info: (_: object, message: string) => void logged.push(message),
  warn: (_: object, message: string) => void logged.push(message),
  error: (_: object, message: string) => void logged.push(message),
};

beforeEach(async () => {
  logged.length = 0;
  peer = await startTcpPeer();
});

afterEach(async () => {
  for (const connection of connections.splice(0)) await connection.close();
  await peer.close();
  await expectNoLeak();
});

const notifications = () => {
  const queue = createQueue<[string, unknown]>();
  return {
    next: queue.take,
    onNotification: (method: string, params: unknown) => queue.push([method, params]),
  };
};

function open(
  options: ConnectionOptions = {},
  onNotification: (method: string, params: unknown) => void = () => {},
) {
  const connection = createConnection({ host: "127.0.0.1", port: peer.port, log, onNotification }, options);
  connections.push(connection);
  return connection;
}

async function connected(options?: ConnectionOptions): Promise<[Connection, PeerConnection]> {
  const connection = open(options);
  const there = await peer.accept();
  await connection.opened;
  return [connection, there];
}

/** Proves that the connection still carries questions and answers. */
async function expectAlive(connection: Connection, there: PeerConnection): Promise<void> {
  const answer = connection.request("ping", { Message: "alive?" });
  const { id } = await there.nextRequest("ping");
  there.reply(id, "alive");
  expect(await answer).toBe("alive");
}

const lost = (reason: string) => expect.objectContaining({ name: "ConnectionLost", reason });

describe("Questions and answers", () => {
  it.each([1, 2, 3, 7, 16])("are read from frames cut into pieces of %i bytes", async (size) => {
    const [connection, there] = await connected();
    const answer = connection.request("operation/get", { operationId: "grüße 🎮" });
    const { id, params } = await there.nextRequest("operation/get");
    expect(params).toEqual({ operationId: "grüße 🎮" });
    await there.raw(encodeFrame(rpcResult(id, { message: "Ergebnis: 🎮 fertig" })), size);
    expect(await answer).toEqual({ message: "Ergebnis: 🎮 fertig" });
  });

  it("are read from many frames in one piece, in order", async () => {
    const { next, onNotification } = notifications();
    open({}, onNotification);
    const there = await peer.accept();
    await there.raw(Buffer.concat([1, 2, 3].map((n) => encodeFrame(rpcNotification("n", n)))));
    expect([await next(), await next(), await next()]).toEqual([
      ["n", 1],
      ["n", 2],
      ["n", 3],
    ]);
  });

  it("are matched by id in any order, errors among them", async () => {
    const [connection, there] = await connected();
    const answers = ["a", "b", "c"].map((operationId) =>
      connection.request("operation/get", { operationId }),
    );
    const settled = Promise.allSettled(answers);
    const asked = [];
    for (const _ of answers) asked.push(await there.nextRequest("operation/get"));
    for (const { id, params } of asked.reverse()) {
      if (params.operationId === "b") there.fail(id, -32013, "ledger lost", { ledgerId: "l" });
      else there.reply(id, `about ${params.operationId}`);
    }
    expect(await settled).toMatchObject([
      { value: "about a" },
      { reason: { name: "RpcFailure", code: -32013, message: "ledger lost", data: { ledgerId: "l" } } },
      { value: "about c" },
    ]);
  });

  it("ignore answers to nothing asked, and a second answer", async () => {
    const [connection, there] = await connected();
    there.reply(77, "for nobody");
    there.reply("1", "an id of another type");
    there.fail(78, -32603, "for nobody");
    await there.raw(encodeFrame('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON"}}'));
    const answer = connection.request("ping", {});
    const { id } = await there.nextRequest("ping");
    there.reply(id, "first");
    there.reply(id, "second");
    expect(await answer).toBe("first");
    await expectAlive(connection, there);
  });

  it("go on after frames that carry no JSON-RPC message, and after a handler that throws", async () => {
    const connection = open({}, () => {
      throw new Error("no");
    });
    const there = await peer.accept();
    for (const text of ["", "nonsense", "[]", "null", "{}", '{"jsonrpc":"1.0","id":1,"result":1}']) {
      await there.raw(encodeFrame(text));
    }
    there.notify("anything");
    await expectAlive(connection, there);
    expect(logged.filter((message) => message.includes("skipped"))).toHaveLength(6);
    expect(logged).toContain("handling a notification failed");
  });

  it("answer a request of the peer: a worker has no methods", async () => {
    const [, there] = await connected();
    await there.raw(encodeFrame('{"jsonrpc":"2.0","id":"q","method":"do/something"}'));
    expect(await there.nextMessage()).toMatchObject({ kind: "error", id: "q", error: { code: -32601 } });
  });

  it("refuse to send a frame above the limit, and stay usable", async () => {
    const [connection, there] = await connected({ maxOutgoingBytes: 200 });
    const big = { text: "ü".repeat(100) };
    const refused = { name: "FrameTooLarge", direction: "outgoing", maxBytes: 200 };
    await expect(connection.request("operation/submit", big)).rejects.toMatchObject(refused);
    expect(() => connection.notify("anything", big)).toThrow(expect.objectContaining(refused));
    await expectAlive(connection, there);
  });
});

describe("Over-long frames", () => {
  const tooLong = encodeFrame(JSON.stringify("x".repeat(5000)));

  it.each([1, 999, 6000])("are skipped in pieces of %i bytes while the connection stays", async (size) => {
    const [connection, there] = await connected({ maxIncomingBytes: 1000 });
    await there.raw(Buffer.concat([tooLong, tooLong]), size);
    await expectAlive(connection, there);
  });

  it("tell the request whose answer they were, instead of calling the peer dead", async () => {
    const [connection, there] = await connected({ maxIncomingBytes: 1000, requestTimeoutMs: 150 });
    const answer = connection.request("operation/get", {});
    await there.nextRequest("operation/get");
    await Promise.all([
      there.raw(tooLong),
      expect(answer).rejects.toMatchObject({ name: "FrameTooLarge", direction: "incoming", length: 5002 }),
    ]);
    await expectAlive(connection, there);
  });

  const tooFull = encodeFrame(JSON.stringify(Array(150_000).fill(7)));

  it("are also those of too many values: a request without a clock is told", async () => {
    const [connection, there] = await connected({ maxIncomingValues: 140_000 });
    const answer = connection.request("get-hierarchy", {}, { timeoutMs: "never" });
    await there.nextRequest("get-hierarchy");
    await Promise.all([
      there.raw(tooFull),
      expect(answer).rejects.toMatchObject({
        name: "FrameTooLarge",
        message: "incoming frame of 300001 bytes has more than 140000 JSON values",
      }),
    ]);
    await expectAlive(connection, there);
  });

  it("are not those of as many values as may be, nor a long string full of commas", async () => {
    const [connection, there] = await connected({ maxIncomingValues: 150_010 });
    for (const result of [Array(150_000).fill(7), "[{,:".repeat(200_000)]) {
      const answer = connection.request("get-hierarchy", {}, { timeoutMs: "never" });
      const { id } = await there.nextRequest("get-hierarchy");
      there.reply(id, result);
      expect(await answer).toEqual(result);
    }
  });

  it("are a notification of too many values, which nobody is told", async () => {
    const { next, onNotification } = notifications();
    open({}, onNotification);
    const there = await peer.accept();
    await there.raw(encodeFrame(rpcNotification("note", Array(500_001).fill([]))));
    there.notify("after");
    expect(await next()).toEqual(["after", undefined]);
  });

  it("end the connection when their rest never comes", async () => {
    const [connection, there] = await connected({ maxIncomingBytes: 1000, frameTimeoutMs: 60 });
    await there.raw(tooLong.subarray(0, 2000));
    expect(await connection.closed).toBe("frame_timeout");
  });
});

describe("A connection ends", () => {
  const cases: Array<[string, string, (there: PeerConnection) => void]> = [
    ["garbage", "malformed_frame", (there) => void there.raw("\x00\x01garbage\r\nmore\r\n\r\n")],
    [
      "an HTTP answer",
      "malformed_frame",
      (there) => void there.raw("HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n"),
    ],
    [
      "a web page's headers",
      "malformed_frame",
      (there) => void there.raw("Host: a\r\nContent-Length: 2\r\n\r\n{}"),
    ],
    ["a frame without a length", "malformed_frame", (there) => void there.raw("Content-Type: x\r\n\r\n{}")],
    ["an endless header", "malformed_frame", (there) => void there.raw("x".repeat(5000))],
    ["half a frame, then silence", "frame_timeout", (there) => void there.raw("Content-Length: 10\r\n\r\n{")],
    ["half a header, then silence", "frame_timeout", (there) => void there.raw("Content-Le")],
    ["no answer to a control request", "peer_dead", () => {}],
    ["the peer's end", "peer_closed", (there) => there.end()],
    ["a reset", "reset", (there) => there.reset()],
  ];
  it.each(cases)("after %s as %s", async (_, reason, act) => {
    const [connection, there] = await connected({ frameTimeoutMs: 60, requestTimeoutMs: 300 });
    const answer = connection.request("operation/list", {});
    const rejected = expect(answer).rejects.toEqual(lost(reason));
    await there.nextRequest("operation/list");
    act(there);
    await rejected;
    expect(await connection.closed).toBe(reason);
    await expect(connection.request("ping", {})).rejects.toMatchObject({ reason, sent: false });
    await there.gone;
  });

  it("after a frame that trickles: its clock is not wound up by each byte", async () => {
    const [connection, there] = await connected({ frameTimeoutMs: 100 });
    await there.raw("Content-Length: 100000\r\n\r\n");
    const trickle = setInterval(() => void there.socket.write(" "), 10);
    expect(await connection.closed).toBe("frame_timeout");
    clearInterval(trickle);
  });

  it("after the heartbeats stop, and not before", async () => {
    const [connection, there] = await connected();
    connection.expectBytesEvery(120);
    let beats = 0;
    const beating = setInterval(() => {
      there.notify("bridge/heartbeat", {});
      if (++beats === 10) clearInterval(beating);
    }, 30);
    expect(await connection.closed).toBe("heartbeat_lost");
    expect(beats).toBe(10);
  });

  it("not in a loop, when heartbeats are said to come in 10^300 years", async () => {
    const [connection, there] = await connected();
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on("warning", note);
    connection.expectBytesEvery(1e303);
    await expectAlive(connection, there);
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });

  it("not because this process itself was busy: what has arrived is read before the verdict", async () => {
    const [connection, there] = await connected({ frameTimeoutMs: 60 });
    connection.expectBytesEvery(60);
    await there.raw("Content-Length: 4\r\n\r\nnu");
    await expectHalfRead(there);
    await there.raw("ll");
    there.notify("bridge/heartbeat", {});
    const until = performance.now() + 150;
    while (performance.now() < until);
    await expectAlive(connection, there);

    async function expectHalfRead(line: PeerConnection): Promise<void> {
      // The worker's answer to this request shows that it has read everything before.
      await line.raw("");
      await new Promise((turn) => setImmediate(turn));
    }
  });

  it("as refused when nobody listens", async () => {
    await peer.deafen();
    const connection = open();
    await expect(connection.opened).rejects.toEqual(lost("refused"));
    expect(await connection.closed).toBe("refused");
  });

  it("by close() during connect, leaving nothing open", async () => {
    const connection = open();
    const answer = expect(connection.request("ping", {})).rejects.toBeInstanceOf(ConnectionLost);
    await connection.close();
    await answer;
    await expect(connection.opened).rejects.toEqual(lost("shutdown"));
    expect(await connection.closed).toBe("shutdown");
    await connection.close("fenced");
    expect(await connection.closed).toBe("shutdown");
  });

  it("with every open question, each told the reason", async () => {
    const [connection, there] = await connected();
    const answers = Promise.allSettled([1, 2, 3].map((n) => connection.request("ping", { n })));
    await there.nextRequest("ping");
    await connection.close("fenced");
    for (const answer of await answers) {
      expect(answer).toMatchObject({ status: "rejected", reason: { reason: "fenced", sent: true } });
    }
    await there.gone;
    expect(peer.connectionCount()).toBe(0);
  });
});

it("RpcFailure carries what the Editor said", () => {
  expect(new RpcFailure({ code: -32011, message: "fenced", data: { highestEpoch: 4 } })).toMatchObject({
    code: -32011,
    data: { highestEpoch: 4 },
  });
});

describe("a peer that says much at once", () => {
  it("is read in turns, in order and whole: others of the process are served in between", async () => {
    const FRAMES = 60;
    const heard: number[] = [];
    let [inTurn, most] = [0, 0];
    const all = new Promise<void>((resolve) => {
      open({}, (_method, params) => {
        heard.push(Number(params));
        inTurn += 1;
        most = Math.max(most, inTurn);
        const since = performance.now();
        while (performance.now() - since < 1) {
          // As if it were worked on.
        }
        if (heard.length === FRAMES) resolve();
      });
    });
    const there = await peer.accept();
    let isOver = false;
    const others = (): void => {
      inTurn = 0;
      if (!isOver) setImmediate(others);
    };
    others();
    const frames = Array.from({ length: FRAMES }, (_, n) => encodeFrame(rpcNotification("note", n)));
    await there.raw(Buffer.concat(frames));
    await all;
    isOver = true;
    expect(heard).toEqual(Array.from({ length: FRAMES }, (_, n) => n));
    expect(most).toBeLessThan(10);
  });

  it.each(["end", "reset"] as const)("and then ends the connection (%s) is heard to its end", async (how) => {
    const heard: unknown[] = [];
    const connection = open({}, (_method, params) => {
      heard.push(params);
      const since = performance.now();
      while (performance.now() - since < 8) {
        // As if it were worked on.
      }
    });
    const there = await peer.accept();
    await connection.opened;
    // In packets of their own: what comes while this side works on others lies in its socket.
    for (let n = 0; n < 20; n += 1) {
      await there.raw(encodeFrame(rpcNotification("note", n)));
      await new Promise((sent) => setTimeout(sent, 1));
    }
    there[how]();
    await connection.closed;
    expect(heard).toHaveLength(20);
  });
});

describe("a peer that has to rest", () => {
  it("is charged for its answer together with what is made of it", async () => {
    const spent: [ms: number, answers: number][] = [];
    const unasked = {
      spend: (ms: number, answers: number) => void spent.push([ms, answers]),
      owedMs: () => 0,
    };
    const connection = createConnection({
      host: "127.0.0.1",
      port: peer.port,
      log,
      unasked,
      onNotification() {},
    });
    connections.push(connection);
    const there = await peer.accept();
    const made = connection.request("get-tool-details", {}).then(async () => {
      await Promise.resolve();
      const since = process.cpuUsage();
      while (process.cpuUsage(since).user < 40_000) {
        // As if it were read.
      }
    });
    const { id } = await there.nextRequest("get-tool-details");
    there.reply(id, {});
    await made;
    await expectAlive(connection, there);
    const [first] = spent.filter(([, answers]) => answers > 0);
    expect(first?.[0]).toBeGreaterThanOrEqual(40);
  });

  it("is taken neither for dead nor for silent meanwhile", async () => {
    let owedMs = 0;
    const unasked = {
      spend() {},
      owedMs() {
        const ms = owedMs;
        owedMs = 0;
        return ms;
      },
    };
    const heard = createQueue<string>();
    const connection = createConnection(
      { host: "127.0.0.1", port: peer.port, log, unasked, onNotification: heard.push },
      { requestTimeoutMs: 200, frameTimeoutMs: 200 },
    );
    connections.push(connection);
    const there = await peer.accept();
    await connection.opened;
    const late = encodeFrame(rpcNotification("late", {}));
    owedMs = 1_000;
    await there.raw(Buffer.concat([encodeFrame(rpcNotification("early", {})), late.subarray(0, 9)]));
    expect(await heard.take()).toBe("early");
    connection.expectBytesEvery(200);
    const answer = connection.request("ping", {});
    const { id } = await there.nextRequest("ping");
    await there.raw(late.subarray(9));
    there.reply(id, "alive");
    expect(await answer).toBe("alive");
    expect(await heard.take()).toBe("late");
  });
});
