/** What people see, as golden text: plain and coloured, at 80 columns. */
import { readFileSync, writeFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import pc from "picocolors";
import { describe, expect, test } from "vitest";
import { accepted } from "../../../src/cli/client/broker-client.js";
import { EXIT, endingOf, exitCodeOf, RUN_EXIT } from "../../../src/cli/client/exit-codes.js";
import {
  coloursFor,
  editorsIn,
  renderAnswer,
  renderClients,
  renderEditors,
  renderOperations,
  renderTimeline,
  renderTools,
} from "../../../src/cli/client/render.js";
import { type Answer, answerOf, notFound } from "../../../src/shared/operation/answer.js";
import type { OperationRecord } from "../../../src/shared/operation/operation.js";
import { timelineOf, whyOnce } from "../../../src/shared/operation/timeline.js";
import { previewOf } from "../../../src/shared/results/preview.js";
import { executed, NOW, operation } from "../shared/record.js";
import { LIVE_SCREENS } from "./live-screens.js";

const LOG_ID = "0b6f8a52-8c5e-4a5e-9d53-2f1f7c1a9e10";
const [plain, coloured] = [pc.createColors(false), pc.createColors(true)];
const named = { logId: LOG_ID, createdBy: { caller: "stdio:4b1c9d2e-77", requestId: 1 } };

const shown = (record: OperationRecord, view = {}, options = {}): Answer =>
  answerOf({ record, now: NOW, ...view }, options);

const duplicates = [
  { at: NOW - 45_000, relation: "joined" as const, caller: "mcp:12345678-aaaa", requestId: 7 },
  { at: NOW - 5_000, relation: "replayed" as const, caller: "mcp:9abcdef0-bbbb", requestId: 2 },
];
const story = executed(named);

const LARGE = previewOf(
  Buffer.from(
    JSON.stringify({
      scene: "Main",
      hierarchy: [
        { name: "Cube", id: 1, tags: ["a"] },
        { name: "Wall", id: 2 },
      ],
    }),
  ),
);

/** Title → what is printed. */
const SCREENS: Record<string, (colours: typeof plain) => string> = {
  "unity-broker call, completed": (c) =>
    renderAnswer(shown(executed(named), { result: '{"Success":true,"Errors":[]}' }), c, "unity-broker"),
  "unity-broker call, a large result on a terminal": (c) =>
    renderAnswer(shown(executed(named), { large: { bytes: 15_568_000, preview: LARGE } }), c, "unity-broker"),
  "unity-broker call, the wait ended": (c) =>
    renderAnswer(
      shown(operation({ ...named, state: "running", startedAt: NOW }), {}, { waitedSeconds: 30 }),
      c,
      "unity-broker",
    ),
  "unity-broker call, found again": (c) =>
    renderAnswer(
      shown(executed(named), { result: '"Build/Android.apk"' }, { duplicate: "replayed" }),
      c,
      "unity-broker",
    ),
  "unity-broker call, failed": (c) =>
    renderAnswer(
      shown(
        executed({
          ...named,
          state: "failed",
          error: {
            code: "TOOL_FAILED",
            type: "internal_error",
            message: "There is no menu item Build/Androd.",
          },
        }),
      ),
      c,
      "unity-broker",
    ),
  "unity-broker call, nobody knows": (c) =>
    renderAnswer(
      shown(
        executed({
          ...named,
          state: "interrupted",
          error: { code: "OUTCOME_UNKNOWN", type: "editor_exit", message: "The Editor ended while it ran." },
          evidence: {
            lastHeartbeatAt: NOW,
            phase: "building",
            mainThreadStallMs: 12_000,
            wasRunning: true,
            editorLog: ["Building scene 3 of 7", "Crash!!!"],
          },
        }),
      ),
      c,
      "unity-broker",
    ),
  "unity-broker result, another's or unknown": (c) =>
    renderAnswer(notFound(LOG_ID, false), c, "unity-broker"),
  "unity-broker list": (c) =>
    renderOperations(
      [
        shown(operation({ ...named, state: "running" })),
        shown(
          executed({ ...named, tool: "a-tool-with-a-name-that-is-too-long", acceptedAt: NOW - 7_200_000 }),
        ),
        shown(operation({ ...named, state: "expired", acceptedAt: NOW - 172_800_000 })),
      ],
      NOW,
      c,
    ),
  "unity-broker list, nothing yet": (c) => renderOperations([], NOW, c),
  "unity-broker explain": (c) =>
    renderTimeline(
      {
        log_id: LOG_ID,
        tool: story.tool,
        client: "claude-code 1.0.3",
        timeline: timelineOf(story, duplicates),
        message: whyOnce(story, duplicates),
      },
      c,
    ),
  "unity-broker editors": (c) =>
    renderEditors(
      [
        {
          id: "shop@53316fd1",
          project: "Shop",
          unity_version: "6000.0.30f1",
          connected: true,
          phase: "ready",
        },
        { id: "game@0a1b2c3d", project: "Game", unity_version: "2022.3.50f1", connected: false },
      ],
      NOW,
      c,
    ),
  "unity-broker editors, at work": (c) =>
    renderEditors(
      ["build-player", undefined].map((tool, at) => ({
        ...{ id: `shop@53316fd${at}`, project: "Shop", unity_version: "6000.0.30f1", connected: true },
        ...{ phase: "building", waiting: 2 * at },
        running: { ...(tool === undefined ? {} : { tool }), since: new Date(NOW - 200_000).toISOString() },
      })),
      NOW,
      c,
    ),
  "unity-broker editors, one with another bridge": (c) =>
    renderEditors(
      [
        {
          id: "shop@53316fd1",
          project: "Shop",
          unity_version: "6000.0.30f1",
          connected: true,
          phase: "ready",
        },
        {
          ...{ id: "game@0a1b2c3d", project: "Game", unity_version: "2022.3.50f1", connected: true },
          ...{
            phase: "ready",
            bridge: "unity-mcp (no ledger: a lost connection leaves the outcome unknown)",
          },
        },
      ],
      NOW,
      c,
    ),
  "unity-broker editors, the connected MCP clients": () =>
    renderClients(
      [
        {
          ...{ name: "claude-code", version: "1.0.3", transport: "stdio" },
          since: new Date(NOW - 300_000).toISOString(),
        },
        {
          ...{ name: "\u001b[2Jcursor\n", version: "", transport: "http", principal: "ann" },
          since: new Date(NOW - 7_200_000).toISOString(),
        },
        { name: "unity-broker", version: "0.1.0", transport: "stdio", since: "", self: true },
      ],
      NOW,
    ),
  "unity-broker tools": (c) =>
    renderTools(
      [
        { name: "build-player", description: "Builds the player for a target platform.", readOnly: false },
        {
          name: "get-hierarchy",
          description: "The objects of the open scenes, with their components and paths.",
          readOnly: true,
        },
      ],
      c,
    ),
  ...LIVE_SCREENS,
};

const GOLDEN = new URL("../../../docs/reference/screens.md", import.meta.url);

const drawn = [
  "# What the command line prints",
  "",
  "Made from the code, and compared with it by a test. Colours are shown on a terminal only (`NO_COLOR` and",
  "`FORCE_COLOR` are heard).",
  ...Object.entries(SCREENS).flatMap(([title, draw]) => ["", `## ${title}`, "```", draw(plain), "```"]),
  "",
].join("\n");

if (process.env.UPDATE_GOLDEN) writeFileSync(GOLDEN, drawn);

test("the documented screens are what is printed", () => {
  expect(readFileSync(GOLDEN, "utf8")).toBe(drawn);
});

describe.each(Object.entries(SCREENS))("%s", (_title, draw) => {
  test("coloured, it says the same", () => {
    expect(stripVTControlCharacters(draw(coloured))).toBe(draw(plain));
  });

  test("takes 80 columns at most", () => {
    for (const line of draw(plain).split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  });
});

test("a wide terminal shows more of what a tool does", () => {
  const description =
    "Runs all tests of an assembly, or those that a filter names, in Edit Mode or in Play Mode.";
  const tool = { name: "run-tests", description, readOnly: false };
  expect(renderTools([tool], plain)).toContain("…");
  expect(renderTools([tool], plain, 200)).toContain(description);
});

test("behind the tools it says which ones models are not offered, and why", () => {
  const tool = { name: "compile", description: "Compiles.", readOnly: false };
  const unity = [{ name: "compile" }, { name: "team/tool", not_in_list: "its name\u001b[2J" }];
  expect(renderTools([tool], plain, 80, unity).split("\n").slice(2)).toEqual([
    "",
    "Models are not offered team/tool: its name\\u001b[2J. `call` and `run` take it.",
  ]);
});

test("states have their colours", () => {
  const text = SCREENS["unity-broker list"]?.(coloured) ?? "";
  expect(text).toContain(coloured.yellow("running"));
  expect(text).toContain(coloured.green("completed"));
  expect(text).toContain(coloured.red("expired"));
});

test.each([
  [{ isTTY: true }, {}, true],
  [{ isTTY: false }, {}, false],
  [{ isTTY: true }, { NO_COLOR: "1" }, false],
  [{ isTTY: false }, { FORCE_COLOR: "1" }, true],
  [{ isTTY: true }, { FORCE_COLOR: "0" }, false],
])("on %j with %j colours are %s", (stream, env, expected) => {
  expect(coloursFor(stream, env as NodeJS.ProcessEnv).isColorSupported).toBe(expected);
});

test("the documented exit codes are those of the code", () => {
  const page = readFileSync(new URL("../../../docs/reference/command-line.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `(\w+)` \| .* \| (\d+) \| (\d+) \|$/gm)];
  const documented = rows.map(([, ending = "", run, others]) => [ending, Number(run), Number(others)]);
  const declared = Object.entries(RUN_EXIT).map(([ending, run]) => [
    ending,
    run,
    EXIT[ending as keyof typeof EXIT],
  ]);
  expect(documented.sort()).toEqual(declared.sort());
});

test.each([
  ["completed", undefined, 0],
  ["error", "TOOL_FAILED", 1],
  ["timeout", undefined, 3],
  ["running", undefined, 3],
  ["not_found", "NOT_FOUND", 4],
  ["error", "OUTCOME_UNKNOWN", 5],
  ["cancelled", undefined, 6],
] as const)("status %s %s ends with code %i", (status, error_code, code) => {
  expect(exitCodeOf({ status, ...(error_code ? { error_code } : {}) })).toBe(code);
});

test.each([
  ["completed", "completed", undefined, true, "ok"],
  ["completed", "completed", undefined, false, "unsuccessful"],
  ["error", "failed", "TOOL_FAILED", true, "failed"],
  ["error", "failed", "EDITOR_REFUSED", true, "refused"],
  ["error", undefined, "NO_EDITOR", true, "refused"],
  ["error", "expired", "EXPIRED", true, "expired"],
  ["error", "interrupted", "OUTCOME_UNKNOWN", true, "unknown"],
  ["cancelled", "cancelled", undefined, true, "cancelled"],
  ["running", "queued", undefined, true, "goesOn"],
  ["not_found", undefined, "NOT_FOUND", true, "notFound"],
] as const)(
  "status %s, state %s, code %s, success %s is %s",
  (status, state, error_code, isSuccess, ending) => {
    const answer = { status, ...(state ? { state } : {}), ...(error_code ? { error_code } : {}) };
    expect(endingOf(answer, isSuccess)).toBe(ending);
  },
);

test("a refusal is no empty list", () => {
  const answer = { status: "error", error_code: "STORE_UNAVAILABLE", message: "Redis is away." } as const;
  expect(() => editorsIn(answer)).toThrow("Redis is away.");
  expect(() => accepted(answer)).toThrow("Redis is away.");
  expect(editorsIn({ editors: [] })).toEqual([]);
});
