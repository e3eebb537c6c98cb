/** What is too large for a caller's context: told by a preview, kept, read in part, never executed again. */
import { describe, expect, test } from "vitest";
import { keys } from "../../../src/shared/store/keys.js";
import { type Giving, type GivingOptions, useGiving } from "../../harness/system/giving.js";

const start = useGiving();

/** So small a limit that a test's document is large. */
const TOKENS = 200;

const open = ({ gateway, ...options }: GivingOptions = {}): Promise<Giving> =>
  start({ ...options, gateway: { maxResultTokens: TOKENS, ...gateway } });

const SCENE = {
  scene: "Main",
  hierarchy: Array.from({ length: 100 }, (_, id) => ({ id, name: `Cube ${id}`, tags: ["a", "ü"] })),
};

/** Every item of every page, in order. */
async function turned(
  { fetch }: Giving,
  cacheId: string,
  field: string,
  args: object = {},
): Promise<unknown[]> {
  const items: unknown[] = [];
  for (let page = 1; ; page += 1) {
    const reported = await fetch({ cache_id: cacheId, page, page_size_kb: 1, ...args });
    const { total_pages } = reported._pagination as { total_pages: number };
    const data = Array.isArray(reported.data)
      ? reported.data
      : ((reported.data as Record<string, unknown>)[field] as unknown[]);
    items.push(...data);
    if (page >= total_pages) return items;
  }
}

describe("a result", () => {
  test("under the threshold is answered as it is", async () => {
    const reported = await (await open()).give({ hierarchy: [{ id: 1 }] });
    expect(reported).toMatchObject({ status: "completed", result: { hierarchy: [{ id: 1 }] } });
    expect(reported).not.toHaveProperty("cached");
  });

  test("over the threshold is kept, and reported by its size and a preview", async () => {
    const scene = await open();
    const reported = await scene.give(SCENE);
    const bytes = Buffer.byteLength(JSON.stringify(SCENE));
    expect(reported).toMatchObject({
      ...{ status: "completed", cached: true, cache_id: reported.log_id },
      ...{ size_kb: Math.round(bytes / 102.4) / 10, estimated_tokens: Math.ceil(bytes / 3) },
      usage_hint: expect.stringContaining(".hierarchy[].id"),
      preview: { type: "object", list: "hierarchy", item_fields: { id: "number", name: "string" } },
    });
    expect(reported).not.toHaveProperty("result");
  });

  test("is told in the same way by its log_id and to an identical call, and ran once", async () => {
    const scene = await open();
    const named = { Number: 7, idempotency_key: "seven" };
    const reported = await scene.give(SCENE, named);
    const call = await scene.caller();
    const read = await call("get_operation_result", { log_id: reported.log_id });
    expect(read).toMatchObject({ cached: true, cache_id: reported.log_id, preview: reported.preview });
    const other = await scene.caller();
    const again = await other("give", { ...named, timeout: 30 });
    expect(again).toMatchObject({ deduplicated: true, cached: true, cache_id: reported.log_id });
    expect(scene.runs()).toBe(1);
  });

  test("is stored compressed, and survives a restart of Redis and of the gateway", async () => {
    const scene = await open();
    const { cache_id } = await scene.give(SCENE);
    const stored = await scene.system.hand.hgetBuffer(keys.operation(cache_id), "result");
    expect(stored?.length).toBeLessThan(JSON.stringify(SCENE).length / 2);
    await scene.system.redis.kill();
    await scene.system.redis.restart();
    const { broker } = await scene.system.addGateway();
    const source = await broker.results.find("ann", cache_id).catch(() => undefined);
    expect(source ?? (await broker.results.find("local", cache_id))).toMatchObject({ cacheId: cache_id });
  });
});

describe("pages", () => {
  test("hold whole items, each on exactly one page, with what is beside them", async () => {
    const scene = await open();
    const { cache_id } = await scene.give(SCENE);
    expect(await turned(scene, cache_id, "hierarchy")).toEqual(SCENE.hierarchy);
    const first = await scene.fetch({ cache_id, page: 1, page_size_kb: 1 });
    expect(first.data).toMatchObject({ scene: "Main" });
    expect(first._pagination).toMatchObject({ field: "hierarchy", start_index: 0, total_items: 100 });
  });

  test.each([0.2, 1, 3, 1000])("of %f kB", async (page_size_kb) => {
    const scene = await open();
    const { cache_id } = await scene.give(SCENE.hierarchy);
    expect(await turned(scene, cache_id, "", { page_size_kb })).toEqual(SCENE.hierarchy);
  });

  test("beyond the last are empty, with the true totals", async () => {
    const scene = await open();
    const { cache_id } = await scene.give(SCENE);
    const reported = await scene.fetch({ cache_id, page: 999 });
    expect(reported).toMatchObject({
      status: "completed",
      data: { hierarchy: [] },
      _pagination: { total_items: 100 },
    });
  });

  test("of a nested list are found by its path", async () => {
    const scene = await open();
    const { cache_id } = await scene.give({ roots: [{ children: SCENE.hierarchy }], other: SCENE.hierarchy });
    const path = "roots[0].children";
    expect(await turned(scene, cache_id, path, { path })).toEqual(SCENE.hierarchy);
    const wrong = await scene.fetch({ cache_id, path: "roots[0].kids" });
    expect(wrong).toMatchObject({ status: "error", error_code: "INVALID_ARGUMENTS", error_type: "refused" });
    expect(wrong.error).toContain("children");
  });

  test("of items that are larger than a page, of unicode and of empty lists", async () => {
    const scene = await open();
    const items = [{ text: "ü".repeat(2_000) }, { text: "日本語" }, { text: "😀".repeat(400) }];
    const { cache_id } = await scene.give({ items, none: [] });
    expect(await turned(scene, cache_id, "items")).toEqual(items);
    expect(await turned(scene, cache_id, "none", { path: "none" })).toEqual([]);
  });
});

describe("filters", () => {
  test("give a small part at once", async () => {
    const scene = await open();
    const { cache_id } = await scene.give(SCENE);
    const reported = await scene.fetch({ cache_id, action: "filter", jq_filter: ".hierarchy[3].name" });
    expect(reported).toMatchObject({ status: "completed", data: "Cube 3", outputs: 1 });
  });

  test("keep a large part under an id of its own, which can be filtered again", async () => {
    const scene = await open();
    const { cache_id } = await scene.give(SCENE);
    const jq_filter = ".hierarchy | map(select(.id >= 10))";
    const kept = await scene.fetch({ cache_id, action: "filter", jq_filter });
    expect(kept).toMatchObject({
      cached: true,
      source_cache_id: cache_id,
      jq_filter,
      preview: { length: 90 },
    });
    const again = await scene.fetch({
      cache_id: kept.cache_id,
      action: "filter",
      jq_filter: "map(.id) | add",
    });
    expect(again.data).toBe(4905);
    expect(await scene.fetch({ cache_id: kept.cache_id, action: "info" })).toMatchObject({
      source_cache_id: cache_id,
      jq_filter,
    });
    expect((await scene.fetch({ action: "list" })).cached_responses).toMatchObject([
      { cache_id: kept.cache_id },
    ]);
    expect(await turned(scene, kept.cache_id, "")).toEqual(SCENE.hierarchy.slice(10));
  });

  test("that are not jq, or fail on the document, are reported in jq's own words", async () => {
    const scene = await open();
    const { cache_id } = await scene.give(SCENE);
    const wrong = await scene.fetch({ cache_id, action: "filter", jq_filter: ".hierarchy[" });
    expect(wrong).toMatchObject({ error_code: "INVALID_ARGUMENTS", error_type: "syntax" });
    expect(wrong.error).toContain("syntax error");
    const failed = await scene.fetch({ cache_id, action: "filter", jq_filter: ".scene | keys" });
    expect(failed).toMatchObject({ error_code: "INVALID_ARGUMENTS", error_type: "runtime" });
    expect(failed.error).toContain("has no keys");
  });

  test("without jq: fields, limit and offset", async () => {
    const scene = await open();
    const { cache_id } = await scene.give(SCENE);
    const args = { cache_id, action: "filter", fields: ["name"], limit: 2, offset: 5 };
    expect(await scene.fetch(args)).toMatchObject({
      data: [{ name: "Cube 5" }, { name: "Cube 6" }],
      ...{ total_items: 100, next_offset: 7 },
    });
  });

  test("without end are ended, and others are answered meanwhile", async () => {
    const scene = await open({ gateway: { documents: { timeoutMs: 5_000 } } });
    const { cache_id } = await scene.give(SCENE);
    const other = (await scene.give([...SCENE.hierarchy].reverse())).cache_id;
    let isOver = false;
    const endless = scene.fetch({ cache_id, action: "filter", jq_filter: "def f: f; f" }).finally(() => {
      isOver = true;
    });
    const page = await scene.fetch({ cache_id: other });
    expect([page.status, isOver]).toEqual(["completed", false]);
    expect(await endless).toMatchObject({
      status: "error",
      error_code: "FETCH_FAILED",
      error_type: "timeout",
    });
  });
});

describe("a cache_id", () => {
  test("that is unknown, of another principal or no id at all is not found", async () => {
    const scene = await open();
    const { cache_id } = await scene.give(SCENE);
    const kept = await scene.fetch({ cache_id, action: "filter", jq_filter: ".hierarchy" });
    const stranger = await scene.caller("stranger");
    for (const id of [cache_id, kept.cache_id, crypto.randomUUID(), "../etc"]) {
      const reported = await stranger("fetch_cached_response", { cache_id: id });
      expect(reported).toMatchObject({ status: "not_found", error_code: "NOT_FOUND" });
    }
    expect((await stranger("fetch_cached_response", { action: "list" })).cached_responses).toEqual([]);
  });

  test("of a filtered result runs out, and says what to do", async () => {
    const scene = await open();
    const { cache_id } = await scene.give(SCENE);
    const kept = await scene.fetch({ cache_id, action: "filter", jq_filter: ".hierarchy" });
    await scene.system.hand.del(keys.filtered(kept.cache_id));
    const reported = await scene.fetch({ cache_id: kept.cache_id });
    expect(reported).toMatchObject({
      status: "not_found",
      message: expect.stringContaining("Filter its source again"),
    });
  });

  test("is asked for by two clients at once", async () => {
    const scene = await open();
    const { cache_id } = await scene.give(SCENE);
    const call = await scene.caller();
    const asked = { cache_id, action: "filter", jq_filter: "[.hierarchy[].id] | add" };
    const both = await Promise.all([scene.fetch(asked), call("fetch_cached_response", asked)]);
    expect(both.map(({ data }) => data)).toEqual([4950, 4950]);
    expect(scene.runs()).toBe(1);
  });

  test("is missing, or an argument is wrong: what to do is said", async () => {
    const { fetch } = await open();
    expect(await fetch({ action: "get" })).toMatchObject({ error_code: "INVALID_ARGUMENTS" });
    expect(await fetch({ action: "eat" })).toMatchObject({ error_code: "INVALID_ARGUMENTS" });
  });
});

test("all of it is given where it fits into a message, also nested deep", async () => {
  const scene = await open();
  let deep: unknown = "end";
  for (let level = 0; level < 500; level += 1) deep = [deep];
  const { cache_id } = await scene.give({ deep, text: "x".repeat(1_000) });
  expect((await scene.fetch({ cache_id, action: "get" })).data).toEqual({ deep, text: "x".repeat(1_000) });
});

test("get_operation_result gives a page or a filtered part at once, with what became of the operation", async () => {
  const scene = await open();
  const { log_id } = await scene.give(SCENE);
  const call = await scene.caller();
  const page = await call("get_operation_result", { log_id, page: 2, page_size_kb: 1 });
  expect(page).toMatchObject({ status: "completed", log_id, state: "completed", page: 2, tool: "give" });
  expect(page).not.toHaveProperty("preview");
  const filtered = await call("get_operation_result", { log_id, jq: ".hierarchy | length" });
  expect(filtered).toMatchObject({ log_id, state: "completed", data: 100 });
  const wrong = await call("get_operation_result", { log_id, jq: ".hierarchy[" });
  expect(wrong).toMatchObject({ status: "error", error_type: "syntax", log_id });
});

describe("a part by fields", () => {
  test("that is large again is kept, and can be filtered with jq", async () => {
    const scene = await open();
    const { cache_id } = await scene.give(SCENE);
    const kept = await scene.fetch({ cache_id, action: "filter", fields: ["id", "name"], offset: 10 });
    expect(kept).toMatchObject({ cached: true, source_cache_id: cache_id, total_items: 100 });
    const filter = { action: "filter", jq_filter: "map(.id) | add" };
    expect((await scene.fetch({ cache_id: kept.cache_id, ...filter })).data).toBe(4905);
    expect(await scene.fetch({ cache_id: kept.cache_id, action: "info" })).toMatchObject({
      ...{ source_cache_id: cache_id, fields: ["id", "name"], offset: 10 },
    });
  });

  test("what is asked for has bounds, and a list shows the beginning of it", async () => {
    const scene = await open();
    const { cache_id } = await scene.give(SCENE);
    const filter = (args: object) => scene.fetch({ cache_id, action: "filter", ...args });
    for (const args of [
      { fields: ["z".repeat(201)] },
      { fields: Array.from({ length: 101 }, () => "id") },
      { path: "z".repeat(1_001) },
    ])
      expect(await filter(args)).toMatchObject({ error_code: "INVALID_ARGUMENTS" });
    const fields = ["id", "name", "tags", "y".repeat(190), "z".repeat(200)];
    expect(await filter({ fields })).toMatchObject({ cached: true });
    const jq_filter = `.hierarchy ${" ".repeat(300)}`;
    const { cache_id: kept } = await filter({ jq_filter });
    const listed = await scene.fetch({ action: "list" });
    expect(listed.message).toContain("2 filtered result(s)");
    expect(listed.cached_responses).toMatchObject([
      { jq_filter: `${jq_filter.slice(0, 200)}…(+${jq_filter.length - 200} characters)` },
      { fields: ["id", "name", "tags", expect.stringMatching(/^y+…\(\+208 characters\)$/)] },
    ]);
    expect(await scene.fetch({ action: "info", cache_id: kept })).toMatchObject({ jq_filter });
  });

  test("an item too large for a message is reported by its place", async () => {
    const scene = await open();
    const huge = { children: Array.from({ length: 3 }, () => "x".repeat(3_000_000)) };
    const { cache_id } = await scene.give({ roots: [huge] });
    const reported = await scene.fetch({ cache_id });
    expect(reported).toMatchObject({ status: "error", error_code: "FETCH_FAILED", error_type: "too_large" });
    expect(reported.error).toContain("roots[0]");
    const inside = await scene.fetch({ cache_id, path: "roots[0].children" });
    expect(inside).toMatchObject({ status: "completed", _pagination: { total_items: 3, total_pages: 3 } });
  });
});
