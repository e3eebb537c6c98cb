/** The arguments of the broker's own tools: what a model writes nearly right is understood, the rest is refused with what was meant. */
import { expect, test } from "vitest";
import { useGiving } from "../../harness/system/giving.js";

const start = useGiving();
const NODES = { nodes: Array.from({ length: 30 }, (_, id) => ({ id, name: `Cube ${id}`, tag: "a" })) };

/** A client, and the log_id of a result. */
async function withResult() {
  const giving = await start();
  const call = await giving.caller();
  return { ...giving, call, log_id: (await giving.give(NODES)).log_id };
}

test("a number or a boolean that is written as text is understood", async () => {
  const { call, log_id } = await withResult();
  const answer = await call("get_operation_result", { log_id, wait: "true", timeout: "3" });
  expect(answer).toMatchObject({ status: "completed", log_id });
  expect(await call("list_operations", { limit: "1" })).toMatchObject({ operations: [{ log_id }] });
  expect(await call("list_operations", { limit: "one" })).toMatchObject({ error_code: "INVALID_ARGUMENTS" });
});

test.each([
  ["get_operation_result", { waits: true }, "there is no parameter waits (did you mean wait?)"],
  ["get_operation_status", { logId: "x" }, "log_id is given twice"],
  ["get_operation_status", { log_id: null }, "log_id is missing"],
  ["get_operation_result", { timeout: "soon" }, 'timeout must be a number, not the text "soon"'],
  ["list_operations", { count: 3 }, "there is no parameter count"],
  ["list_operations", { limit: 0 }, "limit must be at least 1, not 0"],
  [
    "fetch_cached_response",
    { action: "gett" },
    'action must be one of get, get_page, filter, info, list, not the text "gett"',
  ],
  ["select_editor", {}, "editor is missing"],
])("%s refuses %j and says what was meant", async (tool, args, said) => {
  const { call, log_id } = await withResult();
  const isOfNone = tool === "list_operations" || tool === "select_editor";
  const given = isOfNone ? args : { log_id, ...args };
  const refused = await call(tool, given);
  expect(refused).toMatchObject({ status: "error", error_code: "INVALID_ARGUMENTS" });
  expect(refused.message).toContain(said);
});

test("other spellings, and null and an empty text for what is not used, are understood", async () => {
  const { call, log_id } = await withResult();
  const unused = { wait: null, timeout: "", page: null, jq: null, fields: null, path: null };
  expect(await call("get_operation_result", { log_id, ...unused })).toMatchObject({ status: "completed" });
  expect(await call("get_operation_status", { logId: log_id })).toMatchObject({ log_id });
  expect(await call("list_operations", { limit: "", state: null })).toMatchObject({
    operations: [{ log_id }],
  });
  expect(await call("fetch_cached_response", { cacheId: log_id, jqFilter: ".nodes[3].name" })).toMatchObject({
    data: "Cube 3",
  });
  for (const editor of [null, ""])
    expect(await call("select_editor", { editor })).toMatchObject({ status: "completed", selected: null });
  expect(await call("list_editors", { random_string: "dummy" })).toMatchObject({ status: "completed" });
  expect(
    await call("call_unity_tool", { tool: "ping", arguments: null, idempotencyKey: null }),
  ).toMatchObject({
    tool: "ping",
  });
});

test("fetch_cached_response infers what to do, and takes the names of earlier versions", async () => {
  const { call, log_id } = await withResult();
  const first = { data: { nodes: expect.arrayContaining([NODES.nodes[0]]) }, page: 1 };
  for (const args of [{ log_id }, { cache_id: log_id }, { log_id, page: "1" }])
    expect(await call("fetch_cached_response", args)).toMatchObject(first);
  for (const filter of [{ jq: ".nodes[3].name" }, { jq_filter: ".nodes[3].name" }])
    expect(await call("fetch_cached_response", { log_id, ...filter })).toMatchObject({ data: "Cube 3" });
  expect(await call("fetch_cached_response", { log_id, fields: ["id"], limit: 2 })).toMatchObject({
    data: [{ id: 0 }, { id: 1 }],
  });
  expect(await call("fetch_cached_response")).toMatchObject({ cached_responses: [] });
});

test("get_operation_result reads a part by the same names", async () => {
  const { call, log_id } = await withResult();
  const part = (args: Record<string, unknown>) => call("get_operation_result", { log_id, ...args });
  expect(await part({ jq: ".nodes[3].name" })).toMatchObject({ state: "completed", data: "Cube 3" });
  expect(await part({ fields: ["tag"], path: "nodes" })).toMatchObject({
    data: expect.arrayContaining([{ tag: "a" }]),
  });
  expect(await part({ page: 1 })).toMatchObject({ page: 1 });
});

test.each([
  [{ action: "get_page", jq: "." }, "action get_page takes no jq"],
  [{ action: "get", fields: ["id"] }, "action get takes no fields"],
  [{ page: 1, jq: "." }, "Give page, or jq: not both"],
  [{ action: "info", limit: 1 }, "action info takes no limit"],
])("%j contradicts itself: refused, and nothing of it is ignored", async (args, said) => {
  const { call, log_id } = await withResult();
  const refused = await call("fetch_cached_response", { log_id, ...args });
  expect(refused).toMatchObject({ status: "error", error_code: "INVALID_ARGUMENTS" });
  expect(refused.message).toContain(said);
});
