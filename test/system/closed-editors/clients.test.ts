/** Clients of real processes find the tools of an Editor that is closed, and what they call runs once it is opened. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore } from "../../../src/shared/store/store.js";
import { environment } from "../../harness/processes/installation.js";
import { openHttpClient, openStdioClient, type TestClient } from "../../harness/processes/process-clients.js";
import { createProcesses, type Processes, type RunningProcess } from "../../harness/processes/processes.js";
import { layRedisLine, type RedisLine } from "../../harness/redis/process-redis.js";
import { sharedTestRedis, type TestRedis } from "../../harness/redis/redis.js";

let redis: TestRedis;
let processes: Processes;
let line: RedisLine;
let folder: string;
let env: NodeJS.ProcessEnv;
beforeEach(async () => {
  redis = await sharedTestRedis();
  processes = createProcesses();
  folder = mkdtempSync(join(tmpdir(), "ujb-closed-"));
  line = await layRedisLine(redis.connection);
  env = environment(folder, { REDIS_URL: line.url });
});
afterEach(async () => {
  expect(await processes.close()).toEqual([]);
  await line.close();
  rmSync(folder, { recursive: true, force: true });
  await redis.flush();
});

/** A line for each execution. */
const executions = (): string => join(folder, "executions.log");

const openEditor = async (name: string): Promise<{ editor: RunningProcess; id: string }> => {
  const editor = processes.start(name, ["simulate", "--port", "0", "--counter-file", executions()], env);
  const [, id = ""] = await editor.line(/^Simulated Unity Editor (\S+)/);
  return { editor, id };
};

const clients: Record<string, (name: string) => Promise<TestClient>> = {
  stdio: (name) => openStdioClient(processes.start(name, ["mcp"], env)),
  async HTTP(name) {
    const up = processes.start(name, ["up", "--port", "0", "--insecure-local"], env);
    const [url] = await up.line(/http:\S+\/mcp/);
    const client = await openHttpClient(() => url);
    return { ...client, close: () => client.close().finally(() => up.kill("SIGTERM")) };
  },
};

const namesFor = async (client: TestClient): Promise<string[]> =>
  ((await client.request("tools/list")).tools as { name: string }[]).map(({ name }) => name);

/** What the janitor does once the retention has passed. */
async function retentionPasses(id: string): Promise<void> {
  const store = await openStore(redis.connection, { retentionMs: 60_000 });
  await store.editors.forget(id);
  await store.close();
}

test.each(Object.entries(clients))("over %s", async (_, open) => {
  const before = await openEditor("editor 1");
  const first = await open("broker 1");
  const names = await namesFor(first);
  expect(names).toContain("execute-menu-item");
  await first.close();
  before.editor.kill("SIGTERM");
  await before.editor.ended;
  await retentionPasses(before.id);

  const client = await open("broker 2");
  expect(await namesFor(client)).toEqual(names);
  const waiting = await client.call("execute-menu-item", { MenuItemPath: "File/Save Project", timeout: 1 });
  expect(waiting).toMatchObject({ status: "timeout", state: "queued", editor: before.id });
  expect(waiting.message).toMatch(/has closed|is not connected/);
  expect(waiting.message).toContain(`expires at ${String(waiting.waits_until).slice(0, 19)}`);

  await openEditor("editor 2");
  const { log_id } = waiting;
  const ended = await client.call("get_operation_result", { log_id, wait: true, timeout: 30 });
  expect(ended, JSON.stringify(ended)).toMatchObject({ status: "completed" });
  expect(ended).not.toHaveProperty("deduplicated");
  expect(readFileSync(executions(), "utf8").trim().split("\n")).toHaveLength(1);
  expect(await client.call("list_operations", {})).toMatchObject({ operations: [{ log_id }] });
  await client.close();
});
