/** A run of tests as the writers of reports see it. */
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
export const REPLACEMENT = "\ufffd";

/** In the order in which their first tests ended. */
export function byClass(cases: readonly TestCase[]): Map<string, TestCase[]> {
  const groups = new Map<string, TestCase[]>();
  for (const each of cases) {
    const group = groups.get(each.className);
    if (group) group.push(each);
    else groups.set(each.className, [each]);
  }
  return groups;
}

export function count(cases: readonly TestCase[], wanted: TestCase["result"]): number {
  return cases.filter(({ result }) => result === wanted).length;
}

export function secondsOf(cases: readonly TestCase[]): string {
  return seconds(cases.reduce((sum, { ms }) => sum + ms, 0));
}

export function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
