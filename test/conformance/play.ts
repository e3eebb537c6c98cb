/** Runs the suite against a server and reads what it noted. */
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { type ObtainedSuite, obtainSuite } from "./obtain.js";
import type { SuiteRun } from "./suites.js";

const SUITE_LIMIT_MS = 600_000;

const Checks = z.array(
  z.looseObject({
    id: z.string(),
    status: z.enum(["SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO"]),
    errorMessage: z.string().optional(),
  }),
);

export interface Finding {
  check: string;
  message: string;
}

export interface PlayedScenario {
  name: string;
  /** What the specification demands and the server did not do. */
  failures: Finding[];
  /** What it recommends. */
  warnings: Finding[];
  /** The suite plays it beside what the revision requires, and does not count it. */
  isCounted: boolean;
}

export interface PlayedRun {
  run: SuiteRun;
  /** By name. */
  scenarios: PlayedScenario[];
}

/** Rejects if the suite cannot be obtained, or noted nothing. */
export async function playSuite(run: SuiteRun, url: string): Promise<PlayedRun> {
  const suite = await obtainSuite(run.suite);
  const folder = mkdtempSync(join(tmpdir(), "ujb-conformance-"));
  try {
    const said = await runSuite(suite, [...run.options, "--url", url, "--output-dir", folder], folder);
    const uncounted = uncountedIn(suite, run);
    const scenarios = readdirSync(folder)
      .map((noted) => ({ noted, name: scenarioOf(noted) }))
      .filter((each): each is { noted: string; name: string } => each.name !== undefined)
      .map(({ noted, name }) => {
        const checks = Checks.parse(JSON.parse(readFileSync(join(folder, noted, "checks.json"), "utf8")));
        const found = (status: string): Finding[] =>
          checks
            .filter((check) => check.status === status)
            .map(({ id, errorMessage = "" }) => ({ check: id, message: errorMessage }));
        return {
          name,
          failures: found("FAILURE"),
          warnings: found("WARNING"),
          isCounted: !uncounted.has(name),
        };
      })
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    if (scenarios.length === 0) throw new Error(`${run.suite} noted nothing:\n${said}`);
    return { run, scenarios };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Its exit code says nothing here: it is 1 for a failure that is expected. */
function runSuite({ node, file }: ObtainedSuite, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      node,
      [file, "server", ...args],
      { cwd, timeout: SUITE_LIMIT_MS, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error?.killed || typeof error?.code === "string") reject(error);
        else resolve(`${stdout}${stderr}`);
      },
    );
  });
}

/** The folder of a scenario's notes: `server-<scenario>-<time>`. */
function scenarioOf(folder: string): string | undefined {
  return /^server-(.+)-\d{4}-\d\d-\d\dT[\w-]+$/.exec(folder)?.[1];
}

const Requirements = z.object({
  not_scored: z.array(z.object({ scenario: z.string(), leg: z.string() })),
});

/** Extensions and scenarios that the suite's own server does not pass; the older suite counts all. */
function uncountedIn({ requirements }: ObtainedSuite, { options, revision }: SuiteRun): Set<string> {
  if (!options.includes("--requirements")) return new Set();
  const text = readFileSync(join(requirements, `${revision}.yaml`), "utf8");
  const { not_scored: uncounted } = Requirements.parse(parse(text));
  return new Set(uncounted.filter(({ leg }) => leg === "server").map(({ scenario }) => scenario));
}
