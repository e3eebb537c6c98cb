/** Two principals on one gateway: nothing of one can be reached by the other, by any handle, over MCP. */
import { describe, expect, test } from "vitest";
import { createTokens, type Tokens } from "../../../src/gateway/auth/tokens.js";
import { createHttpGateway } from "../../../src/gateway/http/http.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { createHeardLog, INITIALIZE, post } from "../../harness/mcp/mcp.js";
import { eventually, type System, useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { open, closers, tokensFile } = useTokenGateway(start);

type Call = (name: string, args?: Record<string, unknown>) => Promise<Answer>;

interface Stage {
  system: System;
  tokens: Tokens;
  url: string;
  as(token: string): Promise<Call>;
  ann: Call;
  ben: Call;
}

async function stage(): Promise<Stage> {
  const { connect, tokens, ...gateway } = await open();
  const as = async (token: string): Promise<Call> => {
    const client = await connect(token);
    return async (name, args = {}) =>
      (await client.callTool({ name, arguments: args })).structuredContent as unknown as Answer;
  };
  const [ann, ben] = [await tokens.create("ann"), await tokens.create("ben")];
  return { ...gateway, tokens, as, ann: await as(ann), ben: await as(ben) };
}

const HELD = { Name: "a", Hold: true };

describe("by log_id", () => {
  test.each([
    ["get_operation_result", {}],
    ["get_operation_result", { wait: true, timeout: 0.1 }],
    ["get_operation_status", {}],
    ["explain_operation", {}],
    ["cancel_operation", {}],
  ])("%s %j finds one's own and not another's", async (verb, args) => {
    const { system, ann, ben } = await stage();
    const { log_id } = await ann("work", { ...HELD, timeout: 0 });
    await system.bench.begins("a");
    const refused = await ben(verb, { log_id, ...args });
    expect(refused).toMatchObject({ status: "not_found", error_code: "NOT_FOUND" });
    // As one that never was: nothing tells that it exists.
    const nobodys = await ben(verb, { log_id: "00000000-0000-4000-8000-000000000000", ...args });
    expect({ ...refused, log_id: "" }).toEqual({ ...nobodys, log_id: "" });
    expect(await ann(verb, { log_id, ...args })).toMatchObject({ log_id, tool: "work" });
    system.bench.finish("a");
    const end = await ann("get_operation_result", { log_id, wait: true, timeout: 30 });
    expect(["completed", "cancelled"]).toContain(end.status);
  });

  test("force_new of another's operation is refused like one of nobody's, and supersedes nothing", async () => {
    const { system, ann, ben } = await stage();
    const anns = { Name: "a", idempotency_key: "a", timeout: 30 };
    const first = await ann("work", anns);
    const refused = await ben("work", { ...anns, force_new: first.log_id });
    expect(refused).toMatchObject({ status: "error", error_code: "INVALID_ARGUMENTS" });
    const nobodys = "00000000-0000-4000-8000-000000000000";
    const asNobodys = await ben("work", { ...anns, force_new: nobodys });
    expect(JSON.parse(JSON.stringify(refused).replaceAll(String(first.log_id), nobodys))).toEqual(asNobodys);
    expect(await ben("list_operations")).toMatchObject({ operations: [] });
    expect(await ann("work", anns)).toMatchObject({ log_id: first.log_id });
    expect(system.executions("a")).toBe(1);
  });
});

describe("by the call itself", () => {
  test("the same call of another principal is another operation; one's own is joined", async () => {
    const { system, ann, ben } = await stage();
    const first = await ann("work", { ...HELD, timeout: 0 });
    await system.bench.begins("a");
    const bens = await ben("work", { ...HELD, timeout: 0 });
    expect(bens.log_id).not.toBe(first.log_id);
    expect(bens).not.toHaveProperty("deduplicated");
    expect(await ann("work", { ...HELD, timeout: 0 })).toMatchObject({
      log_id: first.log_id,
      deduplicated: true,
    });
    system.bench.finish("a");
    await ann("get_operation_result", { log_id: first.log_id, wait: true, timeout: 30 });
    await eventually(() => system.executions("a") === 2, "ben's began");
    system.bench.finish("a");
    await ben("get_operation_result", { log_id: bens.log_id, wait: true, timeout: 30 });
  });

  test("an idempotency key is one's own", async () => {
    const { ann, ben } = await stage();
    const key = { Name: "a", timeout: 30, idempotency_key: "nightly" };
    const first = await ann("work", key);
    expect((await ben("work", key)).log_id).not.toBe(first.log_id);
    // Nor does it tell that the key is taken: another call under it is no conflict.
    expect((await ben("work", { ...key, Name: "b" })).error_code).toBe("IDEMPOTENCY_CONFLICT");
    expect(await ann("work", key)).toMatchObject({ log_id: first.log_id, deduplicated: true });
  });

  test("list_operations lists one's own", async () => {
    const { ann, ben } = await stage();
    const { log_id } = await ann("work", { Name: "a", timeout: 30 });
    expect((await ben("list_operations")).operations).toEqual([]);
    expect((await ann("list_operations")).operations).toMatchObject([{ log_id }]);
  });
});

test.each([
  ["interactive", ["a", "b", "bulk", "c"]],
  ["batch", ["a", "b", "c", "bulk"]],
] as const)("a principal whose token is %s has its turn: %j", async (priorityClass, order) => {
  const { system, tokens, as, ann } = await stage();
  const ci = await as(await tokens.create("ci", { priorityClass }));
  const calls = [await ann("work", { ...HELD, timeout: 0 })];
  await system.bench.begins("a");
  for (const Name of ["b", "c"]) calls.push(await ann("work", { Name, timeout: 0 }));
  const bulk = await ci("work", { Name: "bulk", timeout: 0 });
  system.bench.finish("a");
  for (const { log_id } of calls) await ann("get_operation_result", { log_id, wait: true, timeout: 30 });
  await ci("get_operation_result", { log_id: bulk.log_id, wait: true, timeout: 30 });
  expect(system.bench.begun).toEqual(order);
});

describe("by the session", () => {
  test("another principal's session is not found, and a revoked token ends all of its sessions", async () => {
    const { tokens, url } = await stage();
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    const cat = bearer(await tokens.create("cat"));
    const dan = bearer(await tokens.create("dan"));
    const opened = await post(url, INITIALIZE, { headers: cat });
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
    const session = opened.sessionId ?? "";
    expect((await post(url, list, { session, headers: cat })).status).toBe(200);
    expect((await post(url, list, { session, headers: dan })).status).toBe(404);
    await tokens.revoke("cat");
    expect((await post(url, list, { session, headers: cat })).status).toBe(401);
  });

  test("without a token, or with a wrong one, nothing is answered but how to get one", async () => {
    const { url } = await stage();
    for (const headers of [{}, { authorization: "Bearer ujb_wrong" }, { authorization: "Digest x" }]) {
      const refused = await post(url, INITIALIZE, { headers: headers as Record<string, string> });
      expect(refused.status).toBe(401);
      expect(refused.messages[0]?.error?.message).toMatch(/unity-broker token/);
    }
    const bare = await fetch(url, { method: "POST" });
    expect(bare.headers.get("www-authenticate")).toMatch(/^Bearer/);
    await bare.text();
  });
});

test("a session is nobody else's, not even in the moment in which a new gateway takes it over", async () => {
  const system = await start();
  const tokens = createTokens(tokensFile());
  const serve = async () => {
    const deps = { gateway: await system.addGateway(), log: createHeardLog(), version: "0", auth: tokens };
    const http = await createHttpGateway(deps, { host: "127.0.0.1", port: 0 });
    closers.push(http.close);
    return http.url;
  };
  const asAnn = { authorization: `Bearer ${await tokens.create("ann")}` };
  const asBen = { authorization: `Bearer ${await tokens.create("ben")}` };
  const session = (await post(await serve(), INITIALIZE, { headers: asAnn })).sessionId ?? "";
  const ask = (url: string, headers: Record<string, string>, id: number) =>
    post(url, { jsonrpc: "2.0", id, method: "ping" }, { session, headers });
  for (let round = 0; round < 5; round += 1) {
    const url = await serve();
    const asked = [asAnn, asBen, asBen, asAnn, asBen].map((headers, id) => ask(url, headers, id));
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses).toEqual([200, 404, 404, 200, 404]);
  }
});
