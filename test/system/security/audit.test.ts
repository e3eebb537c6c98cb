/** The audit log: who called what on which Editor, and what the answer was. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type AuditEntry, createAudit } from "../../../src/gateway/auth/audit.js";
import { audited } from "../../../src/gateway/auth/audited.js";
import { OPEN } from "../../../src/gateway/auth/authenticator.js";
import { singleRequest } from "../../../src/gateway/exchange.js";
import { createHeardLog } from "../../harness/mcp/mcp.js";
import { SILENT } from "../../harness/silent.js";
import { useSystem } from "../../harness/system/system.js";

const { start } = useSystem();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ujb-audit-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SECRET = "nobody-may-read-this";
const LINE: AuditEntry = { principal: "p-1", name: "ann", verb: "call", tool: "work", answer: "created" };
const DAY = Date.parse("2026-11-23T12:00:00Z");

test("each call is a line: who, what, where and the answer, and never what was passed or came back", async () => {
  const system = await start();
  const audit = createAudit(join(folder, "audit"), SILENT, { keptDays: 90 });
  const broker = audited(system.broker, OPEN, audit);
  const call = { principal: "ann", caller: { id: "s", transport: "http" } as const, tool: "work" };
  const first = { ...call, requestId: 1, arguments: { Name: "a", Data: SECRET, Hold: true } };
  const { record } = await broker.submit(first);
  await broker.submit({ ...first, requestId: 2 });
  await system.bench.begins("a");
  await broker.cancel("ann", record.logId, call.caller);
  await broker.cancel("ben", record.logId, singleRequest("http"));
  await expect(broker.submit({ ...call, tool: "no-such", requestId: 4, arguments: {} })).rejects.toThrow();
  system.bench.finish("a");
  await system.client("ann").outcome(record.logId);
  const lines = (await audit.read())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const on = { tool: "work", editor: system.editor.editorId, log_id: record.logId };
  expect(lines).toEqual([
    { at: expect.any(String), principal: "ann", name: "ann", verb: "call", ...on, answer: "created" },
    expect.objectContaining({ ...on, answer: "joined" }),
    expect.objectContaining({ verb: "cancel", ...on, answer: "accepted" }),
    expect.objectContaining({ principal: "ben", verb: "cancel", log_id: record.logId, answer: "refused" }),
    expect.objectContaining({ tool: "no-such", answer: "refused", error_code: "UNKNOWN_TOOL" }),
  ]);
  expect(JSON.stringify(lines)).not.toContain(SECRET);
  await audit.close();
});

test("its files are their owner's alone, and a link in the place of one is not followed", async () => {
  const place = join(folder, "audit");
  const log = createHeardLog();
  const audit = createAudit(place, log, { keptDays: 90, now: () => DAY });
  audit.note(LINE);
  await audit.close();
  expect(statSync(place).mode & 0o777).toBe(0o700);
  expect(statSync(join(place, "audit-2026-11-23.jsonl")).mode & 0o777).toBe(0o600);
  const other = join(folder, "other");
  writeFileSync(other, "");
  symlinkSync(other, join(place, "audit-2026-11-24.jsonl"));
  const next = createAudit(place, log, { keptDays: 90, now: () => DAY + 24 * 3_600_000 });
  next.note(LINE);
  await next.close();
  expect(readFileSync(other, "utf8")).toBe("");
});

test("files older than the days that are kept are removed, and nothing else in the folder", async () => {
  const names = ["audit-2026-11-20.jsonl", "audit-2026-11-21.2.jsonl", "audit-2026-11-22.jsonl"];
  mkdirSync(folder, { recursive: true });
  for (const name of [...names, "audit-notes.txt", "2020-01-01.jsonl"]) writeFileSync(join(folder, name), "");
  const audit = createAudit(folder, SILENT, { keptDays: 2, now: () => DAY });
  audit.note(LINE);
  await audit.close();
  expect(readdirSync(folder).sort()).toEqual([
    "2020-01-01.jsonl",
    "audit-2026-11-22.jsonl",
    "audit-2026-11-23.jsonl",
    "audit-notes.txt",
  ]);
});

test("a day takes so much room, and what comes after is reported in the log", async () => {
  const log = createHeardLog();
  const audit = createAudit(folder, log, { keptDays: 2, fileBytes: 10, filesOfDay: 2, now: () => DAY });
  for (let each = 0; each < 3; each += 1) {
    audit.note(LINE);
    await audit.close();
  }
  expect(readdirSync(folder).sort()).toEqual(["audit-2026-11-23.2.jsonl", "audit-2026-11-23.jsonl"]);
  expect((await audit.read("2026-11-23")).trim().split("\n")).toHaveLength(2);
});

test("refusals do not take the room of what was done", async () => {
  const audit = createAudit(folder, SILENT, { keptDays: 2, fileBytes: 100, filesOfDay: 4, now: () => DAY });
  for (let each = 0; each < 10; each += 1) {
    audit.note({ ...LINE, answer: "refused", error_code: "UNKNOWN_TOOL" });
    await audit.close();
  }
  audit.note({ ...LINE, tool: "build-player" });
  await audit.close();
  const text = await audit.read("2026-11-23");
  expect(text.match(/refused/g)?.length).toBeLessThan(5);
  expect(text).toContain("build-player");
});
