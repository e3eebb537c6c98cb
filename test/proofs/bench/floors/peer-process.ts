/**
 * The far end of the floors, a process of its own: a TCP peer that echoes JSON-RPC requests, and a BullMQ worker that
 * publishes what it was given. Neither has a ledger, a lease or a record.
 */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { Worker } from "bullmq";
import { Redis } from "ioredis";
import { createFrameParser, encodeFrame, parseRpc, rpcResult } from "../shipped.js";
import { type BareJob, bareChannel, bareQueue, type PeerSettings } from "./bare-queue.js";
import { endWithParent, tellParent } from "./child-process.js";

const { address } = JSON.parse(process.argv[2] ?? "") as PeerSettings;

const server = createServer({ noDelay: true }, (socket) => {
  const parser = createFrameParser(1_000_000);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    parser.push(chunk);
    for (let frame = parser.next(); frame?.kind === "message"; frame = parser.next()) {
      const message = parseRpc(frame.text);
      if (message.kind === "request") socket.write(encodeFrame(rpcResult(message.id, message.params)));
    }
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");

const publisher = new Redis(address);
const worker = new Worker<BareJob>(
  bareQueue,
  async ({ data }) => {
    await publisher.publish(bareChannel, JSON.stringify(data));
  },
  { connection: { ...address, maxRetriesPerRequest: null } },
);
worker.on("error", () => undefined);
await worker.waitUntilReady();

endWithParent(async () => {
  await worker.close(true);
  publisher.disconnect();
  server.close();
});
tellParent({ port: (server.address() as AddressInfo).port });
