/** The tables of docs/proofs/conformance.md: what each scenario came to, and why some are expected to fail. */
import { fileURLToPath } from "node:url";
import { markdownTable } from "../proofs/engine/report.js";
import { EXPECTED_FAILURES, type ExpectedFailure } from "./expected-failures.js";
import type { PlayedRun, PlayedScenario } from "./play.js";

export const PAGE = fileURLToPath(new URL("../../docs/proofs/conformance.md", import.meta.url));

/** The page with this text between the marks of this name. */
function replaced(page: string, mark: string, text: string): string {
  const [begin, end] = [`<!-- ${mark} -->\n`, `<!-- /${mark} -->`];
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`docs/proofs/conformance.md has no ${begin.trim()} … ${end}`);
  return `${page.slice(0, from + begin.length)}${text.trim()}\n${page.slice(to)}`;
}

export function writeExpected(
  page: string,
  expected: readonly ExpectedFailure[] = EXPECTED_FAILURES,
): string {
  const rows = expected.map(({ scenario, checks, revision, reason }) => [
    scenario,
    checks?.join(", ") ?? "all",
    revision ?? "all",
    reason,
  ]);
  return replaced(page, "expected", markdownTable(["scenario", "checks", "revisions", "why"], rows));
}

export function writeScenarios(page: string, played: readonly PlayedRun[]): string {
  const names = [...new Set(played.flatMap(({ scenarios }) => scenarios.map(({ name }) => name)))].sort();
  const head = played.map(({ run }) => `${run.revision} by ${run.suite}`);
  const rows = names.map((name) => [
    name,
    ...played.map(({ scenarios }) => resultOf(scenarios.find((scenario) => scenario.name === name))),
  ]);
  return replaced(page, "scenarios", markdownTable(["scenario", ...head], rows));
}

function resultOf(scenario: PlayedScenario | undefined): string {
  if (!scenario) return "";
  const { failures, warnings, isCounted } = scenario;
  const result = failures.length > 0 ? "fails" : warnings.length > 0 ? "passes, with warnings" : "passes";
  return isCounted ? result : `(${result})`;
}
