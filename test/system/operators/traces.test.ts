/** One trace from a client to the Editor, over gateway, queue and worker. */
import { expect, test } from "vitest";
import { startSpan, traceIn } from "../../../src/shared/telemetry.js";
import { post, toolCall } from "../../harness/mcp/mcp.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { ask } from "../../harness/mcp/stateless.js";
import { BEHIND_A_PROXY } from "../../harness/processes/process-clients.js";
import { eventually, useSystem } from "../../harness/system/system.js";
import { recordSpans, SpanKind } from "../../harness/traces.js";

const { start } = useSystem();
const { serve, http } = useMcpCallers();

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const OTHER = "11111111111111112222222222222222";
const parentOf = (trace: string): string => `00-${trace}-b7ad6b7169203331-01`;

test("a call's trace reaches the Editor, and has each step under the one that caused it", async () => {
  const recorded = recordSpans();
  const system = await start({ worker: null });
  const { toEditor } = await system.addCabledWorker(system.editor);
  await system.present(system.editor);
  const sent = new Promise<void>((resolve) => toEditor.before(`"traceparent":"00-${TRACE}-`, resolve));
  const served = await serve(system.gateway);
  const { session } = await http(served);
  const meta = { traceparent: parentOf(TRACE), tracestate: "vendor=1", timeout: 30 };
  await post(served.url, toolCall(9, "work", { Name: "traced" }, meta), { session });
  await sent;
  await eventually(() => recorded.named("execute").length === 1, "the worker's span has ended");

  expect(new Set(recorded.spans().map((span) => span.spanContext().traceId))).toEqual(new Set([TRACE]));
  const [call] = recorded.named("tools/call work");
  expect(call?.kind).toBe(SpanKind.SERVER);
  expect(call?.parentSpanContext?.spanId).toBe("b7ad6b7169203331");
  expect(call?.spanContext().traceState?.serialize()).toBe("vendor=1");
  expect(
    recorded
      .spans()
      .map((span) => recorded.wayTo(span).join(" > "))
      .sort(),
  ).toEqual(
    [
      "tools/call work",
      "tools/call work > submit",
      "tools/call work > submit > execute",
      "tools/call work > submit > execute > run in Unity",
      "tools/call work > submit > execute > send",
      "tools/call work > submit > execute > settle",
      "tools/call work > submit > queue",
      "tools/call work > wait",
    ].sort(),
  );
  const [submit] = recorded.named("submit");
  const logId = submit?.attributes["unity_broker.log_id"];
  expect(submit?.attributes).toMatchObject({
    "unity_broker.tool": "work",
    "unity_broker.editor": system.editor.editorId,
    "unity_broker.relation": "created",
  });
  const [run] = recorded.named("run in Unity");
  const record = await system.record(String(logId));
  expect(run?.attributes).toMatchObject({
    "unity_broker.log_id": logId,
    "unity_broker.tool": "work",
    "unity_broker.editor": system.editor.editorId,
    "unity_broker.principal": record.principal,
    "unity_broker.outcome": "completed",
  });
  const [seconds = 0, nanoseconds = 0] = run?.startTime ?? [];
  expect(Math.abs(seconds * 1000 + nanoseconds / 1e6 - (record.startedAt ?? 0))).toBeLessThan(1_000);
});

test("a repeat that joins, and one that is answered again, are linked to the first trace", async () => {
  const recorded = recordSpans();
  const system = await start();
  const served = await serve(system.gateway);
  const { session } = await http(served);
  const call = (id: number, trace: string) =>
    post(
      served.url,
      toolCall(id, "work", { Name: "once", Hold: true }, { traceparent: parentOf(trace), timeout: 30 }),
      // Nobody has read the outcome.
      { session, headers: BEHIND_A_PROXY },
    );
  const first = call(1, TRACE);
  await system.bench.begins("once");
  const second = call(2, OTHER);
  await eventually(() => recorded.named("submit").length === 2, "the second call is accepted");
  system.bench.finish("once");
  await Promise.all([first, second]);
  await system.client("local").submit("work", { Name: "once", Hold: true });
  const [created, joined, replayed] = recorded.named("submit");
  expect(replayed?.attributes["unity_broker.relation"]).toBe("replayed");
  expect(replayed?.links[0]?.context.traceId).toBe(TRACE);
  expect(joined?.attributes["unity_broker.relation"]).toBe("joined");
  expect(joined?.spanContext().traceId).toBe(OTHER);
  expect(joined?.links.map(({ context }) => context.spanId)).toEqual([created?.spanContext().spanId]);
  expect(joined?.links[0]?.context.traceId).toBe(TRACE);
  expect(created?.links).toEqual([]);
  expect(recorded.named("execute")).toHaveLength(1);
});

test("over HTTP a trace may stand in the headers, in both revisions; _meta goes before", async () => {
  const recorded = recordSpans();
  const system = await start();
  const served = await serve(system.gateway);
  const { session } = await http(served);
  const headers = { traceparent: parentOf(TRACE) };
  await post(served.url, toolCall(1, "look", { Name: "a" }, { timeout: 30 }), { session, headers });
  await ask(served.url, "tools/call", { name: "look", arguments: { Name: "b", timeout: 30 } }, { headers });
  const meta = { traceparent: parentOf(OTHER), timeout: 30 };
  await post(served.url, toolCall(2, "look", { Name: "c" }, meta), { session, headers });
  const traces = recorded.named("tools/call look").map((span) => span.spanContext().traceId);
  expect(traces).toEqual([TRACE, TRACE, OTHER]);
});

test("a failed call and its execution are errors, without a text of the call", async () => {
  const recorded = recordSpans();
  const system = await start();
  const served = await serve(system.gateway);
  const caller = await http(served);
  const answer = caller.call("work", { Name: "fails", Hold: true });
  await system.bench.begins("fails");
  system.bench.fail("fails", "a secret of the call");
  await answer;
  await caller.call("no-such-tool").catch(() => undefined);
  await eventually(() => recorded.named("execute").length === 1, "the worker's span has ended");
  expect(recorded.named("run in Unity")[0]?.attributes["error.type"]).toBe("failed");
  expect(recorded.named("submit").at(-1)?.attributes["error.type"]).toBe("UNKNOWN_TOOL");
  const texts = recorded.spans().map(({ attributes, status, events }) => [attributes, status, events]);
  expect(JSON.stringify(texts)).not.toContain("secret");
});

test("without an SDK a trace is passed on to the Editor as it came, and none is begun", async () => {
  const system = await start({ worker: null });
  const { toEditor } = await system.addCabledWorker(system.editor);
  await system.present(system.editor);
  const sent = new Promise<void>((resolve) => toEditor.before(`"traceparent":"${parentOf(TRACE)}"`, resolve));
  const ann = system.client("ann");
  const trace = traceIn({ traceparent: parentOf(TRACE) });
  const { record } = await ann.send({ ...ann.callOf("work", { Name: "passed" }), trace });
  await sent;
  await ann.outcome(record.logId);
  const other = await ann.submit("work", { Name: "alone" });
  await ann.outcome(other.record.logId);
  expect(await system.record(other.record.logId)).not.toHaveProperty("trace");
  expect(startSpan("none", { parent: undefined }).context).toBeUndefined();
});

test("what is no trace context is ignored", () => {
  const good = parentOf(TRACE);
  expect(traceIn({ traceparent: good })).toEqual({ traceparent: good });
  expect(traceIn({ traceparent: `cc${good.slice(2)}-later` })).toEqual({ traceparent: good });
  expect(traceIn({ traceparent: good, tracestate: "a=1,b=2" })?.tracestate).toBe("a=1,b=2");
  expect(traceIn({ traceparent: good, tracestate: "a=".padEnd(600, "x") })).toEqual({ traceparent: good });
  const bad = [
    undefined,
    7,
    "",
    `${good}-more`,
    `ff${good.slice(2)}`,
    good.toUpperCase(),
    parentOf("0".repeat(32)),
  ];
  for (const traceparent of bad) expect(traceIn({ traceparent }), String(traceparent)).toBeUndefined();
});
