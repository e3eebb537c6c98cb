/** What is run: the official conformance suite in two versions, and the specification's revisions that each one plays. */

export interface SuiteRun {
  /** Of the npm package @modelcontextprotocol/conformance. */
  suite: string;
  revision: string;
  /** What chooses the scenarios of this revision. */
  options: readonly string[];
  /** How many that are; another number fails the run. */
  scenarios: number;
}

const SUITE_OF_RELEASES = "0.1.16";
const SUITE_OF_2026 = "0.2.0-alpha.12";

export const RELEASED: SuiteRun = {
  suite: SUITE_OF_RELEASES,
  revision: "2025-11-25",
  options: ["--suite", "all", "--spec-version", "2025-11-25"],
  scenarios: 32,
};

/** Its own list of what a revision requires, and what it plays beside that without counting it. */
const required = (revision: string, scenarios: number): SuiteRun => ({
  suite: SUITE_OF_2026,
  revision,
  options: ["--requirements", revision],
  scenarios,
});

export const RUNS: readonly SuiteRun[] = [RELEASED, required("2025-11-25", 33), required("2026-07-28", 50)];
