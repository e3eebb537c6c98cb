/** Which Redis is accepted at the start, what is told of it, and that all of the store fits into one slot of a Cluster. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { channels, keys } from "../../../src/shared/store/keys.js";
import { checkRedis, elsewhereInCluster } from "../../../src/shared/store/redis-check.js";
import { openStore, type Store } from "../../../src/shared/store/store.js";
import { eventually } from "../../harness/eventually.js";
import { played } from "../../harness/long-form.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import { type RedisSettings, type RedisSite, startRedisSite } from "../../harness/redis/redis-site.js";
import { stagesWith } from "../../harness/system/stages.js";
import { useSystem } from "../../harness/system/system.js";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function startSite(settings: RedisSettings = {}): Promise<RedisSite> {
  const site = await startRedisSite(settings);
  closers.push(expectNoLeak, () => site.stop());
  return site;
}

async function open(port: number): Promise<{ store: Store; reported: string[] }> {
  const reported: string[] = [];
  const address = { host: "127.0.0.1", port };
  const store = await openStore(address, {
    retentionMs: 60_000,
    onError: ({ message }) => reported.push(message),
  });
  closers.push(() => store.close());
  return { store, reported };
}

const portOf = (site: RedisSite): number => (site.connection as { port: number }).port;

describe("by its own account, a Redis", () => {
  const info = (fields: Record<string, string>): string =>
    Object.entries({
      redis_version: "7.2.4",
      role: "master",
      aof_enabled: "1",
      maxmemory_policy: "noeviction",
      ...fields,
    })
      .map(([name, value]) => `${name}:${value}\r\n`)
      .join("");

  test.each([
    ["is too old", { redis_version: "6.0.16" }, /6\.0\.16 is too old\. Use Redis 6\.2 or later, or Valkey/],
    ["is older still", { redis_version: "5.0.7" }, /too old/],
    [
      "evicts",
      { maxmemory_policy: "volatile-lru" },
      /evicts data .*`CONFIG SET maxmemory-policy noeviction`/,
    ],
    [
      "is a replica",
      { role: "slave", master_host: "db-1", master_port: "6380" },
      /replica of db-1:6380\. .*REPLICAOF NO ONE/,
    ],
    ["is a Sentinel", { redis_mode: "sentinel", aof_enabled: "0" }, /Sentinel.*redis\+sentinel:/],
  ])("that %s is refused", (_what, fields, message) => {
    expect(() => checkRedis(info(fields), "always")).toThrow(
      expect.objectContaining({ code: "STORE_UNFIT", message: expect.stringMatching(message) }),
    );
  });

  test.each([
    ["everysec", {}, "Redis 7.2.4, AOF everysec", []],
    ["always", { redis_version: "6.2.0" }, "Redis 6.2.0, AOF always", []],
    ["everysec", { valkey_version: "8.1.0" }, "Valkey 8.1.0, AOF everysec", []],
    [undefined, {}, "Redis 7.2.4, AOF (appendfsync unknown)", []],
    ["no", {}, "Redis 7.2.4, AOF no", [/half a minute/]],
    ["everysec", { aof_enabled: "0" }, "Redis 7.2.4, no AOF", [/no AOF/]],
    ["everysec", { aof_last_write_status: "err" }, "Redis 7.2.4, AOF everysec", [/disk full/]],
    [
      "everysec",
      { cluster_enabled: "1" },
      "Redis 7.2.4, AOF everysec",
      [/node of a Cluster.*does not follow/],
    ],
  ])(
    "with appendfsync %s and %o is described, and what is weak about it told",
    (fsync, fields, describes, reported) => {
      const redisCheck = checkRedis(info(fields), fsync);
      expect(redisCheck.describes).toBe(describes);
      expect(redisCheck.concerns.map(({ says }) => says)).toEqual(
        reported.map((text) => expect.stringMatching(text)),
      );
    },
  );

  test("another node of a Cluster has the slot: named", () => {
    expect(elsewhereInCluster(new Error("MOVED 5798 10.0.0.2:6379"))?.message).toContain("10.0.0.2:6379");
    expect(elsewhereInCluster(new Error("ERR unknown command"))).toBeUndefined();
  });
});

describe("a real one", () => {
  test.each(["everysec", "always"])("with appendfsync %s is told as such", async (appendfsync) => {
    const { store, reported } = await open(portOf(await startSite({ appendfsync })));
    expect(store.redisCheck.describes).toMatch(new RegExp(`, AOF ${appendfsync}$`));
    expect(reported).toEqual([]);
  });

  test("that forbids CONFIG, as managed services do, is accepted", async () => {
    const site = await startSite({ "rename-command": 'CONFIG ""' });
    const { store, reported } = await open(portOf(site));
    expect(store.redisCheck.describes).toContain("appendfsync unknown");
    expect(reported).toEqual([]);
  });

  test("that is a replica is refused with its master's address", async () => {
    const site = await startSite();
    const { port } = await site.addReplica();
    await expect(open(port)).rejects.toMatchObject({
      code: "STORE_UNFIT",
      message: expect.stringMatching(/replica of 127\.0\.0\.1:\d+\. Set REDIS_URL to the master/),
    });
  });

  test("that is a Cluster without our slot is refused", async () => {
    const site = await startSite({ "cluster-enabled": "yes" });
    await expect(open(portOf(site))).rejects.toMatchObject({
      code: "STORE_UNFIT",
      message: expect.stringContaining("does not serve the broker's slot"),
    });
  });
});

describe("a Cluster of one node", () => {
  let site: RedisSite;
  beforeEach(async () => {
    site = await startRedisSite({ "cluster-enabled": "yes" });
    await site.ask("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
    const info = async () => String(await site.ask("CLUSTER", "INFO"));
    await eventually(async () => (await info()).includes("cluster_state:ok"), "it serves its slots");
  });
  afterEach(() => site.stop());
  const { start } = useSystem(() => site);
  const stages = stagesWith((more) => start({ gateway: { sweepMs: 50 }, ...more }));

  // It refuses every command and script whose keys lie in more than one slot.
  test.each(played(stages, ["was taken, its Editor is away", "runs"]))(
    "serves an operation that %s, and all keys are in one slot",
    async (_stage, reach) => {
      const scene = await reach();
      const { system, ann, record, args } = scene;
      const { logId } = record;
      await system.store.operations.report(logId, { progress: { seq: 1, progress: 1 }, partialResult: [] });
      await scene.release();
      expect(await ann.outcome(logId)).toMatchObject({ record: { state: "completed" } });
      expect((await ann.submit("work", args, { editor: record.editor })).relation).toBe("replayed");
      const forced = await ann.submit("work", args, { editor: record.editor, force_new: logId });
      if (args.Hold) {
        await ann.reaches(forced.record.logId, "running");
        system.bench.finish("a");
      }
      await ann.outcome(forced.record.logId);
      const found = (await site.ask("KEYS", "*")) as string[];
      expect(found.length).toBeGreaterThan(20);
      expect(found.filter((key) => !key.startsWith("{ujb}:"))).toEqual([]);
      expect(system.warnings.join("\n")).toContain("node of a Cluster");
      expect(system.warnings.join("\n")).not.toMatch(/CROSSSLOT|MOVED/);
    },
  );
});

test("every key and channel on their page has the one hash tag", () => {
  const named = Object.values(keys).map((key) =>
    typeof key === "string" ? key : (key as (...parts: string[]) => string)("a", "b"),
  );
  for (const key of [...named, ...Object.values(channels)]) expect(key).toMatch(/^\{ujb\}:/);
});
