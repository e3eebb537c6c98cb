import { describe, expect, test } from "vitest";
import { diagnose } from "../../../../src/shared/editors/diagnose.js";
import {
  type DiagnosisCode,
  type EditorSigns,
  publicDiagnosis,
} from "../../../../src/shared/editors/diagnosis.js";

type Connection = EditorSigns["connection"];
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const signs = (connection: Connection, phase: string | undefined = "ready"): EditorSigns => ({
  project: "Shop",
  pid: 4711,
  address: "127.0.0.1:8700",
  phase,
  connection,
});
const ready = (changes: Partial<Extract<Connection, { is: "ready" }>> = {}): Connection => ({
  is: "ready",
  stallMs: 0,
  focused: undefined,
  running: undefined,
  ...changes,
});
const lost = (
  because: Extract<Connection, { is: "lost" }>["because"],
  forMs: number,
  refusal?: Extract<Connection, { is: "lost" }>["refusal"],
): Connection => ({ is: "lost", because, forMs, refusal });
const running = (forMs: number) => ({
  operation: { tool: "build-player", principal: "ann" },
  forMs,
  usualMs: 5 * MINUTE,
});

const LEFT_OUT = { count: 2, reasons: ["1002 tools exceed the limit of 1000"] };

const TABLE: [string, EditorSigns, DiagnosisCode | undefined][] = [
  ["all is well", signs(ready()), undefined],
  ["tools above a limit", { ...signs(ready()), toolsLeftOut: LEFT_OUT }, "TOOLS_LEFT_OUT"],
  ["… beside a worse diagnosis", { ...signs(ready(), "safe_mode"), toolsLeftOut: LEFT_OUT }, "SAFE_MODE"],
  ["a reload closes the port for a moment", signs(lost("closed", 14 * SECOND)), undefined],
  ["nobody listens for longer than a reload takes", signs(lost("closed", 15 * SECOND)), "BRIDGE_NOT_LOADED"],
  ["a reload that was announced may take longer", signs(lost("closed", MINUTE), "reloading"), undefined],
  ["… but not for ever", signs(lost("closed", 2 * MINUTE), "reloading"), "BRIDGE_NOT_LOADED"],
  ["its file says compile errors", signs(lost("closed", 0), "compile_errors"), "COMPILE_ERRORS"],
  ["its file says Safe Mode", signs(lost("closed", 0), "safe_mode"), "SAFE_MODE"],
  ["a short silence", signs(lost("silent", SECOND)), undefined],
  ["a long silence", signs(lost("silent", 20 * SECOND)), "EDITOR_SILENT"],
  ["an HTTP server on the port", signs(lost("not_ours", 0)), "PORT_TAKEN"],
  ["another Editor", signs(lost("other", 0, { why: "wrong_editor", found: "game@2" })), "WRONG_PROJECT"],
  ["the token is wrong", signs(lost("other", 0, { why: "token" })), "PORT_NOT_PROVEN"],
  ["another store", signs(lost("other", 0, { why: "foreign_broker", boundTo: "s2" })), "FOREIGN_BROKER"],
  ["a full disk", signs(lost("other", 0, { why: "ledger", message: "It is full." })), "LEDGER_UNAVAILABLE"],
  [
    "another protocol",
    signs(lost("other", 0, { why: "other", message: "Method not found." })),
    "HELLO_REFUSED",
  ],
  ["connected, with compile errors", signs(ready(), "compile_errors"), "COMPILE_ERRORS"],
  ["connected, in Safe Mode", signs(ready(), "safe_mode"), "SAFE_MODE"],
  ["a short stall", signs(ready({ stallMs: 9 * SECOND })), undefined],
  ["a stall while nothing runs", signs(ready({ stallMs: 10 * SECOND })), "MODAL_DIALOG"],
  ["… in the background", signs(ready({ stallMs: 10 * SECOND, focused: false })), "UNFOCUSED"],
  ["… while Unity compiles", signs(ready({ stallMs: MINUTE }), "compiling"), undefined],
  ["… while Unity imports for ever", signs(ready({ stallMs: 5 * MINUTE }), "importing"), "UNITY_AT_WORK"],
  [
    "a stall while an operation has its time",
    signs(ready({ stallMs: 4 * MINUTE, running: running(4 * MINUTE) })),
    undefined,
  ],
  [
    "… past its time",
    signs(ready({ stallMs: 6 * MINUTE, running: running(6 * MINUTE) })),
    "MAIN_THREAD_BUSY",
  ],
  ["past its time, but not stalled", signs(ready({ running: running(6 * MINUTE) })), undefined],
  ["… in the background", signs(ready({ focused: false, running: running(6 * MINUTE) })), "UNFOCUSED"],
];

describe("what keeps an Editor from working", () => {
  test.each(TABLE)("%s", (_story, given, expected) => {
    expect(diagnose(given)?.code).toBe(expected);
  });

  const reported = TABLE.flatMap(([, given]) => diagnose(given) ?? []);

  test("each has a text of its own, in whole sentences, and says what to do", () => {
    const byCode = new Map(reported.map((diagnosis) => [diagnosis.code, diagnosis]));
    expect(new Set([...byCode.values()].map(({ next }) => next)).size).toBe(byCode.size);
    for (const { message, next } of reported) {
      expect(message).toMatch(/^\S.*\.$/s);
      expect(next).toMatch(/^[A-Z].*\.$/s);
    }
  });

  test("no message says to kill Unity while something may run in it", () => {
    for (const { next } of reported) expect(next).not.toMatch(/kill|-9/i);
    const busy = reported.find(({ code }) => code === "MAIN_THREAD_BUSY");
    expect(busy?.next).toContain("does not run it again");
  });

  test("the facts are named", () => {
    const other = signs(lost("other", 0, { why: "wrong_editor", found: "game@2" }));
    expect(diagnose(other)?.message).toMatch(/127\.0\.0\.1:8700.*game@2.*Shop/);
    expect(diagnose(signs(lost("closed", 20 * SECOND)))?.message).toContain("process 4711");
    expect(diagnose(signs(ready({ stallMs: 12_400 })))?.message).toContain("12 s");
  });
});

test("a diagnosis with an operation names its tool to its principal, and to nobody else", () => {
  const reported = diagnose(signs(ready({ stallMs: 6 * MINUTE, running: running(6 * MINUTE) })));
  if (!reported) throw new Error("no diagnosis");
  expect(publicDiagnosis(reported, "ann").message).toMatch(/^build-player has run for 6 min/);
  const toBen = publicDiagnosis(reported, "ben");
  expect(toBen.message).toMatch(/^An operation has run for 6 min/);
  expect(JSON.stringify(toBen)).not.toMatch(/build-player|ann/);
});
