/** list_operations finds a lost log_id: by what was called, where and from where; and goes on where it stopped. */
import { expect, test } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { useAssistants } from "../../harness/mcp/assistant.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const connect = useAssistants();

type Row = Record<string, unknown> & { log_id: string };

async function open(answers: "short" | "full" = "short") {
  const system = await start({ gateway: { answers } });
  const { ask } = await connect(system);
  const list = async (args: Record<string, unknown> = {}) => {
    const { answer } = await ask("list_operations", args);
    return { ...answer, rows: answer.operations as Row[] } as Record<string, unknown> & { rows: Row[] };
  };
  const call = async (tool: string, args: Record<string, unknown>) => (await ask(tool, args)).answer as Row;
  return { system, ask, list, call };
}

test("a row says what was called, with shortened arguments, when, and how large its result is", async () => {
  const { list, call } = await open();
  await call("get-hierarchy", { SimulatedSize: 100, timeout: 20 });
  await call("put", { Name: "a", Data: "x".repeat(500), timeout: 20 });
  const { rows } = await list();
  expect(rows).toMatchObject([
    { tool: "put", state: "completed", accepted_at: expect.any(String) },
    { tool: "get-hierarchy", arguments: '{"SimulatedSize":100}', size_kb: expect.any(Number) },
  ]);
  expect(String(rows[0]?.arguments)).toMatch(/^\{"Name":"a","Data":"x+…\(\+\d+ characters\)$/);
  // Little of a small result, and of one's own session, is worth a model's attention.
  expect(rows[0]).not.toHaveProperty("size_kb");
  expect(rows[0]).not.toHaveProperty("session");
});

test("a program gets every field of a row", async () => {
  const { list, call } = await open("full");
  await call("put", { Name: "a", timeout: 20 });
  expect((await list()).rows).toMatchObject([
    { session: "this", size_kb: 0, started_at: expect.any(String), ended_at: expect.any(String) },
  ]);
});

test("state, tool and editor choose; what does not exist is refused or empty", async () => {
  const { list, call, system } = await open();
  await call("put", { Name: "a", timeout: 20 });
  await call("look", { Name: "b", timeout: 20 });
  await call("work", { Name: "c", Hold: true, timeout: 0 });
  await system.bench.begins("c");
  const tools = async (args: Record<string, unknown>) => (await list(args)).rows.map(({ tool }) => tool);
  expect(await tools({ state: "completed" })).toEqual(["look", "put"]);
  expect(await tools({ tool: "look" })).toEqual(["look"]);
  expect(await tools({ state: "completed", tool: "put" })).toEqual(["put"]);
  await eventually(async () => (await tools({ state: "running" })).length === 1, "it runs");
  const [name = ""] = system.editor.editorId.split("@");
  for (const editor of [name, system.editor.editorId]) expect(await tools({ editor })).toHaveLength(3);
  expect(await tools({ editor: "nowhere" })).toEqual([]);
  const refused = await list({ state: "runing" });
  expect(refused).toMatchObject({ status: "error", error_code: "INVALID_ARGUMENTS" });
  expect(refused.message).toContain("did you mean running?");
  system.bench.finish("c");
});

test("pages stay correct while operations are added, also of those that a filter chose", async () => {
  const { list, call } = await open();
  const put: string[] = [];
  for (let n = 0; n < 12; n += 1) {
    put.unshift((await call("put", { Name: `${n}`, timeout: 20 })).log_id);
    await call("look", { Name: `${n}`, timeout: 20 });
  }
  const seen: string[] = [];
  for (let before: unknown; ; ) {
    const page = await list({ tool: "put", limit: 5, ...(before === undefined ? {} : { before }) });
    seen.push(...page.rows.map(({ log_id }) => log_id));
    before = page.next_before;
    if (before === undefined) break;
    expect(page.message).toContain(`before: "${before}"`);
    await call("put", { Name: `later than ${before}`, timeout: 20 });
  }
  expect(seen).toEqual(put);
});

test("another session's are said to be, and by whom one was cancelled", async () => {
  const { list, call, system } = await open();
  const other = await connect(system);
  const held = { Hold: true, timeout: 0 };
  await call("work-cancellable", { Name: "a", ...held });
  await system.bench.begins("a");
  const waiting = await call("work-cancellable", { Name: "b", ...held });
  const third = await call("work-cancellable", { Name: "c", ...held });
  await call("cancel_operation", { log_id: third.log_id });
  await other.ask("cancel_operation", { log_id: waiting.log_id });
  const [c, b, a] = (await list()).rows;
  expect(c).toMatchObject({ state: "cancelled", cancelled_by: "this session" });
  expect(b).toMatchObject({ state: "cancelled", cancelled_by: "another session" });
  expect(a).not.toHaveProperty("cancelled_by");
  const { answer: theirs } = await other.ask("list_operations");
  expect((theirs.operations as Row[]).map(({ session }) => session)).toEqual([
    "another",
    "another",
    "another",
  ]);
  const { answer: told } = await other.ask("explain_operation", { log_id: waiting.log_id });
  expect(JSON.stringify(told.timeline)).toContain('"event":"cancelled","detail":"by stdio process');
  system.bench.finish("a");
});
