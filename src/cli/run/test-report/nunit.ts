/**
 * Test results in NUnit 3's result format: a fixture for each class. What its schema requires (nunit/nunit,
 * src/NUnitFramework/framework/Schemas/TestResult.xsd) is there; docs.nunit.org, "Test Result XML Format", explains it.
 */
import { create, type XMLElement } from "xmlbuilder";
import type { TestCase } from "./test-cases.js";
import { byClass, count, REPLACEMENT, seconds, secondsOf, type TestRun } from "./test-run.js";

type Verdict = "Passed" | "Failed" | "Skipped" | "Inconclusive";

const VERDICTS: Record<TestCase["result"], Verdict> = {
  passed: "Passed",
  failed: "Failed",
  skipped: "Skipped",
  inconclusive: "Inconclusive",
};

export function nunitOf({ name, at, cases, problem }: TestRun): string {
  const root = create(
    "test-run",
    { version: "1.0", encoding: "UTF-8" },
    {},
    { invalidCharReplacement: REPLACEMENT },
  );
  const all = problem === undefined ? cases : [...cases, theRun(name, problem)];
  const ids = idsFrom(0);
  // The time of the tests: what the Editor did beside them is not known here.
  const begun = at === undefined ? undefined : Date.parse(at);
  const ended = begun === undefined ? undefined : begun + all.reduce((sum, { ms }) => sum + ms, 0);
  const times = {
    ...(begun === undefined ? {} : { "start-time": time(begun) }),
    ...(ended === undefined ? {} : { "end-time": time(ended) }),
  };
  root.att({
    ...{ id: ids(), name, fullname: name },
    ...counts(all),
    "random-seed": 0,
    ...times,
  });
  root.ele("filter");
  const assembly = root.ele("test-suite", {
    ...{ type: "Assembly", id: ids(), name, fullname: name, runstate: "Runnable" },
    ...counts(all),
    ...times,
  });
  for (const [className, group] of byClass(all))
    addFixture(assembly, className === "" ? name : className, group, ids);
  return `${root.end({ pretty: true })}\n`;
}

/** A case of its own for a run that failed while none of its tests did. */
function theRun(name: string, problem: string): TestCase {
  const fullName = `${name}.the run`;
  return { className: name, name: "the run", fullName, result: "failed", ms: 0, message: problem };
}

function addFixture(
  parent: XMLElement,
  className: string,
  cases: readonly TestCase[],
  ids: () => string,
): void {
  const fixture = parent.ele("test-suite", {
    ...{
      type: "TestFixture",
      id: ids(),
      name: className.replace(NAMESPACE, ""),
      fullname: className,
      classname: className,
    },
    ...{ runstate: "Runnable", ...counts(cases) },
  });
  for (const each of cases) addCase(fixture, className, each, ids());
}

function addCase(fixture: XMLElement, className: string, given: TestCase, id: string): void {
  const { name, fullName, result, ms, message = "", stackTrace = "" } = given;
  const element = fixture.ele("test-case", {
    ...{ id, name, fullname: fullName, methodname: name.split("(")[0], classname: className },
    ...{ runstate: result === "skipped" ? "Skipped" : "Runnable", seed: "0" },
    ...{ result: VERDICTS[result], duration: seconds(ms), asserts: 0 },
  });
  if (result === "failed") {
    const failure = element.ele("failure");
    failure.ele("message", {}, message);
    const trace = stackTrace === "" ? placeOf(given) : stackTrace;
    if (trace !== "") failure.ele("stack-trace", {}, trace);
  } else if (message !== "") element.ele("reason").ele("message", {}, message);
}

/** A frame as .NET writes it, which readers look for. */
function placeOf({ fullName, file, line }: TestCase): string {
  return file === undefined ? "" : `at ${fullName} in ${file}${line === undefined ? "" : `:line ${line}`}`;
}

function counts(cases: readonly TestCase[]): Record<string, string | number> {
  const of = (wanted: TestCase["result"]): number => count(cases, wanted);
  const [failed, passed, skipped] = [of("failed"), of("passed"), of("skipped")];
  const result: Verdict =
    failed > 0 ? "Failed" : passed > 0 ? "Passed" : skipped > 0 ? "Skipped" : "Inconclusive";
  return {
    ...{ testcasecount: cases.length, result, total: cases.length, passed, failed, warnings: 0 },
    ...{ inconclusive: of("inconclusive"), skipped, asserts: 0, duration: secondsOf(cases) },
  };
}

/** Before the name of a class, which may end with arguments. */
const NAMESPACE = /^([\p{L}\p{N}_]+\.)+(?=.)/u;

function idsFrom(first: number): () => string {
  let next = first;
  return () => {
    next += 1;
    return String(next);
  };
}

/** As NUnit writes it. */
function time(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, "Z");
}
