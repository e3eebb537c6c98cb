/**
 * `npm run proofs [-- --only <part of a name>]`: every proof in its long form, one after the other.
 * Each writes when it last ran, and how it ended, into docs/proofs/README.md. Exit code 1: one of them failed.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { DOCUMENT, type Run, readRuns, writeRuns } from "./proof-runs.js";
import { PROOFS } from "./proofs.js";

const { values } = parseArgs({ options: { only: { type: "string", default: "" } } });
const chosen = PROOFS.filter(({ name }) => name.includes(values.only));
if (chosen.length === 0) {
  console.error(`No proof is called ${values.only}; there are: ${PROOFS.map(({ name }) => name).join("; ")}`);
  process.exit(2);
}
const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();

console.log(
  `${chosen.length} of ${PROOFS.length} proofs (all take about two hours); each that ends writes its row into docs/proofs/README.md.`,
);

let failed = 0;
for (const { name, command } of chosen) {
  console.log(`\n== ${name}: ${command}`);
  const startedAt = performance.now();
  const { status, signal } = spawnSync(command, { shell: true, stdio: "inherit" });
  if (signal !== null) {
    console.error(`${name} was ended by ${signal}: nothing is written of it, and the others are not played.`);
    process.exit(1);
  }
  if (status !== 0) failed += 1;
  const run: Run = {
    date: new Date().toISOString().slice(0, 10),
    commit,
    result: status === 0 ? "clean" : `FAILED (exit code ${status})`,
    minutes: (performance.now() - startedAt) / 60_000,
  };
  const document = readFileSync(DOCUMENT, "utf8");
  writeFileSync(DOCUMENT, writeRuns(document, { ...readRuns(document), [name]: run }));
}
console.log(
  `\n${chosen.length - failed} of ${chosen.length} proofs are clean; docs/proofs/README.md says so.`,
);
process.exit(failed === 0 ? 0 : 1);
