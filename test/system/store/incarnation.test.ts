/** ▲13 The store's incarnation changes whenever the store may have lost what was written last, and only then. */
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defaultDirectories } from "../../../src/embedded-redis/directories.js";
import { type EmbeddedRedisOptions, stopEmbeddedRedis } from "../../../src/embedded-redis/embedded-redis.js";
import { identify } from "../../../src/shared/machine/living-process.js";
import { keys } from "../../../src/shared/store/keys.js";
import { createIncarnations, orderlyEnd } from "../../../src/shared/store/schema.js";
import { openStore } from "../../../src/shared/store/store.js";
import { type McpCaller, useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { until } from "../../harness/processes/processes.js";
import { createDataDirectory, startTestRedis, type TestDataDirectory } from "../../harness/redis/redis.js";
import { whenStoreIsBack } from "../../harness/system/store-back.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

// As it is installed: the keeper is a program of its own, which only the built form has beside it.
const { ensureEmbeddedRedis } = (await import(
  new URL("../../../dist/embedded-redis/embedded-redis.js", import.meta.url).href
)) as typeof import("../../../src/embedded-redis/embedded-redis.js");

test("of the processes that begin a store at once the first gives it its id, whatever their clocks say", async () => {
  const redis = await startTestRedis();
  const hand = new Redis({ ...redis.connection });
  const id = `${Date.now() + 60_000}.of-a-machine-whose-clock-is-ahead`;
  await hand.set(keys.storeId, id);
  const store = await openStore(redis.connection, { retentionMs: 60_000 });
  const heard = store.storeId();
  await store.close();
  hand.disconnect();
  await redis.stop();
  expect(heard).toBe(id);
});

describe("a private Redis", () => {
  let data: TestDataDirectory;
  let options: EmbeddedRedisOptions;
  beforeEach(() => {
    data = createDataDirectory();
    const { cacheDir } = defaultDirectories(process.env);
    options = { dataDir: data.dataDir, cacheDir, env: process.env, say: () => {}, lastCommand: orderlyEnd() };
  });
  afterEach(() => data.remove());

  /** The incarnation, as every process finds it that starts the Redis if need be. */
  const incarnation = async (): Promise<string> => {
    const { address } = await ensureEmbeddedRedis(options);
    const redis = new Redis({ ...address, retryStrategy: null });
    try {
      return await createIncarnations(redis).incarnation();
    } finally {
      redis.disconnect();
    }
  };
  const pid = async () => (await ensureEmbeddedRedis(options)).pid;
  const isGone = (server: number) => until("the server has ended", () => identify(server) === undefined);

  test("that is shut down in order keeps it, however often, used or not", async () => {
    const first = await incarnation();
    await stopEmbeddedRedis(options);
    expect(await incarnation()).toBe(first);
    await stopEmbeddedRedis(options);
    await ensureEmbeddedRedis(options);
    await stopEmbeddedRedis(options);
    expect(await incarnation()).toBe(first);
  });

  test("that ends because nobody uses it keeps it", async () => {
    const server = await ensureEmbeddedRedis({ ...options, idleMs: 1_000 });
    const first = await incarnation();
    await isGone(server.pid);
    expect(await incarnation()).toBe(first);
  });

  test("that is killed changes it, also after an orderly end before", async () => {
    const first = await incarnation();
    process.kill(await pid(), "SIGKILL");
    const second = await incarnation();
    expect(second).not.toBe(first);
    await stopEmbeddedRedis(options);
    // Nobody asks for the incarnation in this life of it.
    const server = await pid();
    process.kill(server, "SIGKILL");
    await isGone(server);
    expect(await incarnation()).toBe(second);
    process.kill(await pid(), "SIGKILL");
    expect(await incarnation()).not.toBe(second);
  });

  test("that was to be shut down and went on changes it when it is killed", async () => {
    const first = await incarnation();
    const { address } = await ensureEmbeddedRedis(options);
    const redis = new Redis({ ...address, retryStrategy: null });
    const [name = "", ...words] = orderlyEnd();
    await redis.call(name, ...words);
    expect(await redis.hexists(keys.incarnation, "orderly")).toBe(1);
    redis.disconnect();
    expect(await incarnation()).toBe(first);
    process.kill(await pid(), "SIGKILL");
    expect(await incarnation()).not.toBe(first);
  });
});

describe("the broker after it", () => {
  const { start } = useSystem();
  const { stdio } = useMcpCallers();

  const RUN = { SimulatedTests: 1, SimulatedSeconds: 0 };
  /** The Editor was told that its outcomes are stored: it does not tell them again by itself. */
  const acknowledged = ({ editor }: System): Promise<void> =>
    eventually(() => editor.status().unacknowledged.length === 0, "the outcomes are acknowledged");
  const incarnationOf = ({ store }: System): Promise<string> =>
    whenStoreIsBack(() => store.operations.incarnation());
  const CHANGES: Record<string, (system: System) => Promise<void>> = {
    "a flush": async ({ redis }) => redis.flush(),
    "a kill and a restart": async ({ redis }) => {
      await redis.kill();
      await redis.restart();
    },
  };

  test.each(Object.keys(CHANGES))(
    "%s changes the incarnation, and each Editor is imported again",
    async (how) => {
      const system = await start();
      const { editor, store } = system;
      const before = await incarnationOf(system);
      await eventually(
        async () => (await store.operations.importedIn(editor.editorId)) === before,
        "the Editor is imported",
      );
      await CHANGES[how]?.(system);
      const after = await incarnationOf(system);
      expect(after).not.toBe(before);
      await eventually(
        async () => (await store.operations.importedIn(editor.editorId).catch(() => undefined)) === after,
        "the Editor is imported again",
      );
    },
  );

  test("a claim from before a change is refused, and sent once the Editor's operations are imported", async () => {
    const system = await start({ worker: null });
    const { editor, bench, hand, store } = system;
    const { toEditor } = await system.addCabledWorker(editor);
    await system.present(editor);
    const ann = system.client();
    const { record: known } = await ann.submit("work", { Name: "known" });
    await ann.outcome(known.logId);
    await acknowledged(system);
    // The owner said hello in the incarnation before; nothing but the claim tells it of the change.
    await hand.hset(keys.incarnation, "run", "another");
    await hand.del(keys.operation(known.logId), keys.tombstone(known.logId));
    let isImported: Promise<boolean> | undefined;
    toEditor.before("operation/submit", () => {
      isImported = store.operations.find(known.logId).then((found) => found !== undefined);
    });
    const { record } = await ann.submit("work", { Name: "a" });
    expect((await ann.outcome(record.logId)).record.state).toBe("completed");
    expect(await isImported).toBe(true);
    expect(await system.record(known.logId)).toMatchObject({ rebuilt: true });
    expect(bench.begun).toEqual(["known", "a"]);
  });

  test("an emptied store that a new process began gets its id back from one that runs: its Editors stay its own", async () => {
    const { client, redis, hand, store, addWorker, executions } = await start();
    const ann = client();
    const { record } = await ann.submit("work", { Name: "a" });
    await ann.outcome(record.logId);
    await redis.flush();
    await addWorker();
    await eventually(async () => (await hand.get(keys.storeId)) === store.storeId(), "it has its id again");
    const again = await whenStoreIsBack(() => ann.submit("work", { Name: "b" }));
    await ann.outcome(again.record.logId);
    expect([executions("a"), executions("b")]).toEqual([1, 1]);
  });

  test("a worker that came to it before its id did is refused by its Editors until then, and imports what they ran", async () => {
    const system = await start({ worker: null, editor: { foreignSilenceMs: 3_600_000 } });
    const { editor, store, hand } = system;
    const worker = await system.addWorker();
    await system.present(editor);
    const ann = system.client("local");
    const { record } = await ann.submit("work", { Name: "a" });
    await ann.outcome(record.logId);
    await acknowledged(system);
    await worker.close();
    await hand.del(keys.operation(record.logId), keys.tombstone(record.logId), keys.chain(record.hash));
    await hand.hset(keys.incarnation, "run", "another");
    // As a process that knows no id of it begins an emptied store.
    await hand.set(keys.storeId, `${Date.now() + 1}.new`);
    await system.addWorker();
    await eventually(
      async () => (await store.editors.diagnoses()).get(editor.editorId)?.code === "FOREIGN_BROKER",
      "the Editor refuses it",
    );
    await store.claim();
    await system.present(editor);
    expect(await system.record(record.logId)).toMatchObject({ rebuilt: true });
    expect((await ann.submit("work", { Name: "a" })).relation).toBe("replayed");
    expect(system.executions("a")).toBe(1);
  });

  test("after a flush every acknowledged operation is imported, more than one page of them", async () => {
    const system = await start({ worker: null });
    const worker = await system.addWorker();
    await system.present(system.editor);
    const ann = system.client("local");
    const done = await Promise.all(
      Array.from({ length: 40 }, (_none, at) =>
        ann.submit("work", { Name: `a${at}`, Data: "x".repeat(100) }),
      ),
    );
    for (const { record } of done) await ann.outcome(record.logId);
    await acknowledged(system);
    await worker.close();
    const storeId = system.store.storeId();
    await system.redis.flush();
    await system.hand.set(keys.storeId, storeId);
    await system.addWorker();
    await system.present(system.editor);
    const now = await system.store.operations.incarnation();
    await eventually(
      async () => (await system.store.operations.importedIn(system.editor.editorId)) === now,
      "the Editor is imported",
    );
    for (const { record } of done) expect(await system.record(record.logId)).toMatchObject({ rebuilt: true });
  });

  describe.each(Object.keys(CHANGES))("%s, and the same call again", (how) => {
    const story = async (tool: string, args: Record<string, unknown>) => {
      const system = await start();
      const caller: McpCaller = await stdio(system.gateway);
      const first = await caller.call(tool, args);
      expect(first).toMatchObject({ status: "completed" });
      await caller.call("get_operation_status", { log_id: first.log_id });
      await acknowledged(system);
      const { startedAt = 0 } = await system.record(first.log_id ?? "");
      const before = await incarnationOf(system);
      await CHANGES[how]?.(system);
      expect(await incarnationOf(system)).not.toBe(before);
      await whenStoreIsBack(() => system.present(system.editor));
      const again = await caller.call(tool, args);
      return { system, first, again, startedAt };
    };

    test("of a mutating tool is told its outcome as what it is, with its time, unless the store has kept that it was read", async () => {
      const { system, first, again, startedAt } = await story("work", { Name: "a" });
      if (how !== "a flush") {
        expect(again).toMatchObject({ status: "completed" });
        expect(again.log_id).not.toBe(first.log_id);
        return;
      }
      expect(again).toMatchObject({ status: "completed", deduplicated: true, force_new: first.log_id });
      // The Editor's own time, which is a little before the broker heard of it; the broker's is late by up to a round trip.
      const executedAt = Date.parse(again.executed_at ?? "");
      expect(executedAt).toBeGreaterThanOrEqual(Date.parse(first.accepted_at ?? ""));
      expect(executedAt).toBeLessThanOrEqual(startedAt + 50);
      expect(system.executions("a")).toBe(1);
    });

    test("of a repeatable tool runs again", async () => {
      const { system, again } = await story("run-tests", RUN);
      expect(again).toMatchObject({ status: "completed" });
      expect(again).not.toHaveProperty("deduplicated");
      expect(system.executions("run-tests")).toBe(2);
    });
  });

  test("one record alone is lost: what the Editor names in place of the next call ends, too", async () => {
    const system = await start();
    const { hand, gateway, store } = system;
    const caller: McpCaller = await stdio(gateway);
    const { log_id = "" } = await caller.call("run-tests", RUN);
    await acknowledged(system);
    const { hash } = await system.record(log_id);
    const ofIt = ["operation", "arguments", "result", "live", "tombstone"].map(
      (kind) => `{ujb}:${kind}:${log_id}`,
    );
    await hand.del(...ofIt, `{ujb}:chain:${hash}`);
    const again = await caller.call("run-tests", RUN);
    expect(again).toMatchObject({ status: "completed" });
    expect(again.log_id).not.toBe(log_id);
    await eventually(
      async () => (await store.operations.find(log_id))?.state === "completed",
      "it has ended",
    );
    expect(await system.record(log_id)).toMatchObject({ rebuilt: true });
    expect(system.executions("run-tests")).toBe(2);
  });
});
