/**
 * Test results as JUnit XML, as build servers read it: a suite for each class. `file` and `line` of a test case are what
 * GitLab and the reporters for GitHub look for; Jenkins passes over them.
 */
import { create, type XMLElement } from "xmlbuilder";
import type { TestCase } from "./test-cases.js";

export interface TestRun {
  /** For example `run-tests EditMode`. */
  name: string;
  /** When it began, ISO 8601. */
  at?: string | undefined;
  cases: readonly TestCase[];
  /** Why the run is no success although no test of it failed: a suite of its own, so that no report is all green. */
  problem?: string | undefined;
}

/** XML 1.0 cannot have most control characters, not even escaped. */
const REPLACEMENT = "\ufffd";

export function junitOf({ name, at, cases, problem }: TestRun): string {
  const root = create(
    "testsuites",
    { version: "1.0", encoding: "UTF-8" },
    {},
    {
      invalidCharReplacement: REPLACEMENT,
    },
  );
  const failures = count(cases, "failed");
  const errors = problem === undefined ? 0 : 1;
  root.att({ name, tests: cases.length + errors, failures, errors, time: secondsOf(cases) });
  for (const [className, group] of byClass(cases))
    addSuite(root, className === "" ? name : className, at, group);
  if (problem !== undefined) {
    const suite = root.ele("testsuite", {
      name,
      tests: 1,
      failures: 0,
      errors: 1,
      skipped: 0,
      time: "0.000",
    });
    suite.ele("testcase", { classname: name, name: "the run", time: "0.000" }).ele(
      "error",
      {
        message: firstLine(problem),
      },
      problem,
    );
  }
  return `${root.end({ pretty: true })}\n`;
}

function addSuite(root: XMLElement, name: string, at: string | undefined, cases: readonly TestCase[]): void {
  const skipped = count(cases, "skipped") + count(cases, "inconclusive");
  const suite = root.ele("testsuite", {
    name,
    tests: cases.length,
    failures: count(cases, "failed"),
    errors: 0,
    skipped,
    time: secondsOf(cases),
    ...(at === undefined ? {} : { timestamp: at }),
  });
  for (const each of cases) addCase(suite, name, each);
}

function addCase(suite: XMLElement, className: string, given: TestCase): void {
  const { name, result, ms, message = "", stackTrace = "", file, line } = given;
  const element = suite.ele("testcase", {
    classname: className,
    name,
    time: seconds(ms),
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
  });
  const place = file === undefined ? "" : `at ${file}${line === undefined ? "" : `:${line}`}`;
  if (result === "failed") {
    const text = [message, stackTrace === "" ? place : stackTrace].filter(Boolean).join("\n");
    element.ele("failure", { message: firstLine(message), type: "failed" }, text);
  } else if (result !== "passed") {
    element.ele("skipped", { message: result === "skipped" ? message : `inconclusive ${message}`.trimEnd() });
  }
}

function firstLine(text: string): string {
  return text.split(/\r?\n/)[0] ?? "";
}

/** In the order in which their first tests ended. */
function byClass(cases: readonly TestCase[]): Map<string, TestCase[]> {
  const groups = new Map<string, TestCase[]>();
  for (const each of cases) {
    const group = groups.get(each.className);
    if (group) group.push(each);
    else groups.set(each.className, [each]);
  }
  return groups;
}

function count(cases: readonly TestCase[], wanted: TestCase["result"]): number {
  return cases.filter(({ result }) => result === wanted).length;
}

function secondsOf(cases: readonly TestCase[]): string {
  return seconds(cases.reduce((sum, { ms }) => sum + ms, 0));
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
