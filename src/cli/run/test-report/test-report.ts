/** What a step says of tests: a summary, annotations where GitHub reads them, and a file for the build server. */
import type { Answer } from "../../../shared/operation/answer.js";
import { junitOf } from "./junit.js";
import type { ReportFile } from "./report-file.js";
import { type TestCase, testCasesIn } from "./test-cases.js";

// Failed tests as annotations of GitHub Actions: a workflow command a line, which its runner takes out of the log.

/** The page of a run shows fewer; more only fill its log. */
const MOST = 50;

export function annotationsOf(cases: readonly TestCase[]): string[] {
  const failed = cases.filter(({ result }) => result === "failed");
  const lines = failed.slice(0, MOST).map(({ fullName, message = "It failed.", file, line }) => {
    const place = [
      ...(file === undefined ? [] : [`file=${property(file)}`]),
      ...(line === undefined ? [] : [`line=${line}`]),
      `title=${property(fullName)}`,
    ];
    return `::error ${place.join(",")}::${data(message)}`;
  });
  const left = failed.length - lines.length;
  return left > 0 ? [...lines, `::error title=Tests::and ${left} more failed tests`] : lines;
}

/** A line end would begin another command. */
function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

export interface TestReport {
  /** Its result is of tests, and is needed whole. */
  isOfTests(answer: Answer): boolean;
  /** For an answer with a whole outcome. Writes the file, if it is wanted. */
  report(answer: Answer): Reported;
}

export interface Reported {
  lines: string[];
  /** The answer without what the lines say. */
  brief: Answer;
  /** A report was wanted, and there is none, or none with a test in it. */
  isMissing: boolean;
  /** The file could not be written: the outcome must stay for another try. */
  isUnwritten: boolean;
}

export interface TestReportOptions {
  /** Undefined: none is wanted. */
  junit: ReportFile | undefined;
  isGithub: boolean;
  /** The Unity project's folder in the repository. */
  folder: string;
}

/** Most failed tests in the log; the result and the file have all. */
const MOST_SHOWN = 50;

export function createTestReport({ junit, isGithub, folder }: TestReportOptions): TestReport {
  return {
    isOfTests: ({ tool, status }) => (junit !== undefined || tool === "run-tests") && status === "completed",

    report(answer) {
      const result = answer.result ?? answer.partial_result;
      const cases = testCasesIn(result, folder);
      const problem = problemOf(answer, cases);
      const lines = cases.length === 0 ? [] : summaryOf(cases);
      const isMissing = junit !== undefined && cases.length === 0;
      if (isMissing) lines.push(`No test was reported: ${problem}`);
      let isUnwritten = false;
      const { tool = "run-tests", executed_at, accepted_at } = answer;
      const mode = (result as { TestMode?: unknown } | undefined)?.TestMode;
      const name = typeof mode === "string" ? `${tool} ${mode}` : tool;
      try {
        junit?.write(junitOf({ name, at: executed_at ?? accepted_at, cases, problem }));
      } catch (error) {
        isUnwritten = true;
        lines.push(`The test report was not written: ${(error as Error).message}`);
      }
      if (isGithub) lines.push(...annotationsOf(cases));
      return { lines, brief: briefOf(answer, cases), isMissing, isUnwritten };
    },
  };
}

/** Why it is no success, if no failed test says so. */
function problemOf(
  { status, state, result, message }: Answer,
  cases: readonly TestCase[],
): string | undefined {
  if (status !== "completed") return `The run ended as ${state}: ${message}`;
  const { Success, Message } = (result ?? {}) as { Success?: unknown; Message?: unknown };
  const said = typeof Message === "string" ? Message : undefined;
  if (cases.length === 0) return said ?? "the result has no test cases";
  const hasFailed = cases.some((each) => each.result === "failed");
  return Success === false && !hasFailed ? (said ?? "The run reports no success.") : undefined;
}

function summaryOf(cases: readonly TestCase[]): string[] {
  const count = (wanted: TestCase["result"]): number =>
    cases.filter(({ result }) => result === wanted).length;
  const failed = cases.filter(({ result }) => result === "failed");
  const left = failed.length - MOST_SHOWN;
  const counts = (["passed", "failed", "skipped", "inconclusive"] as const)
    .filter((result) => count(result) > 0)
    .map((result) => `${count(result)} ${result}`);
  return [
    `${cases.length} tests: ${counts.join(", ")}`,
    ...failed.slice(0, MOST_SHOWN).map(failedLine),
    ...(left > 0 ? [`  and ${left} more failed tests`] : []),
  ];
}

function failedLine({ fullName, message = "", file, line }: TestCase): string {
  const place = file === undefined ? "" : `  (${file}${line === undefined ? "" : `:${line}`})`;
  const [first = ""] = message.split("\n");
  return `  failed  ${fullName}: ${first.trimEnd()}${place}`;
}

function briefOf(answer: Answer, cases: readonly TestCase[]): Answer {
  if (cases.length === 0 || typeof answer.result !== "object") return answer;
  const { result: _whole, ...brief } = answer;
  return brief as Answer;
}
