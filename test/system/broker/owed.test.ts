/** Owed: whoever asked for an outcome gets it, whoever else has read it meanwhile. Who only looked has got nothing. */
import { expect, test } from "vitest";
import { type McpCaller, useMcpCallers } from "../../harness/mcp/mcp-callers.js";
import { eventually, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const { serve, http } = useMcpCallers();

const WORK = { Name: "a", Hold: true };

async function open() {
  const system = await start();
  const served = await serve(system.gateway);
  const session = (): ReturnType<typeof http> => http(served);
  return { system, session };
}

test.each([
  ["joined it", (caller: McpCaller) => caller.call("work", { ...WORK, timeout: 0 })],
  [
    "waited for it by its log_id",
    (caller: McpCaller, log_id: string) =>
      caller.call("get_operation_result", { log_id, wait: true, timeout: 0.05 }),
  ],
] as const)(
  "a caller that %s, and did not get it, gets it where its creator has read it",
  async (_how, ask) => {
    const { system, session } = await open();
    const [creator, asker] = [await session(), await session()];
    const outcome = creator.call("work", WORK);
    await system.bench.begins("a");
    const [view] = await system.broker.list("local", 1);
    const logId = view?.record.logId ?? "";
    expect(await ask(asker, logId)).not.toMatchObject({ status: "completed" });
    system.bench.finish("a");
    expect(await outcome).not.toHaveProperty("deduplicated");
    await creator.settle();
    expect(await asker.call("work", WORK)).toMatchObject({ log_id: logId, deduplicated: true });
    expect(system.executions("a")).toBe(1);
  },
);

test("who lists an operation, reads its state or has it explained has not got its outcome", async () => {
  const { system, session } = await open();
  const [creator, other] = [await session(), await session()];
  const { log_id = "" } = await creator.call("work", { ...WORK, timeout: 0 });
  await system.bench.begins("a");
  system.bench.finish("a");
  await eventually(async () => (await system.record(log_id)).state === "completed", "it ended");
  for (const [look, args] of [
    ["list_operations", {}],
    ["get_operation_status", { log_id }],
    ["explain_operation", { log_id }],
  ] as const) {
    await other.call(look, args);
    await other.settle();
    expect((await system.record(log_id)).askers ?? {}, look).toEqual({});
  }
  expect(await other.call("work", WORK)).toMatchObject({ log_id, deduplicated: true });
});

test.each([
  ["a filter that fails", "fetch_cached_response", { jq: "(((" }],
  ["a part by a filter that fails", "get_operation_result", { jq: "(((" }],
  ["a filter that finds nothing", "fetch_cached_response", { jq: "empty" }],
  ["a page behind the last one", "get_operation_result", { page: 999 }],
  ["no items", "fetch_cached_response", { fields: ["None"], limit: 0 }],
  ["a description", "fetch_cached_response", { action: "info" }],
] as const)("%s delivers no outcome: the same call gets it, and does not run", async (_what, tool, part) => {
  const { system, session } = await open();
  const caller = await session();
  const { log_id = "" } = await caller.call("work", { ...WORK, timeout: 0 });
  await system.bench.begins("a");
  system.bench.finish("a");
  await eventually(async () => (await system.record(log_id)).state === "completed", "it ended");
  await caller.call(tool, { log_id, ...part });
  await caller.settle();
  expect(await caller.call("work", WORK)).toMatchObject({ log_id, deduplicated: true });
  expect(system.executions("a")).toBe(1);
});
