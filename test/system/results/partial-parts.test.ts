/** What an operation has reported so far is read in parts while it runs, and after an end that left no result. */
import { expect, test } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { useAssistants } from "../../harness/mcp/assistant.js";
import { type System, useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const connect = useAssistants();

/** As its client has it: the answer, and whether it is an error. */
async function caller(system: System) {
  const { client, ask } = await connect(system);
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const { answer, raw } = await ask(name, args);
    return { answer, ...(raw.isError ? { isError: true } : {}) };
  };
  return { client, call };
}

const reported = (count: number) => ({
  failures: Array.from({ length: count }, (_, id) => ({ id, name: `Test.${id}`, message: "Expected: True" })),
});

/** A call that has reported something and goes on. */
async function running(tool = "work-cancellable") {
  const system = await start({ gateway: { answers: "short" } });
  const { call, client } = await caller(system);
  const { answer } = await call(tool, { Name: "a", Hold: true, timeout: 0 });
  await system.bench.begins("a");
  const says = async (partialResult: unknown, progress: number): Promise<void> => {
    system.bench.report("a", { progress, partialResult });
    await eventually(async () => {
      const live = await system.store.operations.live(String(answer.log_id));
      return JSON.stringify(live.partialResult) === JSON.stringify(partialResult);
    }, "the report is stored");
  };
  return { system, call, log_id: String(answer.log_id), says, client };
}

test("a small one is in the answer; of a large one there is a preview, also in the status", async () => {
  const { call, log_id, says, system } = await running();
  await says(reported(2), 1);
  expect((await call("get_operation_result", { log_id })).answer.partial_result).toEqual(reported(2));
  await says(reported(500), 2);
  for (const tool of ["get_operation_result", "get_operation_status"]) {
    const { answer } = await call(tool, { log_id });
    expect(answer).toMatchObject({ status: "running", partial_preview: { list: "failures" } });
    expect(answer).not.toHaveProperty("partial_result");
    expect(JSON.stringify(answer).length).toBeLessThan(3_500);
  }
  system.bench.finish("a");
});

test("pages and jq read what there is while it runs, and later what has come since", async () => {
  const { call, log_id, says, system } = await running();
  await says(reported(500), 1);
  const { answer: page } = await call("fetch_cached_response", { log_id, page: 2 });
  expect(page).toMatchObject({ status: "running", state: "running", partial: true, page: 2 });
  expect(page.data).toMatchObject({ failures: expect.any(Array) });
  const count = async () =>
    (await call("fetch_cached_response", { log_id, jq: ".failures | length" })).answer.data;
  expect(await count()).toBe(500);
  const { answer: direct } = await call("get_operation_result", { log_id, jq: ".failures[3].id" });
  expect(direct).toMatchObject({ status: "running", data: 3 });
  await says(reported(700), 2);
  expect(await count()).toBe(700);
  system.bench.finish("a");
  await eventually(
    async () => (await call("get_operation_status", { log_id })).answer.status === "completed",
    "it has ended",
  );
  // Its result has taken the place of what it reported.
  expect((await call("fetch_cached_response", { log_id, jq: "." })).answer).toMatchObject({
    status: "completed",
    data: { Done: "a" },
  });
});

test.each([
  ["a cancellation", "cancelled", "cancelled"],
  ["a failure", "failed", "error"],
] as const)("it is kept after %s", async (_how, state, status) => {
  const { call, log_id, says, system } = await running();
  await says(reported(500), 1);
  if (state === "cancelled") await call("cancel_operation", { log_id });
  else system.bench.fail("a", "no");
  await eventually(
    async () => (await call("get_operation_status", { log_id })).answer.state === state,
    "it has ended",
  );
  const { answer } = await call("get_operation_result", { log_id });
  expect(answer).toMatchObject({ status, state, partial_preview: { list: "failures" } });
  const part = await call("fetch_cached_response", { log_id, jq: ".failures | length" });
  // What became of the operation is no error of this reading.
  expect(part).toEqual({ answer: expect.objectContaining({ status, state, partial: true, data: 500 }) });
});

test("it is kept after an interruption", async () => {
  const { call, log_id, says, system } = await running("work");
  await says(reported(500), 1);
  await system.editor.faults.crash();
  await system.editor.faults.restart();
  await eventually(
    async () => (await call("get_operation_status", { log_id })).answer.state === "interrupted",
    "its outcome is unknown",
  );
  const { answer } = await call("fetch_cached_response", { log_id, jq: ".failures | length" });
  expect(answer).toMatchObject({ state: "interrupted", data: 500 });
});

test("the history of one that runs does not say that it has completed", async () => {
  const { call, log_id, system } = await running();
  expect((await call("explain_operation", { log_id })).answer).toMatchObject({ status: "running" });
  system.bench.fail("a", "no");
  await eventually(
    async () => (await call("get_operation_status", { log_id })).answer.state === "failed",
    "it has failed",
  );
  const told = await call("explain_operation", { log_id });
  expect(told).toEqual({ answer: expect.objectContaining({ status: "error", timeline: expect.any(Array) }) });
});

test("a resource is a result: there is none of what is only reported", async () => {
  const { system, log_id, says, client } = await running();
  await says(reported(3), 1);
  await expect(client.readResource({ uri: `unity-broker://results/${log_id}` })).rejects.toThrow();
  system.bench.finish("a");
});
