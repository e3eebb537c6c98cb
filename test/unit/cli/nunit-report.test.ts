/** NUnit 3 XML of the tests of a step: of any texts, read by a schema and by an independent reader. */
import { expect, test } from "vitest";
import { nunitOf } from "../../../src/cli/run/test-report/nunit.js";
import { testCasesIn } from "../../../src/cli/run/test-report/test-cases.js";
import { faultsOfNunit, readNunit } from "../../harness/nunit.js";

const NASTY = '<a b="1">&amp; ]]> \u0000\u001b[31m \ud800 é 漢 "quoted"';

const result = {
  cases: [
    { name: "Game.Jumps.High", className: "Game.Jumps", result: "passed", ms: 1234 },
    {
      name: 'Game.Jumps.Far("a.b",1.5)',
      className: "Game.Jumps",
      result: "failed",
      ms: 10,
      message: `${NASTY}\nsecond`,
      file: "Assets/J.cs",
      line: 7,
    },
    { name: "Game.Jumps.Deep", className: "Game.Jumps", result: "failed", ms: 1, message: "no" },
    {
      name: "Game.Walks(2.5).Later",
      className: "Game.Walks(2.5)",
      result: "skipped",
      ms: 0,
      message: "not today",
    },
    { name: "Alone", result: "inconclusive", ms: 0 },
  ],
  failures: [{ name: "Game.Jumps.Deep", message: "no", stackTrace: "at Deep () in Assets/J.cs:9" }],
};

const run = (problem?: string): string =>
  nunitOf({
    name: "run-tests EditMode",
    at: "2026-01-02T03:04:05.678Z",
    cases: testCasesIn(result),
    problem,
  });

test("every test is in it, with what an independent reader finds", async () => {
  const xml = run();
  expect(await faultsOfNunit(xml)).toEqual([]);
  expect(xml).toMatch(/<test-run id="1" name="run-tests EditMode" .*testcasecount="5" result="Failed"/);
  expect(xml).toContain('start-time="2026-01-02 03:04:05Z" end-time="2026-01-02 03:04:06Z"');
  expect(xml).toContain('name="Walks(2.5)" fullname="Game.Walks(2.5)"');
  const read = readNunit(xml);
  // It counts what is inconclusive as failed.
  expect(read).toMatchObject({ status: "FAIL", total: 5, failed: 3, passed: 1, skipped: 1 });
  const cases = read.suites.flatMap((suite) => suite.cases);
  expect(cases.map(({ name, status }) => [name, status])).toEqual([
    ["Game.Jumps.High", "PASS"],
    ['Game.Jumps.Far("a.b",1.5)', "FAIL"],
    ["Game.Jumps.Deep", "FAIL"],
    ["Game.Walks(2.5).Later", "SKIP"],
    ["Alone", "FAIL"],
  ]);
  expect(cases[0]?.duration).toBe(1234);
  expect(cases[1]?.failure).toContain("é 漢");
  expect(cases[1]?.stack_trace).toBe('at Game.Jumps.Far("a.b",1.5) in Assets/J.cs:line 7');
  expect(cases[2]).toMatchObject({ failure: "no", stack_trace: "at Deep () in Assets/J.cs:9" });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML has none of them.
  expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/);
});

test("a run that failed while no test did is not all green", async () => {
  const none = nunitOf({ name: "run-tests", cases: [], problem: NASTY });
  expect(await faultsOfNunit(none)).toEqual([]);
  expect(readNunit(none)).toMatchObject({ status: "FAIL", total: 1, failed: 1 });
  const cut = run("The run ended as interrupted: …");
  expect(await faultsOfNunit(cut)).toEqual([]);
  expect(readNunit(cut)).toMatchObject({ total: 6, failed: 4 });
});

test("the schema of the tests refuses what is no report", async () => {
  for (const [from, to] of [
    ['duration="1.234"', 'duration="1,234"'],
    ['testcasecount="5"', 'testcasecount="five"'],
    ['result="Failed"', 'result="failed"'],
    ['id="5"', 'id="4"'],
    ['seed="0"', ""],
    ["<filter/>", ""],
    ["</test-run>", ""],
  ] as const) {
    const xml = run();
    expect(xml).toContain(from);
    expect(await faultsOfNunit(xml.replace(from, to)), `${from} → ${to}`).not.toEqual([]);
  }
});
