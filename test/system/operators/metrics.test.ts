/** What operators are told in numbers, and whether the gateway can serve. */
import { readFileSync } from "node:fs";
import { fastify } from "fastify";
import { afterEach, expect, test } from "vitest";
import type { Gateway } from "../../../src/gateway/gateway.js";
import { createHttpGateway } from "../../../src/gateway/http/http.js";
import { type HealthOptions, healthRoutes } from "../../../src/gateway/operators/health.js";
import { createMetrics } from "../../../src/gateway/operators/metrics.js";
import { BUCKETS, durationCounts, sheetOf } from "../../../src/shared/telemetry.js";
import { createHeardLog } from "../../harness/mcp/mcp.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serve(gateway: Gateway) {
  const http = await createHttpGateway(
    { gateway, log: createHeardLog(), version: "0.0.0" },
    { host: "127.0.0.1", port: 0 },
  );
  closers.push(http.close);
  const { origin } = new URL(http.url);
  const text = async (): Promise<string> => (await fetch(`${origin}/metrics`)).text();
  return {
    ...http,
    origin,
    text,
    /** The value of one series, as Prometheus would read it. */
    async value(series: string): Promise<number | undefined> {
      const line = (await text()).split("\n").find((one) => one.startsWith(`${series} `));
      return line === undefined ? undefined : Number(line.slice(series.length + 1));
    },
    async ready() {
      const answer = await fetch(`${origin}/readyz`);
      const { missing } = (await answer.json()) as { missing?: string[] };
      return { status: answer.status, missing };
    },
  };
}

test("operations are counted once by their end, duplicates by what answered them, at every gateway", async () => {
  const system = await start();
  const served = await serve(system.gateway);
  const other = await serve(await system.addGateway());
  const ann = system.client("ann");

  expect(await served.value('unity_broker_operations_ended_total{state="completed",effect="mutating"}')).toBe(
    0,
  );
  const done = await ann.submit("work", { Name: "done" });
  await ann.outcome(done.record.logId);
  const again = await ann.submit("work", { Name: "done" });
  expect(again.relation).toBe("replayed");
  const held = await ann.submit("work", { Name: "held", Hold: true });
  await system.bench.begins("held");
  await ann.reaches(held.record.logId, "running");
  expect((await ann.submit("work", { Name: "held", Hold: true })).relation).toBe("joined");
  const waits = await ann.submit("work", { Name: "waits" });
  await system.broker.cancel("ann", waits.record.logId, ann.caller);
  const fails = await ann.submit("work", { Name: "fails", Hold: true });
  await ann.reaches(fails.record.logId, "queued");

  for (const { value } of [served, other]) {
    expect(await value('unity_broker_operations_open{state="running"}')).toBe(1);
    expect(await value('unity_broker_operations_open{state="queued"}')).toBe(1);
    expect(await value('unity_broker_duplicates_total{relation="joined"}')).toBe(1);
    expect(await value('unity_broker_duplicates_total{relation="replayed"}')).toBe(1);
  }
  system.bench.finish("held");
  await ann.outcome(held.record.logId);
  await system.bench.begins("fails");
  system.bench.fail("fails", "as the test wants it");
  await ann.outcome(fails.record.logId);
  const look = await ann.submit("look", { Name: "look" });
  await ann.outcome(look.record.logId);
  // Delivered after its end: a later write of an ended operation is not another end.
  await system.broker.delivered(ann.caller, done.record.logId, { isRead: true });

  for (const { value } of [served, other]) {
    const ended = (state: string, effect: string) =>
      value(`unity_broker_operations_ended_total{state="${state}",effect="${effect}"}`);
    expect(await ended("completed", "mutating")).toBe(2);
    expect(await ended("failed", "mutating")).toBe(1);
    expect(await ended("cancelled", "mutating")).toBe(1);
    expect(await ended("completed", "read_only")).toBe(1);
    expect(await ended("interrupted", "mutating")).toBe(0);
    expect(await value('unity_broker_operations_accepted_total{effect="mutating"}')).toBe(4);
    expect(await value('unity_broker_operations_open{state="running"}')).toBe(0);
    expect(await value("unity_broker_execution_seconds_count")).toBe(4);
    expect(await value("unity_broker_queue_seconds_count")).toBe(4);
    expect(await value("unity_broker_results_bytes")).toBeGreaterThan(0);
    expect(await value("unity_broker_arguments_bytes")).toBeGreaterThan(0);
    expect(await value('unity_broker_execution_seconds_bucket{le="+Inf"}')).toBe(4);
    expect(await value("unity_broker_wait_seconds_count")).toBeGreaterThan(4);
    expect(await value("process_cpu_seconds_total")).toBeGreaterThan(0);
  }
  const text = await served.text();
  for (const [name, type] of [
    ["execution_seconds", "histogram"],
    ["operations_ended_total", "counter"],
    ["editors", "gauge"],
  ]) {
    expect(text).toContain(`# TYPE unity_broker_${name} ${type}\n`);
  }
  for (const never of ["ann", done.record.logId, system.editor.editorId, "work"]) {
    expect(text).not.toContain(`"${never}"`);
  }
});

test("Editors are counted by whether they are connected and what they do", async () => {
  const system = await start();
  const served = await serve(system.gateway);
  const connected = () => served.value('unity_broker_editors{connected="yes",phase="ready"}');
  await eventually(async () => (await connected()) === 1, "the Editor is ready");
  await system.editor.close();
  await system.away(system.editor);
  expect(await connected()).toBeUndefined();
  expect(await served.value('unity_broker_editors{connected="no",phase=""}')).toBe(1);
});

test("what an Editor says that it does is no label by itself: a bridge may say anything", async () => {
  const live = (phase: string) => ({ connected: true, live: { phase }, profile: { editorId: "e" } });
  const editors = ["ready", "safe_mode", "importing 41 %", "importing 42 %"].map(live);
  const metrics = createMetrics({
    store: {
      counters: { read: async () => ({}) },
      pools: { ids: async () => [] },
      operations: {
        now: async () => 1,
        openOf: async () => [],
        resultBytes: async () => 0,
        argumentBytes: async () => 0,
      },
    },
    broker: { editors: async () => ({ editors }) },
  } as unknown as Parameters<typeof createMetrics>[0]);
  const text = await metrics.scrape();
  expect(text.match(/^unity_broker_editors\{.*$/gm)).toEqual([
    'unity_broker_editors{connected="yes",phase="ready"} 1',
    'unity_broker_editors{connected="yes",phase="safe_mode"} 1',
    'unity_broker_editors{connected="yes",phase="other"} 2',
  ]);
});

test("without Redis the process still answers, says that it is not ready, and shows no old numbers", async () => {
  const system = await start({ commandTimeoutMs: 300 });
  const { gateway, toRedis } = await system.addCabledGateway();
  const served = await serve(gateway);
  expect((await served.ready()).status).toBe(200);
  expect(await served.value("unity_broker_store_up")).toBe(1);
  toRedis.cut();
  expect(await served.ready()).toMatchObject({ status: 503, missing: ["redis"] });
  expect((await fetch(`${served.origin}/healthz`)).status).toBe(200);
  const text = await served.text();
  expect(text).toContain("unity_broker_store_up 0\n");
  expect(text).not.toMatch(/^unity_broker_operations_ended_total\{/m);
  expect(text).not.toMatch(/^unity_broker_queue_seconds_count/m);
  expect(text).toMatch(/^process_cpu_seconds_total /m);
  toRedis.fix();
  await eventually(async () => (await served.ready()).status === 200, "ready again");
  expect(await served.value("unity_broker_store_up")).toBe(1);
});

test("a gateway that closes says so while its Redis is there, one whose Redis is silent does not wait for it", async () => {
  const ask = async (options: HealthOptions) => {
    const app = fastify();
    await app.register(healthRoutes, options);
    closers.push(() => app.close());
    const [alive, ready] = await Promise.all([app.inject("/healthz"), app.inject("/readyz")]);
    expect(alive).toMatchObject({ statusCode: 200, body: '{"status":"ok"}' });
    expect(ready.statusCode).toBe(503);
    return ready.json() as { missing: string[] };
  };
  const answers = async (): Promise<number> => 1;
  const silent = () => new Promise(() => undefined);
  expect(await ask({ askStore: answers, isClosing: () => true })).toMatchObject({
    missing: ["open gateway"],
  });
  expect(await ask({ askStore: silent, isClosing: () => true, patienceMs: 5 })).toMatchObject({
    missing: ["open gateway", "redis"],
  });
});

test("the operations guide names every metric, and none that is not there", async () => {
  const system = await start();
  const { text } = await serve(system.gateway);
  const reported = [...(await text()).matchAll(/^# TYPE (unity_broker_\w+)/gm)].map(([, name]) => name);
  const guide = readFileSync(new URL("../../../docs/guide/operations.md", import.meta.url), "utf8");
  const written = [...guide.matchAll(/^\| `(unity_broker_\w+)`/gm)].map(([, name]) => name);
  expect(written.sort()).toEqual(reported.sort());
});

test("buckets hold what took at most so long", () => {
  const counts = [0, 10, 11, 3_600_000, 3_600_001].map((ms) => durationCounts("queued", ms));
  const sum: Record<string, number> = {};
  for (const one of counts) for (const [name, by] of Object.entries(one)) sum[name] = (sum[name] ?? 0) + by;
  const { queued, waited } = sheetOf(sum).durations;
  const upTo = Object.fromEntries(queued.upTo.map(({ le, count }) => [le, count]));
  expect(upTo).toMatchObject({ 0.01: 2, 0.05: 3, 900: 3, 3600: 4, "+Inf": 5 });
  expect(queued).toMatchObject({ count: 5, sumSeconds: 7200.022 });
  expect(waited.upTo).toHaveLength(BUCKETS.length + 1);
  expect(waited.count).toBe(0);
});
