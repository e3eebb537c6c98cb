/** One session over one broker after another, held by a peer in the test's hand. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type BrokerLink, createBrokerLink } from "../../../src/cli/pipe/broker-link.js";
import { readFrames, writeFrame } from "../../../src/cli/pipe/socket-line.js";
import { type Frame, PIPE_PROTOCOL, type ToBroker, type ToPipe } from "../../../src/shared/pipe-frames.js";
import { eventually } from "../../harness/eventually.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";

let folder: string;
let server: Server;
let links: BrokerLink[];
/** Each connection, with what was said on it. */
let brokers: { socket: Socket; heard: Frame<ToBroker>[]; say(header: ToPipe, text?: string): void }[];

const WELCOME: ToPipe = { kind: "welcome", protocol: PIPE_PROTOCOL, version: "1.0.0", pid: 1 };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ujb-link-"));
  brokers = [];
  links = [];
  server = createServer((socket) => {
    const heard: Frame<ToBroker>[] = [];
    readFrames<ToBroker>(socket, (frame) => void heard.push(frame));
    brokers.push({ socket, heard, say: (header, text) => writeFrame(socket, header, text) });
  });
  server.listen(join(folder, "socket"));
  await once(server, "listening");
});
afterEach(async () => {
  for (const link of links) link.destroy();
  for (const { socket } of brokers) socket.destroy();
  server.close();
  rmSync(folder, { recursive: true, force: true });
  await expectNoLeak();
});

async function openLink({ lookMs }: { lookMs?: number } = {}) {
  const messages: { text: string; written(): void }[] = [];
  const refusals: { error: Error; given: { id: string }[]; isFinal: boolean }[] = [];
  let ends = 0;
  const link = createBrokerLink(
    {
      version: "1.0.0",
      folder: "/client",
      async connect() {
        const socket = connect(join(folder, "socket"));
        await once(socket, "connect");
        return socket;
      },
      ...(lookMs === undefined ? {} : { lookMs }),
    },
    {
      onMessage: (text, written) => void messages.push({ text, written }),
      onStore: () => undefined,
      onRefused: (error, given, isFinal) => void refusals.push({ error, given, isFinal }),
      onEnded: () => {
        ends += 1;
      },
    },
  );
  links.push(link);
  const send = (message: object): void =>
    link.send({ n: link.next(), arrivedAt: performance.now(), text: JSON.stringify(message) });
  return { link, send, messages, refusals, ends: () => ends };
}

async function broker(at: number) {
  await eventually(() => brokers[at]?.heard[0] !== undefined, `broker ${at} is greeted`);
  return brokers[at] as (typeof brokers)[number];
}

const request = (id: number, method = "tools/call") => ({ jsonrpc: "2.0", id, method, params: {} });
const messagesOf = ({ heard }: { heard: Frame<ToBroker>[] }) =>
  heard.flatMap(({ header, text }) =>
    header.kind === "message"
      ? [{ n: header.n, message: JSON.parse(text) as { id?: number; method: string } }]
      : [],
  );

test("the broker that follows gets the greeting and what is open, under the same numbers", async () => {
  const { send, messages } = await openLink();
  send(request(0, "initialize"));
  send({ jsonrpc: "2.0", method: "notifications/initialized" });
  send(request(1));
  send(request(2));
  send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } });
  const first = await broker(0);
  await eventually(() => messagesOf(first).length === 5, "all came");
  first.say({ kind: "selected", editor: "one@12345678" });
  for (const answers of [1, 3]) first.say({ kind: "message", n: answers, answers }, "{}");
  await eventually(() => messages.length === 2, "the answers came");
  for (const { written } of messages) written();
  first.socket.destroy();

  const second = await broker(1);
  await eventually(() => messagesOf(second).length === 4, "it has all");
  expect(second.heard[0]?.header).toMatchObject({
    kind: "hello",
    isResumed: true,
    selected: "one@12345678",
  });
  expect(messagesOf(second).map(({ n, message }) => [n, message.method])).toEqual([
    [1, "initialize"],
    [2, "notifications/initialized"],
    [4, "tools/call"],
    [5, "notifications/cancelled"],
  ]);
  // The client has its answer to the greeting.
  second.say({ kind: "message", n: 1, answers: 1 }, "{}");
  await eventually(() => second.heard.some(({ header }) => header.kind === "written"), "it is acknowledged");
  expect(messages).toHaveLength(2);
  send(request(3));
  await eventually(() => messagesOf(second).length === 5, "the next one came");
  expect(messagesOf(second).at(-1)?.n).toBe(6);
});

test("an answer that the client has not got is asked for again", async () => {
  const { send, messages } = await openLink();
  send(request(1));
  const first = await broker(0);
  await eventually(() => messagesOf(first).length === 1, "it came");
  first.say({ kind: "message", n: 1, answers: 1 }, "{}");
  await eventually(() => messages.length === 1, "the answer came");
  // Its write has not called back.
  first.socket.destroy();
  const second = await broker(1);
  await eventually(() => messagesOf(second).length === 1, "it came again");
  expect(messagesOf(second)[0]?.n).toBe(1);
  // The client may still read the first answer: it does not get another one, and this one counts when that is read.
  second.say({ kind: "message", n: 1, answers: 1 }, "{}");
  second.say({ kind: "message", n: 2 }, "{}");
  await eventually(() => messages.length === 2, "what came after it is handed on");
  messages[1]?.written();
  messages[0]?.written();
  const acknowledged = () =>
    second.heard.flatMap(({ header }) => (header.kind === "written" ? [header.n] : []));
  await eventually(() => acknowledged().length === 2, "both are acknowledged");
  expect(acknowledged()).toEqual([2, 1]);
});

test("a request that is being answered is not refused as well", async () => {
  const { send, messages, refusals } = await openLink();
  send(request(1));
  for (let deaths = 0; deaths < 5; deaths += 1) {
    const one = await broker(deaths);
    await eventually(() => messagesOf(one).length === 1, "it came");
    one.say(WELCOME);
    if (deaths === 0) one.say({ kind: "message", n: 1, answers: 1 }, "{}");
    await eventually(() => messages.length === 1, "it is answered");
    one.socket.destroySoon();
  }
  await eventually(() => refusals.length === 1, "no more brokers are started");
  expect(refusals[0]?.given).toEqual([]);
});

test("an answer is handed on even if its request's id was used again meanwhile", async () => {
  const { send, messages } = await openLink();
  send(request(1));
  send(request(1));
  const first = await broker(0);
  await eventually(() => messagesOf(first).length === 2, "both came");
  first.say({ kind: "message", n: 1, answers: 1 }, "{}");
  await eventually(() => messages.length === 1, "the answer is handed on");
});

test("an id that is used again belongs to the newer request", async () => {
  const { send } = await openLink();
  send(request(1));
  send(request(1));
  const first = await broker(0);
  await eventually(() => messagesOf(first).length === 2, "both came");
  first.socket.destroy();
  const second = await broker(1);
  await eventually(() => messagesOf(second).length === 1, "one came again");
  expect(messagesOf(second)[0]?.n).toBe(2);
});

test("brokers that die one after another are not followed for ever", async () => {
  const { send, refusals } = await openLink();
  send(request(1));
  for (let deaths = 0; deaths < 5; deaths += 1) {
    const dying = await broker(deaths);
    dying.say(WELCOME);
    dying.socket.destroySoon();
  }
  await eventually(() => refusals.length === 1, "it is refused");
  expect(refusals[0]).toMatchObject({ given: [{ id: "1" }], isFinal: false });
  expect(refusals[0]?.error.message).toMatch(/again and again.*doctor/);
  expect(brokers).toHaveLength(5);
  // The next message tries again.
  send(request(2));
  const next = await broker(5);
  await eventually(() => messagesOf(next).length === 1, "it came");
});

test("a broker that answered before it died is followed, however often that happens", async () => {
  const { send, refusals, messages } = await openLink();
  for (let deaths = 0; deaths < 7; deaths += 1) {
    send(request(deaths));
    const one = await broker(deaths);
    one.say(WELCOME);
    await eventually(() => messagesOf(one).length === 1, "it came");
    one.say({ kind: "message", n: 1, answers: messagesOf(one)[0]?.n }, "{}");
    await eventually(() => messages.length === deaths + 1, "it is answered");
    messages[deaths]?.written();
    one.socket.destroySoon();
  }
  await broker(7);
  expect(refusals).toEqual([]);
});

test("after an end in order nothing is connected until the client says something", async () => {
  const { send, link, ends } = await openLink();
  send({ jsonrpc: "2.0", method: "notifications/initialized" });
  const first = await broker(0);
  await eventually(() => messagesOf(first).length === 1, "it came");
  first.say({ kind: "ready", storeId: "store" });
  first.say({ kind: "ended" });
  first.socket.end();
  await once(first.socket, "close");
  send(request(1));
  const second = await broker(1);
  await eventually(() => messagesOf(second).length === 2, "the greeting and the request came");
  link.end("end");
  await eventually(() => second.heard.at(-1)?.header.kind === "end", "it says so");
  second.say({ kind: "ended" });
  second.socket.end();
  await eventually(() => ends() === 1, "it has ended");
});

test("after an end before its store was open the client waits for the broker that follows", async () => {
  const { send } = await openLink();
  send({ jsonrpc: "2.0", method: "notifications/initialized" });
  const first = await broker(0);
  await eventually(() => messagesOf(first).length === 1, "it came");
  first.say(WELCOME);
  first.say({ kind: "ended" });
  first.socket.end();
  expect((await broker(1)).heard[0]?.header).toMatchObject({ kind: "hello" });
});

test("a broker that accepts once more in the middle of its death has died once", async () => {
  const { send, refusals } = await openLink();
  send(request(1));
  for (let deaths = 0; deaths < 4; deaths += 1) {
    const dying = await broker(2 * deaths);
    dying.say(WELCOME);
    dying.socket.destroySoon();
    (await broker(2 * deaths + 1)).socket.destroy();
  }
  const next = await broker(8);
  await eventually(() => messagesOf(next).length === 1, "it came");
  expect(refusals).toEqual([]);
});

describe("a broker that is stopped, or hangs", () => {
  const pings = ({ heard }: { heard: Frame<ToBroker>[] }) =>
    heard.filter(({ header }) => header.kind === "ping").length;

  test("and never greets: its client learns it, and what to do", async () => {
    const { send, refusals } = await openLink({ lookMs: 10 });
    send(request(1));
    await broker(0);
    await eventually(() => refusals.length === 1, "it is refused");
    expect(refusals[0]).toMatchObject({ given: [{ id: "1" }], isFinal: true });
    expect(refusals[0]?.error.message).toMatch(/^The broker does not answer.*unity-broker down/);
  });

  test("a request that was cancelled gets no answer, and is not waited for any more", async () => {
    const { send, refusals, link } = await openLink({ lookMs: 10 });
    send(request(1));
    send(request(2));
    send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } });
    (await broker(0)).say(WELCOME);
    await eventually(() => refusals.length === 1, "it is refused");
    expect(refusals[0]?.given.map(({ id }) => id)).toEqual(["1"]);
    expect(link.sent.isEmpty()).toBe(true);
  });

  test("after it greeted: what is open is refused, once, and the next message tries again", async () => {
    const { send, refusals, messages } = await openLink({ lookMs: 10 });
    send(request(1));
    const first = await broker(0);
    first.say(WELCOME);
    await eventually(() => refusals.length === 1, "it is refused");
    expect(refusals[0]).toMatchObject({ given: [{ id: "1" }], isFinal: false });
    expect(refusals[0]?.error.message).toMatch(/^The broker \(process 1\) does not answer/);
    await eventually(() => first.socket.destroyed, "nobody is left to hear a late answer");
    send(request(2));
    const second = await broker(1);
    await eventually(
      () => messagesOf(second).length === 1,
      "the next one came, and the refused one not again",
    );
    second.say(WELCOME);
    second.say({ kind: "message", n: 1, answers: messagesOf(second)[0]?.n }, "{}");
    await eventually(() => messages.length === 1, "it is answered");
  });

  test("is not one that works for long: it is asked, and says so", async () => {
    const { send, refusals, messages } = await openLink({ lookMs: 10 });
    send(request(1));
    const one = await broker(0);
    one.say(WELCOME);
    readFrames<ToBroker>(one.socket, ({ header }) => {
      if (header.kind === "ping") one.say({ kind: "pong" });
    });
    await eventually(() => pings(one) >= 8, "it was asked often");
    expect(refusals).toEqual([]);
    one.say({ kind: "message", n: 1, answers: 1 }, "{}");
    await eventually(() => messages.length === 1, "it is answered");
  });
});
