/** The waiting side of a call goes away: its client hangs up, or the gateway process is killed. The call goes on. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { environment } from "../../harness/processes/installation.js";
import { type CallAnswer, type HttpClient, openHttpClient } from "../../harness/processes/process-clients.js";
import { createProcesses, type RunningProcess, until } from "../../harness/processes/processes.js";
import { layCable } from "../../harness/system/cable.js";
import { hasJob } from "../../harness/system/job-state.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Gateways as processes, one after the other on one port. */
async function gatewaysOf(system: System): Promise<{ url(): string; start(): Promise<RunningProcess> }> {
  const folder = mkdtempSync(join(tmpdir(), "ujb-gateway-"));
  const toRedis = await layCable(() => system.redis.connection);
  const processes = createProcesses();
  closers.push(async () => {
    expect(await processes.close()).toEqual([]);
    await toRedis.close();
    rmSync(folder, { recursive: true });
  });
  const env = environment(folder, { REDIS_URL: `redis://127.0.0.1:${toRedis.port}` });
  let url = "";
  return {
    url: () => url,
    async start() {
      const port = url === "" ? "0" : new URL(url).port;
      const gateway = processes.start("gateway", ["gateway", "--port", port, "--insecure-local"], env);
      url = (await gateway.line(/^MCP endpoint: (.*)$/))[1] ?? "";
      return gateway;
    },
  };
}

interface Scene {
  system: System;
  client: HttpClient;
  /** Asks for held work of this name and answers its log_id, while the request stays open. */
  ask(name: string): Promise<string>;
}

const stays = async (bring: (scene: Scene) => Promise<string>): Promise<void> => {
  const system = await start({ worker: { ackDelayMs: 3_600_000 } });
  const { bench, editor } = system;
  const gateways = await gatewaysOf(system);
  const gateway = await gateways.start();
  const client = await openHttpClient(gateways.url);
  closers.push(() => client.close());
  const hangUps: (() => void)[] = [];
  const ask = async (name: string): Promise<string> => {
    const { answer, hangUp } = client.ask("work", { Name: name, Hold: true, timeout: 30 });
    answer.catch(() => undefined);
    hangUps.push(hangUp);
    return until("its record is there", async () => (await latest(system))(name));
  };
  const logId = await bring({ system, client, ask });
  const before = await system.record(logId);

  for (const hangUp of hangUps) hangUp();
  await gateway.kill("SIGKILL");
  expect((await system.record(logId)).state).toBe(before.state);
  editor.faults.speak();
  for (const name of ["first", "a"]) if (bench.begun.includes(name)) bench.finish(name);
  await bench.begins("a");
  bench.finish("a");
  await eventually(
    async () => (await system.record(logId)).state === "completed",
    "it ended without anybody",
  );
  expect(editor.status().unacknowledged.length).toBeGreaterThan(0);

  await gateways.start();
  const reported = await client.call("work", { Name: "a", Hold: true, timeout: 5 });
  expect(reported).toMatchObject({ status: "completed", log_id: logId, deduplicated: true });
  expect(reported).toMatchObject({ result: { Done: "a" } } satisfies Partial<CallAnswer>);
  expect(system.executions("a")).toBe(1);
};

const latest = async ({ hand, store }: System): Promise<(name: string) => string | undefined> => {
  const ids = await hand.zrevrange("{ujb}:principal:local", 0, 5);
  const all = await Promise.all(
    ids.map(async (id) => ({ id, args: await store.operations.argumentsOf(id) })),
  );
  return (name) => all.find(({ args }) => args?.Name === name)?.id;
};
const reaches = async ({ system }: Scene, logId: string, state: string): Promise<string> => {
  await eventually(async () => (await system.record(logId)).state === state, `it is ${state}`);
  return logId;
};

describe("the client hangs up, and the gateway is killed", () => {
  test("client or gateway dies · queued: stays, runs once", () =>
    stays(async (scene) => {
      await reaches(scene, await scene.ask("first"), "running");
      const logId = await reaches(scene, await scene.ask("a"), "queued");
      // Its job follows its record; a gateway that dies between the two leaves it to the janitor, which sleeps here.
      const { record, store } = scene.system;
      await eventually(async () => hasJob(store, await record(logId)), "its job is there");
      return logId;
    }));

  test("client or gateway dies · sent: stays, runs once", () =>
    stays(async (scene) => {
      // Until it speaks, nobody hears that it runs.
      scene.system.editor.faults.silence();
      const logId = await scene.ask("a");
      await scene.system.bench.begins("a");
      return reaches(scene, logId, "dispatched");
    }));

  test("client or gateway dies · running: goes on, its end is stored", () =>
    stays(async (scene) => reaches(scene, await scene.ask("a"), "running")));

  test("client or gateway dies · finished: every caller that asks gets the stored result", () =>
    stays(async (scene) => {
      const logId = await reaches(scene, await scene.ask("a"), "running");
      scene.system.bench.finish("a");
      return reaches(scene, logId, "completed");
    }));
});
