/** A lane ends in time, and takes its connections along. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { afterEach, test } from "vitest";
import { BULL_PREFIX } from "../../../src/shared/store/keys.js";
import { createLane } from "../../../src/worker/execution/lane.js";
import { eventually } from "../../harness/eventually.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import { sharedTestRedis } from "../../harness/redis/redis.js";
import { SILENT } from "../../harness/silent.js";
import { WITHOUT_STORE } from "../../harness/system/lonely-lane.js";

const TIMINGS = {
  jobLockMs: 4_000,
  stalledCheckMs: 150,
  idleLookMs: 100,
  heldRetryMs: 50,
  closeMs: 50,
};

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await expectNoLeak();
});

/** A way to Redis on which no answer to a blocking command comes, and a connection ends when the test lets it end. */
async function wayWithoutMarkers(redis: { path?: string; host?: string; port?: number }) {
  const sockets = new Set<Socket>();
  let count = 0;
  let left: (near: Socket) => void = () => undefined;
  /** The near end has said that it leaves; its connection stands until the test ends it. */
  const isLeaving = new Promise<Socket>((resolve) => {
    left = resolve;
  });
  const server = createServer({ allowHalfOpen: true }, (near) => {
    count += 1;
    const far = connect(redis as { path: string });
    let isBlocked = false;
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => sockets.delete(socket));
    }
    near.on("data", (chunk: Buffer) => {
      isBlocked ||= chunk.includes("bzpopmin");
      far.write(chunk);
    });
    far.on("data", (chunk: Buffer) => isBlocked || near.write(chunk));
    near.once("end", () => (isBlocked ? left(near) : near.end()));
    near.once("close", () => far.destroy());
    far.once("close", () => near.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as { port: number };
  return { address: { host: "127.0.0.1", port }, isLeaving, made: () => count, left: () => sockets.size };
}

test("a lane that closes while it renews a connection leaves none behind", async () => {
  const redis = await sharedTestRedis();
  closers.push(() => redis.flush());
  const way = await wayWithoutMarkers(redis.connection);
  const lane = createLane(
    {
      ...WITHOUT_STORE,
      ...{ address: way.address, queue: "q", concurrency: 1, log: SILENT },
      // It cannot be asked for anything any more: closed by force.
      storeAnswers: async () => false,
      process: async () => "refused",
    },
    TIMINGS,
  );
  // An answer that never comes: the connection is closed, to be opened once more.
  const leaving = await way.isLeaving;
  await lane.close();
  const before = way.made();
  leaving.end();
  await eventually(() => way.made() > before, "it is renewed behind the close");
  await eventually(() => way.left() === 0, "no connection is left");
});

test("a job that never ends keeps no connection and no timer of a lane that has closed", async () => {
  const redis = await sharedTestRedis();
  const queue = new Queue("q", { connection: redis.connection, prefix: BULL_PREFIX });
  const hand = new Redis(redis.connection);
  const connections = async (): Promise<number> =>
    String(await hand.client("LIST"))
      .trim()
      .split("\n").length;
  await queue.add("job", { logId: "op-1" });
  const before = await connections();
  let begin = (): void => undefined;
  const began = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const lane = createLane(
    {
      ...WITHOUT_STORE,
      ...{ address: redis.connection, queue: "q", concurrency: 1, log: SILENT },
      process() {
        begin();
        return new Promise(() => undefined);
      },
    },
    TIMINGS,
  );
  await began;
  await lane.close();
  await eventually(async () => (await connections()) === before, "its connections have ended");
  await queue.close();
  hand.disconnect();
  await redis.flush();
  // The renewal of the job's lock would go on, once in each quarter of the lock's time: see afterEach.
});
