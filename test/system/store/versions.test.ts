/** A store of another release: a broker does not start on it, and one that runs does no harm. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { keys, SCHEMA_VERSION } from "../../../src/shared/store/keys.js";
import { openStore } from "../../../src/shared/store/store.js";
import { environment } from "../../harness/processes/installation.js";
import { startWorld } from "../../harness/processes/process-world.js";
import { MAIN, until } from "../../harness/processes/processes.js";
import { layRedisLine } from "../../harness/redis/process-redis.js";
import { startTestRedis, type TestRedis } from "../../harness/redis/redis.js";

const NEWER = String(SCHEMA_VERSION + 1);
const UPGRADE = "Install that release here too, from the source you installed this one from.";

describe("a store of another release", () => {
  let redis: TestRedis;
  let hand: Redis;
  let folder: string;

  beforeEach(async () => {
    redis = await startTestRedis();
    hand = new Redis({ ...redis.connection });
    folder = mkdtempSync(join(tmpdir(), "ujb-versions-"));
  });
  afterEach(async () => {
    hand.disconnect();
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(["gateway", "worker", "mcp", "up"])(
    "of a newer one: %s does not start, and says how to upgrade",
    async (name) => {
      await hand.set(keys.schema, NEWER);
      const line = await layRedisLine(redis.connection);
      const env = environment(folder, { REDIS_URL: line.url, UNITY_BROKER_PORT: "0" });
      const child = spawn(process.execPath, [MAIN, name], { env, stdio: ["ignore", "pipe", "pipe"] });
      let stdout = "";
      let stderr = "";
      child.stdout.on("data", (text) => {
        stdout += text;
      });
      child.stderr.on("data", (text) => {
        stderr += text;
      });
      const code = await new Promise((resolve) => child.once("close", resolve));
      await line.close();
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain("A newer broker");
      expect(stderr).toContain(UPGRADE);
      expect(await hand.get(keys.schema)).toBe(NEWER);
    },
  );

  it("of an earlier release is refused, with what to do, and stays as it is", async () => {
    const before = String(SCHEMA_VERSION - 1);
    await hand.set(keys.schema, before);
    await expect(openStore(redis.connection, { retentionMs: 60_000 })).rejects.toMatchObject({
      code: "STORE_UNFIT",
      message: expect.stringMatching(
        /operations of an earlier release \(schema \d+\).*Empty it with FLUSHDB/,
      ),
    });
    expect(await hand.keys("*")).toEqual([keys.schema]);
    expect(await hand.get(keys.schema)).toBe(before);
  });
});

describe("a broker that runs when a newer one comes", () => {
  it("begins nothing more and lets its Editors go; what runs is collected by the newer one", async () => {
    const world = await startWorld();
    try {
      const client = await world.http();
      const running = { MenuItemPath: "Simulator/Block For 2 Seconds", timeout: 0 };
      const accepted = await client.call("execute-menu-item", running);
      await until("it runs", async () => (await world.editor.executions()).length === 1);

      await world.hand.set(keys.schema, NEWER);

      const refused = await client.call("execute-menu-item", { ...running, MenuItemPath: "Simulator/Other" });
      expect(refused).toMatchObject({ status: "error", error_code: "STORE_UNFIT" });
      expect(JSON.stringify(refused)).toContain(UPGRADE);
      await until("the worker has let the Editor go", async () => {
        const left = await world.hand.exists(keys.lease(world.editor.editorId));
        return left === 0 && world.worker.process.stderr.includes("lost the Editor's lease");
      });
      // Reading goes on.
      expect(await client.call("get_operation_status", { log_id: accepted.log_id })).toMatchObject({
        log_id: accepted.log_id,
      });

      // What the newer worker finds; no second version is at hand.
      await world.hand.set(keys.schema, String(SCHEMA_VERSION));
      const reported = await client.call("get_operation_result", {
        log_id: accepted.log_id,
        wait: true,
        timeout: 20,
      });
      expect(reported).toMatchObject({ status: "completed" });
      expect(await world.editor.executions()).toHaveLength(1);
      await client.close();
    } finally {
      await world.close();
    }
  });
});
