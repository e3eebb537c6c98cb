/**
 * `npm run conformance -- [--url http://…/mcp]`: the official conformance suite against the broker; docs/proofs/conformance.md says
 * how, and gets its tables. Exit code 1: a failure or a pass that was not expected. `--url`: against a server that runs already, and
 * nothing is written.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { faultsOf, strayEntries } from "./judge.js";
import { PAGE, writeExpected, writeScenarios } from "./page.js";
import { type PlayedRun, playSuite } from "./play.js";
import { RUNS } from "./suites.js";
import { startConformanceWorld } from "./world.js";

const { values } = parseArgs({ options: { url: { type: "string" } } });
const world =
  values.url === undefined
    ? await startConformanceWorld()
    : { url: values.url, close: async () => undefined };
const played: PlayedRun[] = [];
try {
  for (const run of RUNS) played.push(await playSuite(run, world.url));
} finally {
  await world.close();
}
for (const { run, scenarios } of played) {
  const passed = scenarios.filter(({ failures }) => failures.length === 0).length;
  console.log(`${run.revision} by ${run.suite}: ${passed} of ${scenarios.length} scenarios pass.`);
}
const faults = [...played.flatMap((each) => faultsOf(each)), ...strayEntries(played)];
for (const fault of faults) console.error(`FAULT ${fault}`);
if (values.url === undefined)
  writeFileSync(PAGE, writeScenarios(writeExpected(readFileSync(PAGE, "utf8")), played));
process.exit(faults.length > 0 ? 1 : 0);
