/** The REST API: calls run at most once over it too, and nobody is given an old outcome as a new one. */
import { describe, expect, test } from "vitest";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { restClient } from "../../harness/rest/rest-client.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { serve } = useMcpCallers();

async function open(options: Parameters<typeof start>[0] = {}) {
  const system = await start(options);
  const { url } = await serve(system.gateway);
  return { system, origin: new URL(url).origin, rest: restClient(new URL(url).origin) };
}

describe("a call", () => {
  test("that ends within its wait is answered with its outcome", async () => {
    const { rest } = await open();
    const said = await rest.call("work", { Name: "a" });
    expect(said).toMatchObject({ status: 200, body: { status: "completed", result: { Done: "a" } } });
    expect(said.body).not.toHaveProperty("deduplicated");
  });

  test("that goes on is answered with where to read it", async () => {
    const { system, rest } = await open();
    const said = await rest.post("/operations", {
      tool: "work",
      arguments: { Name: "a", Hold: true },
      timeout: 0,
    });
    expect(said).toMatchObject({ status: 202, body: { status: "timeout" } });
    const place = said.headers.get("location")?.replace("/api/v1", "") ?? "";
    expect(Number(said.headers.get("retry-after"))).toBeGreaterThan(0);
    await system.bench.begins("a");
    system.bench.finish("a");
    expect(await rest.get(`${place}?wait=30`)).toMatchObject({
      status: 200,
      body: { status: "completed", result: { Done: "a" } },
    });
  });

  test("that fails is an operation that failed, and no failed request", async () => {
    const { system, rest } = await open();
    const said = rest.call("work", { Name: "a", Hold: true });
    await system.bench.begins("a");
    system.bench.fail("a", "no");
    expect(await said).toMatchObject({ status: 200, body: { status: "error", state: "failed" } });
  });
});

test("a history says when it reported, also after its end", async () => {
  const { system, rest } = await open();
  const call = rest.call("work", { Name: "a", Hold: true });
  await system.bench.begins("a");
  const progressed = () =>
    system.store.operations
      .openOf(system.editor.editorId)
      .then(([one]) => one && system.store.operations.reportsOf(one.logId));
  for (const [count, message] of ["one", "two"].entries()) {
    system.bench.report("a", { progress: count, message, partialResult: { count } });
    await eventually(
      async () => (await progressed())?.progress?.count === count + 1,
      `it reported ${message}`,
    );
  }
  system.bench.finish("a");
  const { body } = await call;
  const history = (await rest.get(`/operations/${body.log_id}/history`)).body;
  expect(history.reports).toMatchObject({ progress: { count: 2 }, partial: { count: 2 } });
  // The start and the end are the Editor's own times.
  const times = [history.accepted_at, history.reports.progress.first_at, history.reports.progress.last_at];
  expect(times.toSorted()).toEqual(times);
});

test("lists, histories, logs, Editors, tools", async () => {
  const { rest } = await open();
  const { body } = await rest.call("work", { Name: "a" });
  const id = body.log_id;
  expect(await rest.get("/operations")).toMatchObject({
    status: 200,
    body: { operations: [{ log_id: id, state: "completed" }] },
  });
  expect((await rest.get(`/operations/${id}/history`)).body.timeline.length).toBeGreaterThan(1);
  expect(await rest.get(`/operations/${id}/log`)).toMatchObject({
    status: 200,
    body: { lines: [], next: 0 },
  });
  expect(await rest.get(`/operations/${id}/result`)).toMatchObject({ status: 200, body: { Done: "a" } });
  expect((await rest.get("/editors")).body.editors).toHaveLength(1);
  expect((await rest.get("/tools")).body.tools.length).toBeGreaterThan(3);
  expect(await rest.get("/tools/work")).toMatchObject({ status: 200, body: { effect: "mutating" } });
  expect(await rest.get("/me")).toMatchObject({ status: 200, body: { principal: "local", role: "admin" } });
  expect(await rest.get("/pools")).toMatchObject({ status: 200, body: { pools: [] } });
  expect((await rest.get("/workers")).body.workers).toHaveLength(1);
  expect(await rest.get("/audit")).toMatchObject({ status: 200, body: { entries: [] } });
  const document = await rest.get("/openapi.json");
  expect(document).toMatchObject({ status: 200, body: { openapi: "3.1.0" } });
});
