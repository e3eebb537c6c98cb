/** No answer is above what its client takes: measured on what a real client receives, whatever it asks for. */
import { readFileSync } from "node:fs";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { expect, test } from "vitest";
import { ANY_CLIENT, KNOWN_CLIENTS, limitsFor } from "../../../src/gateway/mcp/tools/tool-answer.js";
import { ANSWER_SETTINGS } from "../../../src/shared/answer-forms.js";
import { picture } from "../../harness/pictures.js";
import { type Giving, type GivingOptions, useGiving } from "../../harness/system/giving.js";

const start = useGiving();

const open = (gateway: GivingOptions["gateway"] = {}): Promise<Giving> =>
  start({ gateway: { answers: "short", ...gateway } });

interface Received {
  answer: Record<string, unknown>;
  bytes: number;
  raw: Awaited<ReturnType<Client["callTool"]>>;
}

async function received(client: Client, name: string, args: Record<string, unknown>): Promise<Received> {
  const raw = await client.callTool({ name, arguments: args });
  const [{ text }] = raw.content as [{ text: string }];
  return { raw, answer: JSON.parse(text), bytes: Buffer.byteLength(JSON.stringify(raw)) };
}

/** Of about so many bytes in an answer; quotes and letters that take more than a byte among them. */
const document = (bytes: number) => ({
  nodes: Array.from({ length: Math.ceil(bytes / 60) }, (_, id) => ({ id, name: `"Würfel" ${id}`, on: true })),
});

/** As clients call themselves. */
const NAMES: Record<string, string> = {
  "claude-code": "claude-code",
  "claude-ai": "claude-ai",
  cursor: "cursor-vscode",
  "visual studio code": "Visual Studio Code",
  codex: "codex-mcp-client",
  "gemini-cli": "gemini-cli-mcp-client-unity",
  cline: "Cline",
  windsurf: "windsurf-client",
  other: "some client",
};
const LIMITS: [string, number][] = [
  ...KNOWN_CLIENTS.map(({ name, answerBytes }): [string, number] => [NAMES[name] ?? name, answerBytes]),
  ["some client", ANY_CLIENT.answerBytes],
];

test.each(LIMITS)("%s gets no answer above %i bytes, and all of the result in pages", async (name, limit) => {
  const scene = await open();
  const client = await scene.named(name);
  for (const share of [0.5, 0.8, 0.95, 1.1, 3]) {
    const given = document(share * limit);
    const { log_id } = await scene.give(given);
    const asked = (tool: string, args: Record<string, unknown>) =>
      received(client, tool, { log_id, ...args });
    const result = await asked("get_operation_result", {});
    const part = await asked("fetch_cached_response", { jq: "." });
    const all = await asked("fetch_cached_response", { action: "get" });
    for (const { bytes, raw } of [result, part, all]) {
      expect(bytes).toBeLessThanOrEqual(limit);
      expect(raw.structuredContent).toBeUndefined();
    }
    if (result.answer.cached !== true) expect(result.answer.result).toEqual(given);
    const nodes: unknown[] = [];
    for (let [page, last] = [1, 1]; page <= last; page += 1) {
      const { answer, bytes } = await asked("fetch_cached_response", { page, page_size_kb: 500 });
      expect(bytes).toBeLessThanOrEqual(limit);
      nodes.push(...(answer.data as typeof given).nodes);
      last = (answer._pagination as { total_pages: number }).total_pages;
    }
    expect(nodes).toEqual(given.nodes);
  }
});

test("a result that a client does not take is described, and read in parts; a larger part is kept", async () => {
  const scene = await open();
  const { log_id } = await scene.give(document(20_000));
  const client = await scene.named("codex-mcp-client");
  const { answer } = await received(client, "get_operation_result", { log_id });
  expect(answer).toMatchObject({ status: "completed", cached: true, preview: { list: "nodes" } });
  expect(answer.message).toContain("usage_hint");
  const kept = await received(client, "fetch_cached_response", { log_id, jq: ".nodes" });
  expect(kept.answer).toMatchObject({ cached: true, source_cache_id: log_id });
  const whole = await received(client, "fetch_cached_response", { log_id, action: "get" });
  expect(whole.answer).toMatchObject({ status: "error", error_code: "FETCH_FAILED" });
  expect(whole.answer.message).toContain("by page, jq or fields");
  const item = await scene.give({ rows: [{ text: "x".repeat(30_000) }] });
  const page = await received(client, "fetch_cached_response", { log_id: item.log_id, page: 1 });
  expect(page.answer).toMatchObject({ error_code: "FETCH_FAILED" });
  expect(page.answer.message).toContain("takes answers of 10000");
});

test("a list is cut where the client would, and goes on from there", async () => {
  const scene = await open({ answerLimitBytes: 6_000 });
  const all: string[] = [];
  for (let n = 0; n < 30; n += 1) all.unshift((await scene.give({ n })).log_id);
  const client = await scene.named("some client");
  const listed: string[] = [];
  for (let before: unknown; ; ) {
    const args = { limit: 100, ...(before === undefined ? {} : { before }) };
    const { answer, bytes } = await received(client, "list_operations", args);
    expect(bytes).toBeLessThanOrEqual(6_000);
    listed.push(...(answer.operations as { log_id: string }[]).map((row) => row.log_id));
    before = answer.next_before;
    if (before === undefined) break;
    expect(answer.message).toContain(`before: "${before}"`);
  }
  expect(listed).toEqual(all);
});

test("pictures are no text: they stay, without structured content", async () => {
  const scene = await open({ answerLimitBytes: 4_000, answers: "full" });
  const data = picture("image/png", 60_000);
  const { content, structuredContent } = await scene.raw({
    content: [{ type: "image", mimeType: "image/png", data }],
  });
  expect(structuredContent).toBeUndefined();
  expect(content).toContainEqual({ type: "image", mimeType: "image/png", data });
});

test("a program that asks for every field has no limit, unless the setting gives it one", () => {
  const full = { ...ANSWER_SETTINGS, form: "full" } as const;
  const program = { name: "pipeline", version: "1" };
  expect(limitsFor(program, full).answerBytes).toBe(Number.POSITIVE_INFINITY);
  expect(limitsFor(program, { ...full, limitBytes: 9_000 }).answerBytes).toBe(9_000);
  expect(limitsFor({ name: "unity-broker", version: "1" }, { ...full, limitBytes: 9_000 }).answerBytes).toBe(
    Number.POSITIVE_INFINITY,
  );
  expect(limitsFor({ name: "Codex", version: "1" }, { ...full, limitBytes: 30_000 }).answerBytes).toBe(
    30_000,
  );
});

test("a wait ends before its client gives up, whatever the setting allows", () => {
  const settings = { ...ANSWER_SETTINGS, waits: { standardSeconds: 1, mostSeconds: 240 } };
  const most = (name: string) => limitsFor({ name, version: "1" }, settings).waits.mostSeconds;
  expect([most("cursor-vscode"), most("some client"), most("claude-code")]).toEqual([50, 50, 240]);
});

test("the clients are those of the page", () => {
  const page = readFileSync(new URL("../../../docs/reference/answer-sizes.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `([a-z -]+)` \| ([\d ]+) \| (\d+) s \| .+ \|$/gm)];
  expect(
    rows.map(([, name, bytes = "", seconds]) => [name, Number(bytes.replaceAll(" ", "")), Number(seconds)]),
  ).toEqual(
    KNOWN_CLIENTS.map(({ name, answerBytes, givesUpSeconds }) => [name, answerBytes, givesUpSeconds]),
  );
});
