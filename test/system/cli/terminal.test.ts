/** A terminal obeys control characters: nothing that an Editor or a caller wrote reaches one with them. */
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pc from "picocolors";
import { expect, test } from "vitest";
import { createProgressLines } from "../../../src/cli/client/follow.js";
import {
  renderAnswer,
  renderEditors,
  renderOperations,
  renderTimeline,
  renderTools,
} from "../../../src/cli/client/render.js";
import { renderFindings } from "../../../src/cli/doctor/finding.js";
import { createLog, readableLine } from "../../../src/cli/processes/runtime.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import {
  printable,
  printableJson,
  printableLine,
  printablePieces,
  printableValues,
} from "../../../src/shared/printable.js";
import { createSimulatedEditor } from "../../../src/simulator/editor.js";
import { parameters } from "../../../src/simulator/tool-definition.js";
import { useCommandLine } from "../../harness/processes/command-line.js";

/** What each does where it is obeyed. */
const SEQUENCES: Record<string, string> = {
  "sets the clipboard (OSC 52)": "\u001b]52;c;cm0gLXJmIH4=\u0007",
  "sets the title": "\u001b]0;trusted\u001b\\",
  "is a link": "\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\",
  "clears the screen": "\u001b[2J\u001b[H",
  "is a colour": "\u001b[8mhidden\u001b[0m",
  "is a device string (DCS)": "\u001bP$q\u001b\\",
  "begins by C1": "\u009b2J\u009d0;x\u009c\u0090",
  "goes back": "safe\rrm -rf\u0008\u0008",
  "rings, and is null": "\u0007\u0000\u007f",
  "turns the text around": "\u202egpj.exe\u202c \u2066a\u2069 \u200f\u061c",
  "is a line end in disguise": "\u2028\u2029\u000b\u000c\u0085",
};
const ALL = Object.values(SEQUENCES).join(" ");
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about.
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const plain = pc.createColors(false);

test.each(Object.entries(SEQUENCES))("what %s is shown by its codes", (_what, sequence) => {
  for (const shown of [printable(sequence), printableLine(sequence), printableJson({ a: sequence })]) {
    expect(shown).not.toMatch(OBEYED);
  }
  expect(JSON.parse(printableJson({ [sequence]: sequence }))).toEqual({ [sequence]: sequence });
});

test("other text stays as it is", () => {
  const text = "Grüße\t→ 日本語 👩‍💻\nsecond line";
  expect(printable(`${text}\r\nthird`)).toBe(`${text}\nthird`);
  expect(printableLine("a\nb")).toBe("a\\nb");
});

test("JSON in pieces, also where a piece ends inside a character", async () => {
  const bytes = Buffer.from(`{"a":"\u009b2J ü\u001b[2J"}`, "utf8");
  const pieces = async function* () {
    for (const byte of bytes) yield Buffer.from([byte]);
  };
  let text = "";
  for await (const piece of printablePieces(pieces())) text += piece;
  expect(text).not.toMatch(OBEYED);
  expect(JSON.parse(text)).toEqual({ a: "\u009b2J ü\u001b[2J" });
});

test("every screen is drawn from such texts without one of them", () => {
  const answer: Answer = {
    status: "error",
    state: "interrupted",
    log_id: ALL,
    tool: ALL,
    editor: ALL,
    error_code: "OUTCOME_UNKNOWN",
    message: ALL,
    evidence: { last_heartbeat_at: ALL, editor_phase: ALL, editor_log: [ALL] },
    force_new: ALL,
    deduplicated: true,
    accepted_at: ALL,
  };
  const large = { ...answer, status: "completed" as const, cached: true as const, cache_id: ALL };
  const preview = { kind: "object", item_fields: { [ALL]: ALL }, list: ALL } as never;
  const screens = [
    renderAnswer({ ...answer, result: ALL }, plain, "u"),
    renderAnswer({ ...answer, result: { [ALL]: [ALL] } }, plain, "u"),
    renderAnswer({ ...answer, partial_result: ALL }, plain, "u"),
    renderAnswer({ ...large, preview }, plain, "u"),
    renderOperations([answer], 0, plain),
    renderEditors(
      [
        {
          id: ALL,
          project: ALL,
          unity_version: ALL,
          connected: true,
          phase: ALL,
          diagnosis: { message: ALL, next: ALL },
        },
      ],
      0,
      plain,
    ),
    renderTools([{ name: ALL, description: ALL, readOnly: false }], plain),
    renderTimeline(
      { message: ALL, log_id: ALL, tool: ALL, timeline: [{ at: ALL, event: ALL as never, detail: ALL }] },
      plain,
    ),
    renderFindings([{ check: "Editor", state: "warning", says: ALL, next: ALL, fix: ALL }], plain),
  ];
  for (const screen of screens) expect(screen).not.toMatch(OBEYED);
  const lines: string[] = [];
  createProgressLines((line) => lines.push(line)).show({ progress: 1, total: 2, message: ALL });
  expect(lines.join()).not.toMatch(OBEYED);
  expect(lines.join()).toContain("50 %");
});

test("what nests deeper than anybody reads ends there", () => {
  const deep = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`) as unknown;
  expect(JSON.stringify(printableValues({ deep }))).toBe('{"deep":[[[[[[[null]]]]]]]}');
});

const { type, here, closeLater } = useCommandLine();

test("an Editor's words, on the way from Unity to every command", { timeout: 60_000 }, async () => {
  const { folder, env } = here();
  const editor = await createSimulatedEditor({
    projectPath: join(folder, "Game"),
    port: 0,
    ledgerFolder: join(folder, "ledger"),
    endpointFolder: String(env.UNITY_BROKER_EDITORS_DIR),
    unityVersion: `6000${ALL}`,
    tools: ["say", "fail"].map((name) => ({
      name,
      description: `${ALL} Says it.`,
      inputSchema: parameters({}, []),
      effect: "mutating" as const,
      lane: "main" as const,
      resumable: false,
      cancellable: false,
      executionClass: "quick" as const,
      blocksMainThread: true,
      label: () => name,
      async run({ progress }) {
        progress({ progress: 1, total: 2, message: ALL });
        await delay(400);
        if (name === "fail") throw new Error(ALL);
        return { [ALL]: ALL, list: Array.from({ length: 20 }, () => ALL) };
      },
    })),
  });
  closeLater(() => editor.close());

  const said: string[] = [];
  const all = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await type(args);
    said.push(`${printableLine(args.join(" "))}: ${stdout}${stderr}`);
    return stdout;
  };
  const { log_id } = JSON.parse(await all("call", "say", "--follow", "--json", "{}")) as { log_id: string };
  await all("call", "fail", "--follow", "--args", "{}");
  for (const command of ["result", "explain", "fetch"]) await all(command, log_id);
  await all("fetch", log_id, "--jq", ".");
  for (const command of ["tools", "editors", "list", "doctor"]) await all(command);
  for (const command of ["tools", "editors", "doctor"]) await all(command, "--json");
  const typed = ALL.replaceAll("\u0000", "");
  await all("call", typed, "--args", "{}");
  await all("result", typed);
  await all(typed);
  await editor.close();
  await all("editors", "forget", editor.editorId, "--force");
  for (const text of said) expect(text).not.toMatch(OBEYED);
  expect(said.join("\n")).toContain("\\u001b]52;c");
});

test("the log", () => {
  const { folder } = here();
  const log = createLog(
    { UNITY_BROKER_LOG_LEVEL: "silent", MCP_DEBUG: "1" },
    { dataDir: folder, command: "test" },
  );
  log.warn({ said: ALL }, ALL);
  const [file = ""] = readdirSync(join(folder, "logs"));
  const text = readFileSync(join(folder, "logs", file), "utf8");
  expect(text).not.toMatch(OBEYED);
  expect(JSON.parse(text.trim().split("\n").at(-1) ?? "")).toMatchObject({ said: ALL, msg: ALL });
});

test("a line of the log is read by people on a terminal", () => {
  const entry = { level: 40, time: 0, pid: 1, hostname: "h", editor: ALL, left: [1], msg: ALL };
  const line = readableLine(`${JSON.stringify(entry)}\n`);
  expect(line).toMatch(/^00:00:00 warn {2}.* {2}editor=.* {2}left=\[1\]\n$/);
  expect(line).not.toMatch(OBEYED);
  expect(readableLine("no JSON\n")).toBe("no JSON\n");
});

const LOG = new URL("../../../src/cli/processes/runtime.ts", import.meta.url).href;
const TSX = import.meta.resolve("tsx");

// `script` of util-linux gives a command a terminal of its own.
test.runIf(process.platform === "linux")("the log is JSON for a program, and lines on a terminal", () => {
  const { folder } = here();
  const program = `
    import { createLog } from ${JSON.stringify(LOG)};
    const log = createLog({ UNITY_BROKER_LOG_LEVEL: "info" }, { dataDir: ${JSON.stringify(folder)}, command: "test" });
    log.warn({ editor: "shop" }, "away");
  `;
  const file = join(folder, "log.mjs");
  writeFileSync(file, program);
  const piped = spawnSync(process.execPath, ["--import", TSX, file], { encoding: "utf8" });
  expect(JSON.parse(piped.stderr)).toMatchObject({ level: 40, editor: "shop", msg: "away" });
  const shown = execFileSync("script", ["-qec", `${process.execPath} --import ${TSX} ${file}`, "/dev/null"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  expect(shown).toMatch(/^\d\d:\d\d:\d\d warn {2}away {2}editor=shop\r?\n$/);
});
