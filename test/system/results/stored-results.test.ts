/** What fetch_cached_response says of stored results: all of them, how long they are kept, and what a wrong filter could have asked for. */
import { expect, test } from "vitest";
import { useAssistants } from "../../harness/mcp/assistant.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
const connect = useAssistants();

async function open() {
  const { ask } = await connect(await start({ gateway: { answers: "short", maxResultTokens: 1_000 } }));
  const fetch = async (args: Record<string, unknown>) => (await ask("fetch_cached_response", args)).answer;
  const { answer } = await ask("get-hierarchy", { SimulatedSize: 200, timeout: 30 });
  return { ask, fetch, log_id: String(answer.log_id) };
}

test("info: how many pages, until when it is kept, what the call's arguments were", async () => {
  const { fetch, log_id } = await open();
  const info = await fetch({ log_id, action: "info" });
  expect(info).toMatchObject({
    ...{ status: "completed", tool: "get-hierarchy", parameters: { SimulatedSize: 200 } },
    ...{ total_items: 200, total_pages: expect.any(Number), page_size_kb: 8 },
  });
  const { _pagination: pagination } = await fetch({ log_id, page: 1 });
  expect(info.total_pages).toBe((pagination as { total_pages: number }).total_pages);
  const hoursLeft = (Date.parse(String(info.expires_at)) - Date.now()) / 3_600_000;
  expect(hoursLeft).toBeGreaterThan(0);
  const kept = await fetch({ log_id, jq: ".nodes" });
  const ofPart = await fetch({ cache_id: kept.cache_id, action: "info" });
  expect(ofPart).toMatchObject({ source_cache_id: log_id, jq_filter: ".nodes", total_items: 200 });
  expect(Date.parse(String(ofPart.expires_at))).toBeLessThanOrEqual(Date.now() + 30 * 60_000);
});

test("list: every stored result, of operations and of filters", async () => {
  const { ask, fetch, log_id } = await open();
  const { answer: small } = await ask("set-property", { Path: "/a", Value: 1, timeout: 20 });
  const kept = await fetch({ log_id, jq: ".nodes" });
  const listed = await fetch({});
  expect(listed).toMatchObject({
    results: [
      { cache_id: small.log_id, tool: "set-property", ended_at: expect.any(String) },
      { cache_id: log_id, tool: "get-hierarchy", size_kb: expect.any(Number) },
    ],
    cached_responses: [{ cache_id: kept.cache_id, source_cache_id: log_id }],
  });
});

test("a filter that finds nothing, or fails, is answered with the keys that are there", async () => {
  const { fetch, log_id } = await open();
  const failed = await fetch({ log_id, jq: ".objects[].name" });
  expect(failed).toMatchObject({ status: "error", error_code: "INVALID_ARGUMENTS", error_type: "runtime" });
  expect(failed.message).toContain('has the keys "');
  expect(failed.message).toContain('"nodes"');
  const nothing = await fetch({ log_id, jq: ".objects" });
  expect(nothing).toMatchObject({ status: "completed", data: null });
  expect(nothing.message).toContain("The result has");
  expect(nothing.message).toContain("Items of nodes have id, name");
  const fields = await fetch({ log_id, fields: ["nme"], limit: 1 });
  expect(fields).toMatchObject({ missing_fields: ["nme"], hint: expect.stringContaining('"name"') });
});

test("a filter sees a result as a small answer shows it", async () => {
  const { ask, fetch } = await open();
  const { answer } = await ask("set-property", { Path: "/a", Value: 1, timeout: 20 });
  const { data } = await fetch({ log_id: answer.log_id, jq: "." });
  expect(data).toEqual(answer.result);
});
