/**
 * What a model reads: the short form of answers, through a real client, and how large each is. docs/reference/answer-sizes.md has
 * the figures: an answer that grows by more than a tenth fails here. UPDATE_GOLDEN=1 writes the page.
 */
import { expect, test } from "vitest";
import { toolsOfBridgeOnly } from "../../harness/editor/bridge-tools.js";
import { useAssistants } from "../../harness/mcp/assistant.js";
import { pageSection } from "../../harness/page-section.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const connect = useAssistants();

const PAGE = pageSection(new URL("../../../docs/reference/answer-sizes.md", import.meta.url), "sizes");
/** Of the list, characters, on average: it grows with what the Editor can do, and with nothing else. */
const PER_TOOL = 800;
/** What a page may be behind by. */
const GROWTH = 1.1;

const short = () => start({ gateway: { answers: "short" } });

test("a small result is the result with a few fields beside it, as text only", async () => {
  const { ask } = await connect(await short());
  const { raw, answer } = await ask("ping", { Message: "hi", timeout: 10 });
  expect(raw.structuredContent).toBeUndefined();
  expect(answer).toEqual({
    status: "completed",
    log_id: expect.any(String),
    result: { Message: "Unity Editor received: hi" },
  });
});

test("what a model can act on stays: a wait that ended, an error, a duplicate", async () => {
  const { ask } = await connect(await short());
  const item = { MenuItemPath: "Simulator/Block For 2 Seconds" };
  const { answer: waited } = await ask("execute-menu-item", { ...item, timeout: 0 });
  // Where its place in the queue is known yet, that too, and how long it takes.
  const { queue_position: _place, estimated_start_seconds: _start, ...always } = waited;
  expect(Object.keys(always).sort()).toEqual(["log_id", "message", "state", "status"]);
  expect(waited.message).toContain("get_operation_result (log_id, wait: true, timeout: 50)");
  const { answer: ended } = await ask("get_operation_result", {
    log_id: waited.log_id,
    wait: true,
    timeout: 20,
  });
  expect(ended).toMatchObject({ status: "completed", execution_ms: expect.any(Number) });
  const { answer: failed } = await ask("execute-menu-item", { MenuItemPath: "Nowhere", timeout: 10 });
  expect(Object.keys(failed).sort()).toEqual([
    "error_code",
    "error_type",
    "log_id",
    "message",
    "state",
    "status",
  ]);
  expect(failed).toMatchObject({ error_code: "TOOL_FAILED", error_type: "menu_item_not_found" });
  const keyed = { Path: "/a", Value: 1, idempotency_key: "one", timeout: 10 };
  const { answer: first } = await ask("set-property", keyed);
  const { answer: again } = await ask("set-property", keyed);
  expect(again).toMatchObject({ status: "completed", log_id: first.log_id, deduplicated: true });
  expect(again.message).toContain("Not run again");
});

test("with several Editors an answer says which one it is of", async () => {
  const system = await short();
  const second = await system.addEditor();
  await system.present(second);
  const { ask, client } = await connect(system);
  await client.listTools();
  const { answer } = await ask("ping", { editor: second.editorId, timeout: 10 });
  expect(answer).toMatchObject({ editor: second.editorId });
});

test("an error with a long message keeps what can be acted on, within what its client takes", async () => {
  const system = await short();
  const { ask } = await connect(system, "codex-mcp-client");
  const { answer } = await ask("work", { Name: "a", Hold: true, timeout: 0 });
  await system.bench.begins("a");
  system.bench.fail("a", 'Ü"'.repeat(20_000));
  const { raw, answer: failed } = await ask("get_operation_result", {
    log_id: answer.log_id,
    wait: true,
    timeout: 20,
  });
  expect(Buffer.byteLength(JSON.stringify(raw))).toBeLessThanOrEqual(10_000);
  expect(raw.isError).toBe(true);
  expect(failed).toMatchObject({
    status: "error",
    log_id: answer.log_id,
    state: "failed",
    error_code: "TOOL_FAILED",
  });
  expect(failed.message).toContain("characters)");
});

test.each([
  ["the command line", "unity-broker", "short"],
  ["everybody where the setting says so", "assistant", "full"],
] as const)("%s gets every field, also as structured content", async (_who, name, answers) => {
  const { ask } = await connect(await start({ gateway: { answers } }), name);
  const { raw, answer } = await ask("ping", { timeout: 10 });
  expect(answer).toMatchObject({ state: "completed", tool: "ping", accepted_at: expect.any(String) });
  expect(raw.structuredContent).toEqual(answer);
});

test("the sizes are those of the page", async () => {
  const system = await start({ gateway: { answers: "short" }, editor: { tools: toolsOfBridgeOnly } });
  const { client, ask } = await connect(system);
  const ofTests = new Set(system.bench.tools.map(({ name }) => name));
  const { tools } = await client.listTools();
  const listed = tools.filter(({ name }) => !ofTests.has(name));
  const sizes: [string, number][] = [];
  const note = (what: string, text: string): void => {
    sizes.push([what, text.length]);
  };
  for (const tool of listed) note(`tools/list: ${tool.name}`, JSON.stringify(tool));
  note("tools/list", JSON.stringify({ tools: listed }));
  note("instructions", client.getInstructions() ?? "");
  const told = async (what: string, name: string, args: Record<string, unknown> = {}) => {
    const asked = await ask(name, args);
    note(what, asked.text);
    return asked.answer;
  };
  await told("ping", "ping", { Message: "hi", timeout: 10 });
  await told("compile", "compile", { timeout: 50 });
  await told("run-tests, 10 passed", "run-tests", { timeout: 50 });
  await told("run-tests, 2 of 10 failed", "run-tests", { SimulatedFailures: 2, timeout: 50 });
  await told("get-logs", "get-logs", { MaxCount: 1, timeout: 10 });
  const set = { Path: "/Root0/Object1.speed", Value: 3, timeout: 10 };
  await told("set-property", "set-property", set);
  await told("find-game-objects, 1 object", "find-game-objects", {
    NamePattern: "Object1",
    MaxResults: 1,
    timeout: 10,
  });
  const item = { MenuItemPath: "Simulator/Block For 2 Seconds" };
  const { log_id } = await told("a call whose wait ended", "execute-menu-item", { ...item, timeout: 1 });
  await told("the same call again, joined", "execute-menu-item", { ...item, timeout: 0 });
  await told("get_operation_status of a running one", "get_operation_status", { log_id });
  await told("get_operation_result of a running one", "get_operation_result", { log_id });
  await told("get_operation_result, ended", "get_operation_result", { log_id, wait: true, timeout: 30 });
  await told("get_operation_result, a second time", "get_operation_result", { log_id });
  const large = await told("a large result", "get-hierarchy", { SimulatedSize: 2_000, timeout: 30 });
  await told("… one page of it", "fetch_cached_response", { log_id: large.log_id, page: 1 });
  await told("… a filtered part of it", "fetch_cached_response", {
    log_id: large.log_id,
    jq: ".nodes | length",
  });
  await told("an error of a tool", "execute-menu-item", { MenuItemPath: "Nowhere", timeout: 10 });
  await told("an error of the arguments", "execute-menu-item", { MenuItem: "Nowhere" });
  await told("an unknown log_id", "get_operation_result", { log_id: "00000000-0000-0000-0000-000000000000" });
  await told("cancel_operation of one that has ended", "cancel_operation", { log_id });
  await told("explain_operation", "explain_operation", { log_id });
  await told("list_operations, 5", "list_operations", { limit: 5 });
  await told("list_editors, 1", "list_editors");
  await told("list_unity_tools", "list_unity_tools");

  const page = pageOf(sizes);
  if (process.env.UPDATE_GOLDEN) PAGE.write(page);
  const known = new Map(rowsOf(PAGE.read()));
  expect([...known.keys()].sort()).toEqual(sizes.map(([what]) => what).sort());
  const grown = sizes.filter(([what, size]) => size > GROWTH * (known.get(what) ?? 0));
  expect(grown, "larger than docs/reference/answer-sizes.md says").toEqual([]);
  expect(known.get("tools/list")).toBeLessThanOrEqual(PER_TOOL * listed.length);
});

function pageOf(sizes: readonly [string, number][]): string {
  const row = ([what, size]: [string, number]): string => `| ${what} | ${size} | ${Math.ceil(size / 4)} |`;
  const all = sizes.reduce((sum, [what, size]) => sum + (what.startsWith("tools/list: ") ? 0 : size), 0);
  return `The session below, with its list and instructions, is ${all} characters.

| answer | characters | tokens, about |
|---|---|---|
${sizes.map(row).join("\n")}
`;
}

function rowsOf(page: string): [string, number][] {
  return [...page.matchAll(/^\| (.+) \| (\d+) \| \d+ \|$/gm)].map(([, what = "", size]) => [
    what,
    Number(size),
  ]);
}
