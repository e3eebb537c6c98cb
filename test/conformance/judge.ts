/** What is wrong with a run: a failure or a pass that was not expected, or scenarios that did not run. */
import { EXPECTED_FAILURES, type ExpectedFailure } from "./expected-failures.js";
import type { PlayedRun, PlayedScenario } from "./play.js";

function expectedOf(
  { name }: Pick<PlayedScenario, "name">,
  revision: string,
  expected: readonly ExpectedFailure[] = EXPECTED_FAILURES,
): ExpectedFailure | undefined {
  return expected.find(
    (each) => each.scenario === name && (each.revision === undefined || each.revision === revision),
  );
}

/** Empty if all is as it is expected. */
export function faultsOf(
  { run, scenarios }: PlayedRun,
  expected: readonly ExpectedFailure[] = EXPECTED_FAILURES,
): string[] {
  const title = `${run.suite}, ${run.revision}`;
  const faults: string[] = [];
  if (scenarios.length !== run.scenarios)
    faults.push(`${title}: ${scenarios.length} scenarios ran, and not ${run.scenarios}`);
  for (const scenario of scenarios) {
    if (!scenario.isCounted) continue;
    const entry = expectedOf(scenario, run.revision, expected);
    const { name, failures } = scenario;
    if (entry && failures.length === 0)
      faults.push(`${title}: ${name} passes; take it out of expected-failures.ts`);
    for (const { check, message } of failures) {
      if (entry && (entry.checks === undefined || entry.checks.includes(check))) continue;
      faults.push(`${title}: ${name} fails (${check}): ${message}`);
    }
    for (const check of entry?.checks ?? []) {
      if (failures.length > 0 && failures.every((failure) => failure.check !== check))
        faults.push(`${title}: ${check} of ${name} passes; take it out of expected-failures.ts`);
    }
  }
  return faults;
}

/** Entries that no scenario of these runs has: the suite renamed or dropped it. */
export function strayEntries(
  played: readonly PlayedRun[],
  expected: readonly ExpectedFailure[] = EXPECTED_FAILURES,
): string[] {
  return expected
    .filter(({ scenario, revision }) =>
      played.every(
        ({ run, scenarios }) =>
          (revision !== undefined && revision !== run.revision) ||
          !scenarios.some(({ name }) => name === scenario),
      ),
    )
    .map(({ scenario }) => `expected-failures.ts names ${scenario}, which did not run`);
}
