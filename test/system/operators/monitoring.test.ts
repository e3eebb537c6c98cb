/** What the metrics tell of calls, progress, connections and Editors; and that the dashboard and the alert rules fit them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { runCommand } from "../../../src/embedded-redis/run-command.js";
import { DIAGNOSIS_LIMITS } from "../../../src/shared/editors/diagnosis.js";
import { createLoadReader } from "../../../src/worker/owner/heartbeat.js";
import { post, toolCall } from "../../harness/mcp/mcp.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { findPromtool } from "../../harness/programs/promtool.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { serve, http } = useMcpCallers();

const MONITORING = new URL("../../../docs/guide/monitoring/", import.meta.url);
const guideFile = (name: string): string => fileURLToPath(new URL(name, MONITORING));

function metricsOf({ url }: { url: string }) {
  const text = async (): Promise<string> => (await fetch(new URL("/metrics", url))).text();
  return {
    text,
    async value(series: string): Promise<number | undefined> {
      const line = (await text()).split("\n").find((one) => one.startsWith(`unity_broker_${series} `));
      return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(" ") + 1));
    },
  };
}

test("calls are counted by how they were answered, and by their class", async () => {
  const system = await start();
  const served = await serve(system.gateway);
  const { value } = metricsOf(served);
  const answered = (answer: string) => value(`calls_answered_total{answer="${answer}"}`);
  const caller = await http(served);
  await caller.call("work", { Name: "within" });
  const handed = await caller.call("work", { Name: "handed", Hold: true, timeout: 0 });
  expect(handed.status).toBe("timeout");
  await caller.call("get_operation_result", { log_id: handed.log_id, wait: true, timeout: 0 });
  const left = caller.call("work", { Name: "left", Hold: true }, 77).catch(() => undefined);
  await eventually(async () => (await value("queue_longest")) === 1, "it waits behind the other one");
  await caller.giveUp(77);
  await caller.settle();
  await eventually(async () => (await answered("given_up")) === 1, "the call is given up");
  system.bench.finish("handed");
  await system.bench.begins("left");
  system.bench.finish("left");
  await left;
  expect([await answered("outcome"), await answered("log_id"), await answered("given_up")]).toEqual([
    1, 1, 1,
  ]);
  await caller.call("look", { Name: "look" });
  const { executionClass } = await system.record(handed.log_id ?? "");
  expect(await value(`operations_by_class_total{class="${executionClass}",effect="mutating"}`)).toBe(3);
});

test("a call that is made as a task is answered by its log_id", async () => {
  const system = await start();
  const served = await serve(system.gateway);
  const { value } = metricsOf(served);
  const { session } = await http(served);
  const call = toolCall(9, "work", { Name: "task" });
  const { messages } = await post(served.url, { ...call, params: { ...call.params, task: {} } }, { session });
  expect(messages.at(-1)?.result?.task).toBeDefined();
  expect(await value('calls_answered_total{answer="log_id"}')).toBe(1);
  expect(await value('calls_answered_total{answer="outcome"}')).toBe(0);
});

test("reports of progress are counted where they are received, written and sent", async () => {
  const system = await start();
  const served = await serve(system.gateway);
  const { value } = metricsOf(served);
  const stage = (name: string) => value(`progress_reports_total{stage="${name}"}`);
  const { session } = await http(served);
  const call = toolCall(9, "work", { Name: "told", Hold: true }, { progressToken: "t", timeout: 30 });
  const answered = post(served.url, call, { session });
  await system.bench.begins("told");
  system.bench.report("told", { progress: 1, total: 2, message: "half" });
  await eventually(async () => ((await stage("sent")) ?? 0) > 0, "the client is told");
  await eventually(async () => (await stage("written")) === 1, "it is written");
  system.bench.report("told", { progress: 2, total: 2, message: "whole" });
  await eventually(async () => (await stage("written")) === 2, "the second is written");
  system.bench.finish("told");
  const { messages } = await answered;
  const sent = messages.filter(({ method }) => method === "notifications/progress").length;
  expect(await stage("sent")).toBe(sent);
  expect(await stage("received")).toBe(2);
});

test("connections, their ends, owners and stalls are counted", async () => {
  const system = await start({ worker: { diagnosis: { ...DIAGNOSIS_LIMITS, stallMs: 300 } } });
  const { value, text } = metricsOf(await serve(system.gateway));
  // A worker's counts are written a moment later.
  await eventually(
    async () => (await value('editor_connections_total{kind="first"}')) === 1,
    "it is counted",
  );
  expect(await value('editor_owner_changes_total{change="taken"}')).toBe(1);
  expect(await value('editor_owner_changes_total{change="taken_from_dead"}')).toBe(0);
  system.editor.faults.dropConnections();
  await eventually(async () => (await value('editor_connections_total{kind="again"}')) === 1, "it is back");
  const ends = [...(await text()).matchAll(/^unity_broker_editor_disconnects_total\{reason="(\w+)"\} 1$/gm)];
  expect(["peer_closed", "reset"]).toContain(ends[0]?.[1]);
  expect(ends).toHaveLength(1);
  expect(await value("editor_stalls_total")).toBe(0);
  system.editor.faults.stallMainThread(60_000);
  await eventually(async () => (await value("editor_stalls_total")) === 1, "it has stopped answering");
  await eventually(async () => {
    const known = await system.store.editors.find(system.editor.editorId);
    return (known?.live?.mainThreadStallMs ?? 0) > 800;
  }, "it goes on so");
  expect(await value("editor_stalls_total")).toBe(1);
  system.editor.faults.stallMainThread(0);
});

test("what the Editors' processes use is in the metrics, and in list_editors only where it is high", async () => {
  const system = await start();
  const served = await serve(system.gateway);
  const { value, text } = metricsOf(served);
  const caller = await http(served);
  const listed = async () => ((await caller.call("list_editors")).editors as Record<string, unknown>[])[0];
  await eventually(async () => (await listed())?.cpu_percent !== undefined, "two heartbeats came");
  const memory = Number((await listed())?.memory_mb);
  expect(memory).toBeGreaterThan(10);
  expect(await value('editors_memory_bytes{of="largest"}')).toBeGreaterThan(10e6);
  expect(await value('editors_memory_bytes{of="all"}')).toBeGreaterThan(10e6);
  expect(await text()).toMatch(/^unity_broker_editors_cpu_cores\{of="all"\} [\d.]+$/m);
  const short = await http(await serve(await system.addGateway({ answers: "short" })));
  const [model] = (await short.call("list_editors")).editors as Record<string, unknown>[];
  expect(model).toMatchObject({ connected: true, phase: "ready" });
  expect(model).not.toHaveProperty("memory_mb");
});

test("the processor's share is of one process, over a time that says something", () => {
  const load = createLoadReader();
  const beat = (cpu: number | undefined, editorSessionId = "a") => ({ editorSessionId, cpu, memory: 5.4 });
  expect(load(beat(1_000), 0)).toEqual({ memoryBytes: 5 });
  expect(load(beat(1_500), 1_000).cpuPercent).toBe(50);
  expect(load(beat(9_999), 1_100).cpuPercent).toBe(50);
  expect(load(beat(3_500), 2_000).cpuPercent).toBe(200);
  expect(load(beat(10, "b"), 3_000).cpuPercent).toBeUndefined();
  expect(load(beat(510, "b"), 4_000).cpuPercent).toBe(50);
  expect(load({ editorSessionId: "b", memory: undefined, cpu: undefined }, 5_000)).toEqual({});
});

test("how long Redis takes is told for each gateway", async () => {
  const system = await start();
  const { value, text } = metricsOf(await serve(system.gateway));
  await text();
  expect(await value("redis_seconds_count")).toBeGreaterThanOrEqual(2);
  expect(await text()).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
});

test("each metric of the dashboard and of the alert rules exists, and each of ours is on the dashboard", async () => {
  const system = await start();
  const { text } = metricsOf(await serve(system.gateway));
  const types = new Map(
    [...(await text()).matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name, type]),
  );
  const known = [...types].flatMap(([name = "", type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  const dashboard = JSON.parse(readFileSync(guideFile("grafana.json"), "utf8")) as {
    panels: { targets: { expr: string }[] }[];
  };
  const namesIn = (query: string) => query.match(/\b(?:unity_broker|nodejs|process)_\w+/g) ?? [];
  const shown = dashboard.panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => namesIn(expr)));
  const rules = readFileSync(guideFile("alerts.yml"), "utf8").match(/^ +expr: .*$/gm) ?? [];
  expect(rules.length).toBeGreaterThan(8);
  for (const name of [...shown, ...rules.flatMap(namesIn)]) expect(known, name).toContain(name);
  const ours = [...types.keys()].filter((name) => name?.startsWith("unity_broker_"));
  for (const name of ours) expect(shown.join(" "), name).toContain(name);
});

test("Prometheus's own checker accepts the metrics and the rules", async (context) => {
  const promtool = await findPromtool();
  if ("missing" in promtool) {
    console.log(`Not checked by promtool: ${promtool.missing}.`);
    return context.skip(promtool.missing);
  }
  const { file, env } = promtool;
  const system = await start();
  const { text } = metricsOf(await serve(system.gateway));
  const folder = mkdtempSync(join(tmpdir(), "ujb-metrics-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // Only ours: names of the process's own metrics are prom-client's.
  const ours = (await text()).split("\n").filter((line) => line.includes("unity_broker_"));
  writeFileSync(join(folder, "metrics"), `${ours.join("\n")}\n`);
  const options = { env, timeoutMs: 60_000, cwd: folder };
  const shell = ["-c", '"$0" check metrics < metrics', file];
  expect(await runCommand("/bin/sh", shell, options)).toEqual({ code: 0, output: "" });
  expect(await runCommand(file, ["check", "rules", guideFile("alerts.yml")], options)).toMatchObject({
    code: 0,
  });
});
