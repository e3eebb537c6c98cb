/** A process that starts while its Redis restarts: one that serves waits for it, a command does not. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openOnceReachable } from "../../../src/cli/processes/runtime.js";
import { openStore } from "../../../src/shared/store/store.js";
import { environment } from "../../harness/processes/installation.js";
import { createProcesses, type Processes, until } from "../../harness/processes/processes.js";
import { layRedisLine, type RedisLine } from "../../harness/redis/process-redis.js";
import { startTestRedis, type TestRedis } from "../../harness/redis/redis.js";
import { SILENT } from "../../harness/silent.js";

let redis: TestRedis;
let line: RedisLine;
let processes: Processes;
let folder: string;
beforeEach(async () => {
  redis = await startTestRedis();
  line = await layRedisLine(redis.connection);
  processes = createProcesses();
  folder = mkdtempSync(join(tmpdir(), "ujb-start-"));
});
afterEach(async () => {
  expect(await processes.close()).toEqual([]);
  await line.close();
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("a worker that starts while Redis is down serves once it is back", async () => {
  await redis.kill();
  const worker = processes.start("worker", ["worker"], environment(folder, { REDIS_URL: line.url }));
  await until("it waits", () => worker.stderr.includes("the start waits for it"));
  await redis.restart();
  expect(await worker.line(/^Worker for the Editors/)).toBeTruthy();
});

test.each(["worker", "gateway", "mcp"])("%s ends at once if it is asked to while it waits", async (name) => {
  await redis.kill();
  const env = environment(folder, { REDIS_URL: line.url, UNITY_BROKER_PORT: "0" });
  const waiting = processes.start(name, [name], env);
  await until("it waits", () => waiting.stderr.includes("the start waits for it"));
  expect(await waiting.kill("SIGTERM")).toEqual({ code: 0, signal: null });
  expect(waiting.stderr).not.toContain("Tried Redis");
});

test("the wait ends with the error of the last attempt, and nothing else is waited for", async () => {
  await redis.kill();
  let attempts = 0;
  const open = (target: string) => {
    attempts += 1;
    return openStore(target, { retentionMs: 1 });
  };
  const waiting = openOnceReachable(() => open(line.url), { log: SILENT, waitMs: 200 });
  await expect(waiting).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
  expect(attempts).toBeGreaterThan(1);

  attempts = 0;
  const malformed = openOnceReachable(() => open("redis://:a/b@localhost"), { log: SILENT, waitMs: 60_000 });
  await expect(malformed).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
  expect(attempts).toBe(1);
});
