import { once } from "node:events";
import { type AddressInfo, connect, createServer, type TcpNetConnectOpts } from "node:net";
import { Worker } from "bullmq";
import { describe, expect, test } from "vitest";
import type { OperationRecord } from "../../../src/shared/operation/operation.js";
import { isStoreAway } from "../../../src/shared/store/connect.js";
import type { EditorFence, Lease } from "../../../src/shared/store/editors/lease.js";
import { BULL_PREFIX, keys, SCHEMA_VERSION } from "../../../src/shared/store/keys.js";
import { openStore, type Store } from "../../../src/shared/store/store.js";
import { eventually } from "../../harness/eventually.js";
import { layCable } from "../../harness/system/cable.js";
import { hasJob } from "../../harness/system/job-state.js";
import { useOpenedStores } from "../../harness/system/opened-stores.js";

const { open, byHand, redis, closeLater } = useOpenedStores();

const record = (logId: string, changed: Partial<OperationRecord> = {}): OperationRecord => ({
  logId,
  hash: "hash",
  fingerprint: "fingerprint",
  principal: "ann",
  tool: "work",
  effect: "mutating",
  lane: "main",
  cancellable: false,
  keyed: false,
  editor: "game",
  editorOpen: true,
  after: null,
  order: 1,
  entered: 1,
  incarnation: "",
  mutationSeq: 0,
  state: "queued",
  acceptedAt: 1_000,
  createdBy: { caller: null, requestId: null },
  ...changed,
});

/** In the present incarnation of the store. */
const createIn = async (operations: Store["operations"], made: OperationRecord, version = "0") =>
  operations.create({ ...made, incarnation: await operations.incarnation() }, "{}", version);

const ASKER = { principal: "ann", caller: null };

describe("operations", () => {
  test("of two decisions on one snapshot only one is carried out", async () => {
    const { operations } = await open();
    const { version } = await operations.chain("hash", ASKER);
    const both = await Promise.all(["a", "b"].map((id) => createIn(operations, record(id), version)));
    expect(both.map(({ kind }) => kind).sort()).toEqual(["conflict", "created"]);
    const { records, newest } = await operations.chain("hash", ASKER);
    expect(records.map(({ logId }) => logId)).toEqual([newest]);
  });

  test("concurrent changes are all applied, none on top of an older record", async () => {
    const { operations } = await open();
    const other = await open();
    await createIn(operations, record("a"));
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? operations : other.operations).change("a", (latest) => ({
          record: { ...latest, order: latest.order + 1 },
        })),
      ),
    );
    expect((await operations.find("a"))?.order).toBe(21);
  });

  test("a delivery of what has ended begins no chain that has run out", async () => {
    const { operations } = await open();
    const hand = byHand();
    await createIn(operations, record("a"));
    await operations.change("a", (latest) => ({ record: { ...latest, state: "dispatched" } }));
    await operations.change("a", (latest) => ({ record: { ...latest, state: "completed" } }));
    await hand.del(keys.chain("hash"));
    await operations.change("a", (latest) => ({ record: { ...latest, firstDeliveredAt: 1 } }));
    expect(await hand.exists(keys.chain("hash"))).toBe(0);
  });

  test("what comes after the end is not dated before it", async () => {
    const { operations } = await open();
    await createIn(operations, record("a", { state: "dispatched" }));
    const endedAt = (await operations.now()) + 50_000;
    await operations.change("a", (latest) => ({ record: { ...latest, state: "completed", endedAt } }));
    const told = await operations.change("a", (latest, now) => ({
      record: { ...latest, firstDeliveredAt: now },
    }));
    expect(told).toMatchObject({ record: { firstDeliveredAt: endedAt } });
  });

  test("the clock is not remembered from an answer that came late", async () => {
    const cable = await layCable(() => redis().connection);
    closeLater(() => cable.close());
    const far = await openStore({ host: "127.0.0.1", port: cable.port }, { retentionMs: 60_000 });
    closeLater(() => far.close());
    const { operations } = far;
    await operations.now();
    cable.delay(300);
    await operations.now();
    cable.delay(0);
    const before = await (await open()).operations.now();
    expect(await operations.recentNow()).toBeGreaterThanOrEqual(before - 100);
  });

  test("a change over a slow line is not dated after it is made", async () => {
    const cable = await layCable(() => redis().connection);
    closeLater(() => cable.close());
    const far = await openStore({ host: "127.0.0.1", port: cable.port }, { retentionMs: 60_000 });
    closeLater(() => far.close());
    const { operations } = await open();
    await createIn(operations, record("a", { state: "dispatched" }));
    cable.delay(200);
    await far.operations.find("a");
    let present = Promise.resolve(0);
    const changed = await far.operations.change("a", (latest, startedAt) => {
      present = operations.now();
      return { record: { ...latest, state: "running", startedAt } };
    });
    cable.delay(0);
    expect(changed).toMatchObject({ kind: "applied", record: { startedAt: expect.any(Number) } });
    expect((await operations.find("a"))?.startedAt).toBeLessThanOrEqual(await present);
  });

  test("an owner without the lease writes nothing", async () => {
    const { operations } = await open();
    const hand = byHand();
    await createIn(operations, record("a"));
    await hand.set(keys.lease("game"), "the owner");
    const change = (latest: OperationRecord) => ({ record: { ...latest, state: "queued" as const } });
    expect(await operations.change("a", change, "another")).toEqual({ kind: "not_owner" });
    expect((await operations.find("a"))?.state).toBe("queued");
    expect(await operations.change("a", change, "the owner")).toMatchObject({ kind: "applied" });
    await hand.del(keys.lease("game"));
    expect(await operations.change("a", change, "the owner")).toEqual({ kind: "not_owner" });
    await operations.change("a", (latest) => ({ record: { ...latest, state: "expired" } }));
  });
});

describe("queues", () => {
  test("a job is added once however often, its removal lets it be added again", async () => {
    const { queues } = await open();
    const wanted = record("a", { state: "queued" });
    await queues.restore(wanted);
    await queues.restore(wanted);
    expect((await queues.ahead(wanted))?.length).toBe(0);
    await queues.restore(record("b"));
    expect((await queues.ahead(record("b")))?.length).toBe(1);
    await queues.remove(wanted);
    expect(await hasJob({ queues }, wanted)).toBe(false);
    expect((await queues.ahead(record("b")))?.length).toBe(0);
    await queues.restore(wanted);
  });

  test("who only looks leaves nothing behind: an Editor or a pool may be forgotten by then", async () => {
    const { queues } = await open();
    const hand = byHand();
    for (let looks = 0; looks < 3; looks += 1) {
      expect(await queues.isPaused("forgotten@1")).toBe(false);
      expect(await queues.waiting("pool:gone", "main", 0, 10)).toEqual([]);
    }
    expect(await hand.keys(`${BULL_PREFIX}:*`)).toEqual([]);
  });

  test("what an earlier owner had taken goes back into its place, locked or not", async () => {
    const { queues } = await open();
    const hand = byHand();
    const records = ["a", "b", "c"].map((logId, at) => record(logId, { state: "queued", turn: at + 1 }));
    for (const wanted of records) await queues.restore(wanted);
    const connection = redis().connection;
    const earlier = new Worker("game.main", null, { connection, prefix: BULL_PREFIX, autorun: false });
    closeLater(() => earlier.close());
    const taken = [await earlier.getNextJob("token"), await earlier.getNextJob("token")];
    expect(taken.map((job) => job?.data.logId)).toEqual(["a", "b"]);
    await hand.del(keys.queue("game.main", "hash.b:lock"));
    await queues.takeBack("game");
    expect(await Promise.all(records.map(async (each) => (await queues.ahead(each))?.length))).toEqual([
      0, 1, 2,
    ]);
    // The one that took it may still run: it has nothing more to say of the job.
    await expect(taken[0]?.moveToCompleted({}, "token", false)).rejects.toThrow();
    expect((await queues.ahead(records[0] as OperationRecord))?.length).toBe(0);
    await queues.takeBack("game");
  });
});

describe("the lease", () => {
  const leaseOf = (store: Store, ttlMs = 300) => {
    const held: EditorFence[] = [];
    let losses = 0;
    const lease: Lease = store.lease(
      "game",
      { ttlMs, renewMs: 30 },
      {
        onHeld: (fence) => void held.push(fence),
        onLost: () => {
          losses += 1;
        },
        onError: () => undefined,
      },
    );
    closeLater(() => lease.close());
    return { lease, held, losses: () => losses };
  };

  test("is held by one, goes over when given up, and its epoch only grows", async () => {
    const first = leaseOf(await open());
    await eventually(() => first.held.length === 1, "taken");
    const second = leaseOf(await open());
    const hand = byHand();
    await eventually(async () => (await hand.pttl(keys.lease("game"))) > 200, "renewed");
    expect(second.held).toEqual([]);
    await first.lease.close();
    await eventually(() => second.held.length === 1, "taken over");
    expect(second.held[0]?.epoch).toBeGreaterThan(first.held[0]?.epoch ?? 0);
    expect(second.held[0]?.ownerNonce).not.toBe(first.held[0]?.ownerNonce);
  });

  test("is lost by one that is cut off, before another can have it", async () => {
    const cable = await layCable(() => redis().connection);
    closeLater(() => cable.close());
    const far = await openStore(
      { host: "127.0.0.1", port: cable.port },
      { retentionMs: 60_000, commandTimeoutMs: 500 },
    );
    closeLater(() => far.close());
    const first = leaseOf(far);
    await eventually(() => first.held.length === 1, "taken");
    cable.hold();
    const hand = byHand();
    await eventually(() => first.losses() === 1, "lost");
    expect(first.lease.fence()).toBeUndefined();
    await eventually(async () => (await hand.exists(keys.lease("game"))) === 0, "free");
    const second = leaseOf(await open());
    await eventually(() => second.held.length === 1, "taken over");
  });

  test("is lost when somebody takes the key away; raising goes above what the Editor has seen", async () => {
    const { lease, held, losses } = leaseOf(await open());
    await eventually(() => held.length === 1, "taken");
    const raised = await lease.raise(41);
    expect(raised).toEqual({ epoch: 42, ownerNonce: held[0]?.ownerNonce });
    const hand = byHand();
    await hand.set(keys.lease("game"), "a stranger", "PX", 100);
    await eventually(() => losses() === 1, "lost");
    await eventually(() => held.length === 2, "taken again");
    expect(held[1]?.epoch).toBe(43);
  });
});

describe("a Redis that cannot be used", () => {
  test("is not there at the start: said with the address, and what to do", async () => {
    const opened = openStore({ path: "/nonexistent/redis.sock" }, { retentionMs: 1 });
    await expect(opened).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.stringMatching(/\/nonexistent\/redis\.sock.*ENOENT.*Start that Redis/s),
    });
    await expect(openStore("redis://:s3cret/tail@localhost", { retentionMs: 1 })).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.not.stringMatching(/s3cret|tail/),
    });
    await expect(openStore("redis://[::1]:1", { retentionMs: 1 })).rejects.toMatchObject({
      message: expect.not.stringMatching(/ENOTFOUND/),
    });
    await expect(openStore("redis://127.0.0.1:1", { retentionMs: 1 })).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
      message: expect.stringContaining("127.0.0.1:1"),
    });
  });

  test("evicts data: refused with the command that fixes it", async () => {
    const hand = byHand();
    await hand.config("SET", "maxmemory-policy", "allkeys-lru");
    closeLater(() => hand.config("SET", "maxmemory-policy", "noeviction"));
    await expect(open()).rejects.toMatchObject({
      code: "STORE_UNFIT",
      message: expect.stringContaining("CONFIG SET maxmemory-policy noeviction"),
    });
  });

  test("has no AOF: reported, not refused", async () => {
    const hand = byHand();
    await hand.config("SET", "appendonly", "no");
    closeLater(() => hand.config("SET", "appendonly", "yes"));
    const reported: string[] = [];
    await open({ onError: (error) => reported.push(error.message) });
    expect(reported).toEqual([expect.stringContaining("no AOF")]);
  });

  test("was used by a newer broker: refused with what to do", async () => {
    await byHand().set(keys.schema, String(SCHEMA_VERSION + 1));
    await expect(open()).rejects.toMatchObject({
      code: "STORE_UNFIT",
      message: expect.stringContaining("Install that release here too"),
    });
  });

  test.each(["cut", "hold"] as const)(
    "is lost while running (%s): an error in time, then it works by itself",
    async (kind) => {
      const cable = await layCable(() => redis().connection);
      closeLater(() => cable.close());
      const store = await openStore(
        { host: "127.0.0.1", port: cable.port },
        { retentionMs: 60_000, commandTimeoutMs: 500 },
      );
      closeLater(() => store.close());
      const notifier: string[] = [];
      store.notifier.on("changed", (logId) => notifier.push(logId));
      cable[kind]();
      await expect(store.operations.find("a")).rejects.toSatisfy(isStoreAway);
      await expect(store.queues.restore(record("a"))).rejects.toSatisfy(isStoreAway);
      cable.fix();
      const answers = () =>
        createIn(store.operations, record("a")).then(
          () => true,
          () => false,
        );
      await eventually(answers, "it answers again");
      await eventually(async () => {
        await store.operations.report("a", { progress: { seq: 1, progress: 1 } });
        return notifier.includes("a");
      }, "it hears again");
      await store.queues.restore(record("a"));
    },
  );

  test("ends inside a transaction: an error that names the store", async () => {
    const queued = Buffer.from("+QUEUED\r\n");
    const peer = createServer((near) => {
      const far = connect(redis().connection as TcpNetConnectOpts);
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const)
        one.on("error", () => undefined).on("close", () => other.destroy());
      near.on("data", (chunk) => far.write(chunk));
      far.on("data", (chunk) => {
        const at = chunk.indexOf(queued);
        near.write(at < 0 ? chunk : chunk.subarray(0, at + queued.length));
        if (at >= 0) near.end();
      });
    });
    peer.listen(0, "127.0.0.1");
    await once(peer, "listening");
    closeLater(async () => void peer.close());
    const { port } = peer.address() as AddressInfo;
    const store = await openStore({ host: "127.0.0.1", port }, { retentionMs: 60_000 });
    closeLater(() => store.close());
    const note = { at: 1, relation: "joined", caller: "session a", requestId: 1 } as const;
    await expect(store.operations.noteDuplicate("a", note)).rejects.toSatisfy(isStoreAway);
  });

  test("is lost again while its channels are subscribed, and the store closed: nothing is left unhandled", async () => {
    const cable = await layCable(() => redis().connection);
    closeLater(() => cable.close());
    const store = await openStore({ host: "127.0.0.1", port: cable.port }, { retentionMs: 60_000 });
    cable.cut();
    const asked = new Promise<void>((resolve) => {
      cable.before("subscribe", () => {
        cable.deafen();
        resolve();
      });
    });
    cable.fix();
    await asked;
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on("unhandledRejection", note);
    closeLater(() => process.off("unhandledRejection", note));
    await store.close();
    cable.cut();
    await eventually(() => !process.getActiveResourcesInfo().includes("TCPSocketWrap"), "it is gone");
    expect(unhandled).toEqual([]);
  });
});
