/** The floors: what the parts cost by themselves, with nothing of the broker around them. */
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import type { RedisAddress } from "../../../../src/shared/store/connect.js";
import type { Row } from "../measure/rounds.js";
import { createFrameParser, encodeFrame, openJournal, parseRpc, rpcRequest } from "../shipped.js";
import { type BareJob, bareChannel, bareQueue } from "./bare-queue.js";

export interface Floor {
  readonly rows: Row[];
  close(): Promise<void>;
}

/** As long as a journal's or a request's usual payload. */
const TEXT = "x".repeat(200);

/** One request and its echo, in Content-Length frames, from another process. */
export async function echoFloor(port: number): Promise<Floor> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  await once(socket, "connect");
  const parser = createFrameParser(1_000_000);
  let answered: (id: unknown) => void = () => undefined;
  let lastId = 0;
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    parser.push(chunk);
    for (let frame = parser.next(); frame?.kind === "message"; frame = parser.next()) {
      const message = parseRpc(frame.text);
      if (message.kind === "result") answered(message.id);
    }
  });
  const call = (): Promise<void> =>
    new Promise((resolve, reject) => {
      lastId += 1;
      const wanted = lastId;
      answered = (id) => (id === wanted ? resolve() : reject(new Error(`echo of ${id}, not of ${wanted}`)));
      socket.write(encodeFrame(rpcRequest(wanted, "echo", { text: TEXT })));
    });
  return {
    rows: [{ key: "echo", title: "TCP echo", inFlight: 1, call }],
    async close() {
      socket.destroy();
    },
  };
}

export async function pingFloor(address: RedisAddress): Promise<Floor> {
  const redis = await connected(address);
  return {
    rows: [{ key: "ping", title: "Redis PING", inFlight: 1, call: () => redis.ping() }],
    async close() {
      redis.disconnect();
    },
  };
}

/** One line of about 300 bytes, by the very code of the simulated Editor's ledger, on the same file system. */
export function flushFloor(folder: string): Floor {
  const journal = openJournal(join(folder, "floor.log"));
  let seq = 0;
  const call = (): void => {
    seq += 1;
    journal.append({ seq, at: Date.now(), kind: "floor", text: TEXT, padding: "y".repeat(40) });
    journal.flush();
  };
  return {
    rows: [{ key: "flush", title: "one journal flush", inFlight: 1, call }],
    async close() {
      journal.close("lose");
    },
  };
}

/** `add`, and the message with which another process's worker publishes the result. */
export async function bareQueueFloor(address: RedisAddress, inFlight: number): Promise<Floor> {
  const connection = await connected(address);
  const subscriber = await connected(address);
  const queue = new Queue<BareJob>(bareQueue, { connection });
  const waiting = new Map<number, () => void>();
  let lastCall = 0;
  subscriber.on("message", (_channel, text) => {
    const { call } = JSON.parse(text) as BareJob;
    waiting.get(call)?.();
    waiting.delete(call);
  });
  await subscriber.subscribe(bareChannel);
  const call = async (): Promise<void> => {
    lastCall += 1;
    const mine = lastCall;
    const done = new Promise<void>((resolve) => waiting.set(mine, resolve));
    await queue.add("bare", { call: mine, text: TEXT }, { removeOnComplete: { age: 86_400 } });
    await done;
  };
  return {
    rows: [
      { key: "bare", title: "bare BullMQ: add → published", inFlight: 1, call },
      { key: "bare-many", title: `bare BullMQ, ${inFlight} in flight`, inFlight, call },
    ],
    async close() {
      await queue.close();
      connection.disconnect();
      subscriber.disconnect();
    },
  };
}

async function connected(address: RedisAddress): Promise<Redis> {
  const redis = new Redis({ ...address, maxRetriesPerRequest: null });
  // A server that is ended before its clients is expected here.
  redis.on("error", () => undefined);
  await redis.ping();
  return redis;
}
