/** The frames of one turn of the event loop leave the simulated Editor together, in order, and before it waits again. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { encodeFrame } from "../../../src/shared/wire/rpc.js";
import { createOutbound, type Outbound } from "../../../src/simulator/wire/tcp-server.js";
import { createWireFaults, type WireFaults } from "../../../src/simulator/wire/wire-faults.js";

let faults: WireFaults;
let outbound: Outbound;
let peer: Socket;
let close: () => Promise<void>;
/** What the Editor wrote, one text a write. */
let writes: string[];

beforeEach(async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const accepted = once(server, "connection");
  peer = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [socket] = (await accepted) as [Socket];
  writes = [];
  const write = socket.write.bind(socket);
  socket.write = ((bytes: Buffer) => {
    writes.push(bytes.toString());
    return write(bytes);
  }) as typeof socket.write;
  faults = createWireFaults();
  outbound = createOutbound(socket, faults);
  close = async () => {
    for (const end of [socket, peer]) end.destroy();
    server.close();
    await once(server, "close");
  };
});
afterEach(() => close());

const framed = (...texts: string[]): string => texts.map((text) => encodeFrame(text).toString()).join("");

/** Everything that arrives until the connection ends. */
const received = async (): Promise<string> => {
  let text = "";
  peer.on("data", (chunk) => (text += chunk.toString()));
  await once(peer, "close");
  return text;
};

test("frames of one turn are one write, also those of its promises", async () => {
  outbound.send("1");
  await Promise.resolve();
  outbound.send("2");
  process.nextTick(() => outbound.send("3"));
  await nextTurn();
  expect(writes).toEqual([framed("1", "2", "3")]);
});

test("a frame does not wait for the next turn", async () => {
  outbound.send("1");
  await nextTurn();
  expect(writes).toEqual([framed("1")]);
  outbound.send("2");
  await nextTurn();
  expect(writes).toEqual([framed("1"), framed("2")]);
});

test("a connection that is cut has handed over what was sent before", async () => {
  const all = received();
  outbound.send("1");
  outbound.cut();
  outbound.send("2");
  expect(await all).toBe(framed("1"));
});

test("a connection that ends afterwards takes no frame more", async () => {
  const all = received();
  outbound.send("1");
  outbound.endAfterwards();
  outbound.send("2");
  expect(await all).toBe(framed("1"));
});

test("a silent Editor holds frames of the same turn, and cutting it says nothing", async () => {
  outbound.send("1");
  faults.silence();
  await nextTurn();
  expect(writes).toEqual([]);
  faults.speak();
  await nextTurn();
  expect(writes).toEqual([framed("1")]);
  faults.silence();
  const all = received();
  outbound.send("2");
  outbound.cut();
  expect(await all).toBe(framed("1"));
});

test("pieces of a frame are writes of their own, and a cut gives the rest of it", async () => {
  faults.pieceBytes = 5;
  const all = received();
  outbound.send("long enough");
  await nextTurn();
  await nextTurn();
  expect(writes.length).toBeGreaterThan(1);
  expect(Math.max(...writes.map((piece) => piece.length))).toBe(5);
  outbound.cut();
  expect(await all).toBe(framed("long enough"));
});
