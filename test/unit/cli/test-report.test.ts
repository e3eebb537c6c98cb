/** Test results as JUnit XML, as lines and as annotations: also of names and messages that would break out of them. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { UsageError } from "../../../src/cli/command.js";
import { junitOf } from "../../../src/cli/run/test-report/junit.js";
import { openReportFile } from "../../../src/cli/run/test-report/report-file.js";
import { type TestCase, testCasesIn } from "../../../src/cli/run/test-report/test-cases.js";
import { annotationsOf, createTestReport } from "../../../src/cli/run/test-report/test-report.js";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { canonicalXml, faultsOfJunit } from "../../harness/junit.js";

const NASTY = `<a b="1">&amp; ]]> 'q' \u0000\u001b[2J\ufffe 😀 \ud800 é\n\tsecond line\r\n%0A::error::x`;

const result = {
  Success: false,
  TestMode: "EditMode",
  cases: [
    { name: "Game.Jumps.High", className: "Game.Jumps", result: "passed", ms: 1234 },
    {
      name: 'Game.Jumps.Far("a.b",1.5)',
      className: "Game.Jumps",
      result: "failed",
      ms: 10,
      message: NASTY,
      file: "Assets/J.cs",
      line: 7,
    },
    { name: NASTY, result: "failed", ms: 0 },
    { name: "Game.Later", className: "Game", result: "skipped", ms: 0, message: "not today" },
    { name: "Game.Perhaps", className: "Game", result: "inconclusive", ms: 0 },
  ],
  failures: [{ name: 'Game.Jumps.Far("a.b",1.5)', message: NASTY, stackTrace: "at Far () in Assets/J.cs:7" }],
};
const answer: Answer = {
  status: "completed",
  state: "completed",
  tool: "run-tests",
  log_id: "a",
  accepted_at: "2026-01-01T00:00:00.000Z",
  message: "",
  result,
};

/** Tests may be called anything: only the Editor knows where the class ends. */
test.each([
  ["Game.Parser", "Handles 3.5 percent"],
  ["Game.Parser", "Ends with a dot."],
  ["Game.Parser", "..."],
  ["Game.Parser", "Reads (1.5"],
  ["Game.Parser", 'says "a.b'],
  ["Game.Parser", NASTY],
  ['Game.Parser("a.)(",1.5)', 'Reads("b.c")'],
  ["Game.Map<System.Int32>", "Adds(0.5f)"],
  ["Game.Outer+Inner", "Adds"],
  ["Alone", "One"],
])("the class %s and its test %s are those that the Editor reports", async (className, name) => {
  const fullName = `${className}.${name}`;
  const cases = testCasesIn({ cases: [{ name: fullName, className, result: "failed", ms: 1 }] });
  expect(cases).toEqual([{ className, name, fullName, result: "failed", ms: 1 }]);
  const junit = await canonicalXml(junitOf({ name: "run", cases }));
  expect(await faultsOfJunit(junit)).toEqual([]);
  if (name === NASTY) return;
  const [inXml, itsName] = [className, name].map((text) =>
    text.replaceAll("<", "&lt;").replaceAll('"', "&quot;"),
  );
  // XML may write it as it is or as its entity.
  expect(junit.replaceAll("&gt;", ">")).toContain(`<testcase classname="${inXml}" name="${itsName}" `);
});

test("without a class a test has its whole name, in the suite of the run", () => {
  const name = "Game.Parser.Handles 3.5 percent.";
  const cases = testCasesIn({ cases: [{ name, result: "passed" }] });
  expect(cases).toEqual([{ className: "", name, fullName: name, result: "passed", ms: 0 }]);
  expect(junitOf({ name: "run", cases })).toContain(`<testcase classname="run" name="${name}"`);
});

test("what reports no tests has none; a case that is none is left out", () => {
  for (const none of [undefined, null, "text", {}, { cases: {} }]) expect(testCasesIn(none)).toEqual([]);
  const cases = [
    null,
    1,
    { name: 1, result: "passed" },
    { name: "A", result: "great" },
    { name: "A", result: "passed" },
  ];
  expect(testCasesIn({ cases })).toEqual([
    { className: "", name: "A", fullName: "A", result: "passed", ms: 0 },
  ]);
});

test("files are those of the repository, if the project's folder in it is known", () => {
  const file = (folder: string) => testCasesIn(result, folder)[1]?.file;
  expect(["", ".", "./", "Game", "./apps/Game/", "apps\\Game"].map(file)).toEqual([
    "Assets/J.cs",
    "Assets/J.cs",
    "Assets/J.cs",
    "Game/Assets/J.cs",
    "apps/Game/Assets/J.cs",
    "apps/Game/Assets/J.cs",
  ]);
});

test("JUnit XML of any texts is valid, and an independent parser reads them back", async () => {
  const cases = testCasesIn(result);
  const xml = junitOf({
    name: "run-tests EditMode",
    at: answer.accepted_at,
    cases,
    problem: `${NASTY} problem`,
  });
  expect(await faultsOfJunit(xml)).toEqual([]);
  const read = await canonicalXml(xml);
  expect(read).toContain('<testcase classname="Game.Jumps" name="High" time="1.234"></testcase>');
  expect(read).toContain(
    'classname="Game.Jumps" file="Assets/J.cs" line="7" name="Far(&quot;a.b&quot;,1.5)" time="0.010">',
  );
  expect(read).toContain("\n\tsecond line&#xD;\n%0A::error::x\nat Far () in Assets/J.cs:7</failure>");
  expect(read).toContain('<skipped message="not today"></skipped>');
  expect(read).toContain('<skipped message="inconclusive"></skipped>');
  expect(read).toContain(
    '<testsuites errors="1" failures="2" name="run-tests EditMode" tests="6" time="1.244">',
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML has none of them.
  expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/);
});

test("the schema of the tests refuses what is no report", async () => {
  const xml = junitOf({ name: "n", cases: testCasesIn(result) });
  for (const [from, to] of [
    ['time="1.234"', 'time="1,2"'],
    ['tests="5"', 'tests="five"'],
    ["<testcase ", "<test "],
    ["</testsuites>", ""],
    ['classname="Game.Jumps"', ""],
  ] as const) {
    expect(xml).toContain(from);
    expect(await faultsOfJunit(xml.replace(from, to)), `${from} → ${to}`).not.toEqual([]);
  }
});

test("annotations: a line each, which nothing in them can end; at most 50", () => {
  const [first = "", second = "", ...others] = annotationsOf(testCasesIn(result));
  expect(first).toMatch(
    /^::error file=Assets\/J\.cs,line=7,title=Game\.Jumps\.Far\("a\.b"%2C1\.5\)::<a b="1">/,
  );
  expect(first).toContain("%0A\tsecond line%0D%0A%250A::error::x");
  expect(second).toMatch(/^::error title=.*%3A%3Aerror.*::It failed\.$/);
  expect(`${first}${second}`).not.toMatch(/[\r\n]/);
  expect(others).toEqual([]);
  const many = Array.from(
    { length: 53 },
    (_, at): TestCase => ({ className: "", name: `T${at}`, fullName: `T${at}`, result: "failed", ms: 1 }),
  );
  expect(annotationsOf(many)).toHaveLength(51);
  expect(annotationsOf(many).at(-1)).toBe("::error title=Tests::and 3 more failed tests");
});

const written: string[] = [];
const report = (given: Partial<Answer>, isWanted: boolean, isGithub = false) => {
  written.length = 0;
  const junit = isWanted ? { write: (text: string) => void written.push(text) } : undefined;
  return createTestReport({ junit, isGithub, folder: "" }).report({ ...answer, ...given } as Answer);
};

test("the log has the counts and the failed tests, and not the result again", () => {
  const { lines, brief } = report({}, false, true);
  expect(lines[0]).toBe("5 tests: 1 passed, 2 failed, 1 skipped, 1 inconclusive");
  expect(lines[1]).toMatch(/^ {2}failed {2}Game\.Jumps\.Far\("a\.b",1\.5\): <a b="1">.*\(Assets\/J\.cs:7\)$/);
  expect(lines.filter((line) => line.startsWith("::error"))).toHaveLength(2);
  expect(brief).not.toHaveProperty("result");
  expect(report({}, false).lines.some((line) => line.startsWith("::error"))).toBe(false);
});

test.each<[string, Partial<Answer>, RegExp]>([
  ["without a test", { result: { Success: true, cases: [] } }, /the result has no test cases/],
  [
    "without a test that fits",
    { result: { Success: false, cases: [], Message: "No test fits." } },
    /No test fits/,
  ],
  [
    "of a bridge that reports no cases",
    { result: { Success: true, TestCount: 3 } },
    /the result has no test cases/,
  ],
  [
    "that failed",
    { status: "error", state: "failed", message: "It gave up.", result: undefined },
    /ended as failed: It gave/,
  ],
])("a run %s leaves a report that is not green, and says so", async (_what, given, says) => {
  const { isMissing, lines } = report(given, true);
  expect(isMissing).toBe(true);
  expect(lines.join("\n")).toMatch(says);
  expect(written).toHaveLength(1);
  expect(await faultsOfJunit(written[0] ?? "")).toEqual([]);
  expect(written[0]).toMatch(/<testsuites .*tests="1" failures="0" errors="1"/);
  expect(report(given, false).isMissing).toBe(false);
});

test("a run that is cut leaves the tests that had ended, and a report that is not green", async () => {
  const partial_result = { ...result, cases: result.cases.slice(0, 1) };
  const cut = {
    status: "error",
    state: "interrupted",
    message: "Unknown.",
    result: undefined,
    partial_result,
  } as const;
  expect(report(cut, true).isMissing).toBe(false);
  expect(written[0]).toMatch(
    /tests="2" failures="0" errors="1"[\s\S]*name="High"[\s\S]*ended as interrupted/,
  );
  const missed = { result: { ...partial_result, Message: "Only 1 of 2 tests reported their result." } };
  report(missed, true);
  expect(written[0]).toMatch(/errors="1"[\s\S]*Only 1 of 2 tests/);
  expect(await faultsOfJunit(written[0] ?? "")).toEqual([]);
});

test("the file is there as a whole or not at all, and never that of an earlier run", () => {
  const folder = mkdtempSync(join(tmpdir(), "ujb-report-"));
  try {
    const path = join(folder, "a", "b", "out.xml");
    openReportFile("--junit", path).write("first");
    expect(readFileSync(path, "utf8")).toBe("first");
    const second = openReportFile("--junit", path);
    expect(readdirSync(join(folder, "a", "b"))).toEqual([]);
    second.write("second");
    expect(readdirSync(join(folder, "a", "b"))).toEqual(["out.xml"]);
    const third = openReportFile("--junit", path);
    mkdirSync(path);
    expect(() => third.write("third")).toThrow();
    expect(readdirSync(join(folder, "a", "b"))).toEqual(["out.xml"]);
    expect(() => openReportFile("--junit", path)).toThrow(UsageError);
    writeFileSync(join(folder, "file"), "");
    expect(() => openReportFile("--junit", join(folder, "file", "out.xml"))).toThrow(UsageError);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
