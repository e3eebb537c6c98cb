/** The same call over REST, again: it runs once, its outcome is told as what it is, and a read is never answered by an old one. */
import { describe, expect, test } from "vitest";
import { REPLAY_DEFAULTS } from "../../../src/shared/operation/again.js";
import { useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { type RestClient, restClient } from "../../harness/rest/rest-client.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { serve, http } = useMcpCallers();

async function open(options: Parameters<typeof start>[0] = {}) {
  const system = await start(options);
  const served = await serve(system.gateway);
  const { origin } = new URL(served.url);
  return { system, served, origin, rest: restClient(origin) };
}

const CALL = { tool: "work", arguments: { Name: "a" }, timeout: 30 };
const HELD = { ...CALL, arguments: { Name: "a", Hold: true } };

const newest = async (system: System) => {
  const [view] = await system.broker.list("local", 1);
  if (!view) throw new Error("no operation");
  return system.record(view.record.logId);
};
const told = async (system: System) =>
  Object.values((await newest(system)).askers ?? {}).filter(({ deliveredAt }) => deliveredAt).length;

/** Calls, and hangs up once the Editor has begun. */
async function lose(system: System, rest: RestClient, call: object): Promise<void> {
  const connection = new AbortController();
  const lost = rest.post("/operations", call, { signal: connection.signal });
  await system.bench.begins("a");
  connection.abort();
  await expect(lost).rejects.toThrow();
}

describe("six identical calls whose waits end", () => {
  test.each([
    ["with an Idempotency-Key", { "idempotency-key": '"build 7"' }],
    ["without one", {}],
    ["of a named client", { "x-client-id": "ci" }],
  ])("%s are one execution, and all read its outcome", async (_how, headers) => {
    const { system, rest } = await open();
    const waits = Array.from({ length: 6 }, () =>
      rest.post("/operations", { ...HELD, timeout: 0.1 }, { headers }),
    );
    const said = await Promise.all(waits);
    expect(said.map(({ status }) => status)).toEqual(Array(6).fill(202));
    const places = new Set(said.map((each) => each.headers.get("location")));
    expect(places.size).toBe(1);
    await system.bench.begins("a");
    system.bench.finish("a");
    const [place = ""] = [...places].map((each) => (each ?? "").replace("/api/v1", ""));
    for (let reader = 0; reader < 6; reader += 1)
      expect((await rest.get(`${place}?wait=30`)).body).toMatchObject({
        status: "completed",
        result: { Done: "a" },
      });
    expect(system.executions("a")).toBe(1);
  });
});

describe("an Idempotency-Key", () => {
  const headers = { "idempotency-key": '"one"' };

  test("names one call: another body with it is refused, the same finds it, whatever quotes it has", async () => {
    const { system, rest } = await open();
    expect((await rest.post("/operations", CALL, { headers })).body).not.toHaveProperty("deduplicated");
    const other = await rest.post("/operations", { ...CALL, arguments: { Name: "b" } }, { headers });
    expect(other).toMatchObject({
      status: 409,
      body: { error_code: "IDEMPOTENCY_CONFLICT", retry: "never" },
    });
    for (const again of [headers, { "idempotency-key": "one" }])
      expect((await rest.post("/operations", CALL, { headers: again })).body).toMatchObject({
        deduplicated: true,
      });
    expect((await rest.post("/operations", { ...CALL, idempotency_key: "one" })).body).toMatchObject({
      deduplicated: true,
    });
    expect(system.executions("a")).toBe(1);
    expect(system.executions("b")).toBe(0);
  });

  test("that contradicts the body's, or is none, is refused before anything runs", async () => {
    const { system, rest } = await open();
    const two = await rest.post("/operations", { ...CALL, idempotency_key: "two" }, { headers });
    const bad = await rest.post("/operations", CALL, { headers: { "idempotency-key": '"not closed' } });
    for (const refused of [two, bad])
      expect(refused).toMatchObject({ status: 400, body: { error_code: "INVALID_ARGUMENTS" } });
    expect(system.executions("a")).toBe(0);
  });
});

describe("never an old outcome as a new one", () => {
  test("a read-only call runs again each time", async () => {
    const { system, rest } = await open();
    for (const times of [1, 2, 3]) {
      expect((await rest.call("look", { Name: "a" })).body).not.toHaveProperty("deduplicated");
      expect(system.bench.begun).toHaveLength(times);
    }
  });

  test("a repeatable call runs again once its outcome was told, which counts from before its first byte", async () => {
    const { system, rest } = await open();
    await lose(system, rest, { ...HELD, tool: "put" });
    system.bench.finish("a");
    await eventually(async () => (await newest(system)).state === "completed", "it ended");
    expect(await told(system)).toBe(0);
    expect((await rest.call("put", HELD.arguments)).body).toMatchObject({ deduplicated: true });
    expect((await newest(system)).firstDeliveredAt).toBeDefined();
    const fresh = rest.call("put", HELD.arguments);
    await eventually(() => system.executions("a") === 2, "it runs again");
    system.bench.finish("a");
    expect((await fresh).body).not.toHaveProperty("deduplicated");
  });

  test.each([{}, { "x-client-id": "ci" }])(
    "a mutating call runs again once its answer came within 10 s (%o)",
    async (headers) => {
      const { system, rest } = await open();
      for (const times of [1, 2, 3]) {
        const { body } = await rest.post("/operations", CALL, { headers });
        expect(body).not.toHaveProperty("deduplicated");
        expect(system.executions("a")).toBe(times);
      }
    },
  );

  test("through a proxy it is answered by its outcome, plainly, until a client runs it by name", async () => {
    const { system, rest } = await open();
    const headers = { "x-forwarded-for": "10.0.0.7" };
    const first = await rest.post("/operations", CALL, { headers });
    await eventually(async () => (await told(system)) === 1, "it is told");
    const again = await rest.post("/operations", CALL, { headers });
    expect(again.body).toMatchObject({ log_id: first.body.log_id, deduplicated: true });
    expect(again.body.message).toMatch(/^Not run again: this call ran at /);
    const forced = await rest.call("work", { Name: "a" }, { force_new: first.body.log_id });
    expect(forced.body).not.toHaveProperty("deduplicated");
    expect(system.executions("a")).toBe(2);
    const wrong = await rest.call(
      "work",
      { Name: "a" },
      { force_new: "00000000-0000-4000-8000-000000000000" },
    );
    expect(wrong).toMatchObject({
      status: 400,
      body: { error_code: "INVALID_ARGUMENTS", newest: { log_id: forced.body.log_id, deduplicated: true } },
    });
  });

  test("through a proxy a named client has read it once it names the log_id, and another client's call runs", async () => {
    const { system, rest } = await open();
    const headers = { "x-client-id": "ci", via: "1.1 proxy" };
    const { body } = await rest.post("/operations", CALL, { headers });
    await eventually(async () => (await told(system)) === 1, "it is told");
    expect((await rest.post("/operations", CALL, { headers })).body).toMatchObject({ deduplicated: true });
    await rest.get(`/operations/${body.log_id}/history`, { headers });
    expect((await rest.post("/operations", CALL, { headers })).body).not.toHaveProperty("deduplicated");
    expect(system.executions("a")).toBe(2);
  });

  test("what one request without a client id was told is still owed when another one has read it", async () => {
    const { system, rest } = await open();
    const headers = { via: "1.1 proxy" };
    const { body } = await rest.post("/operations", CALL, { headers });
    await eventually(async () => (await told(system)) === 1, "it is told");
    await rest.get(`/operations/${body.log_id}`);
    expect((await rest.post("/operations", CALL)).body).toMatchObject({
      log_id: body.log_id,
      deduplicated: true,
    });
    expect(system.executions("a")).toBe(1);
  });

  test("once told, a mutating call runs again after the window", async () => {
    const { system, rest } = await open({
      gateway: { replay: { ...REPLAY_DEFAULTS, readWithinMs: 0, replayWindowMs: 0 } },
    });
    await rest.call("work", { Name: "a" });
    await eventually(async () => (await newest(system)).firstDeliveredAt !== undefined, "it is told");
    await eventually(async () => {
      await rest.call("work", { Name: "a" });
      return system.executions("a") === 2;
    }, "it runs again");
  });
});

describe("deliveries", () => {
  test("a client that hangs up ends its wait: the operation goes on, and nothing was told", async () => {
    const { system, rest } = await open();
    await lose(system, rest, HELD);
    const again = rest.post("/operations", HELD);
    await eventually(
      async () => (await system.store.operations.duplicatesOf((await newest(system)).logId)).length === 1,
      "the second call joined",
    );
    system.bench.finish("a");
    expect((await again).body).toMatchObject({ status: "completed", deduplicated: true });
    expect(system.executions("a")).toBe(1);
  });

  test("lists, histories and states tell nothing; answers and results do; what a client has already is not told again", async () => {
    const { system, rest } = await open();
    const { body } = await rest.post("/operations", { ...HELD, timeout: 0 });
    await system.bench.begins("a");
    system.bench.finish("a");
    const path = `/operations/${body.log_id}`;
    await eventually(async () => (await newest(system)).state === "completed", "it ended");
    for (const silent of ["/operations", `${path}/history`, `${path}/log`]) await rest.get(silent);
    expect(await told(system)).toBe(0);
    const named = { "x-client-id": "one" };
    const { headers } = await rest.get(path, { headers: named });
    await eventually(async () => (await told(system)) === 1, "the answer tells it");
    const other = { "x-client-id": "two", "if-none-match": headers.get("etag") ?? "" };
    expect((await rest.get(path, { headers: other })).status).toBe(304);
    expect(await told(system)).toBe(1);
    await rest.get(`${path}/result`, { headers: { "x-client-id": "three" } });
    await eventually(async () => (await told(system)) === 2, "the result tells it");
  });

  test("to look tells nothing, and reads nothing", async () => {
    const { system, rest } = await open();
    const { body } = await rest.post("/operations", { ...HELD, timeout: 0 });
    await system.bench.begins("a");
    system.bench.finish("a");
    await eventually(async () => (await newest(system)).state === "completed", "it ended");
    const looked = await rest.get(`/operations/${body.log_id}?look=true`);
    expect(looked.body).toMatchObject({ status: "completed", result: { Done: "a" } });
    expect((await newest(system)).firstDeliveredAt).toBeUndefined();
    expect((await rest.post("/operations", HELD)).body).toMatchObject({ deduplicated: true });
  });
});

describe("two gateways on one store", () => {
  test("what one accepted the other reads, waits for, finds again and cancels", async () => {
    const { system, rest: a } = await open();
    const { url } = await serve(await system.addGateway());
    const b = restClient(new URL(url).origin);
    const { body } = await a.post("/operations", { ...HELD, tool: "work-cancellable", timeout: 0 });
    await eventually(async () => (await newest(system)).state === "running", "it runs");
    const waiting = b.get(`/operations/${body.log_id}?wait=30`);
    expect((await b.get("/operations?state=running")).body.operations).toMatchObject([
      { log_id: body.log_id },
    ]);
    const again = b.post("/operations", { ...HELD, tool: "work-cancellable", timeout: 0 });
    expect((await again).body).toMatchObject({ log_id: body.log_id, deduplicated: true });
    expect((await b.post(`/operations/${body.log_id}/cancel`)).status).toBe(200);
    expect((await waiting).body).toMatchObject({ status: "cancelled" });
  });

  test("a call over MCP and the same over REST are one", async () => {
    const { system, rest, served } = await open();
    const caller = await http(served);
    const over = caller.call("work", HELD.arguments);
    await system.bench.begins("a");
    const joined = await rest.post("/operations", { ...HELD, timeout: 0 });
    expect(joined).toMatchObject({ status: 202, body: { deduplicated: true } });
    system.bench.finish("a");
    expect(await over).toMatchObject({ status: "completed", log_id: joined.body.log_id });
  });
});
