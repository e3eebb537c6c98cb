/**
 * The model check in its long form: every scenario with all rules on, and with each rule off that it is aimed at.
 *
 * `npm run model -- [--scenario <part of a name>] [--off <switch>] [--short] [--most <states>]`
 * `--off` (or a violation) tells the story, one line a step. Exit code 1: a violation, or a switch that found none.
 */
import { parseArgs } from "node:util";
import { type Exploration, explore } from "./explore.js";
import type { Scenario } from "./scenario.js";
import { KNOWN, longForm, SCENARIOS } from "./scenarios.js";
import { SWITCHES, type SwitchName } from "./switches.js";

const { values } = parseArgs({
  options: {
    scenario: { type: "string", default: "" },
    off: { type: "string" },
    short: { type: "boolean", default: false },
    // A Map holds 2^24 keys; a scenario with more states is marked with a "+".
    most: { type: "string", default: "16000000" },
  },
});

const chosen = (all: readonly Scenario[]): Scenario[] =>
  all.filter(({ name }) => name.includes(values.scenario)).map((one) => (values.short ? one : longForm(one)));

const seconds = (ms: number): string => (ms / 1000).toFixed(1);
let isAsExpected = true;

function tell({ violation }: Exploration): void {
  if (!violation) return;
  for (const [at, says] of violation.story.entries()) console.log(`   ${at + 1}. ${says}`);
  console.log(`   => ${violation.fault}\n`);
}

function exploreWith(scenario: Scenario, off: SwitchName | null): Exploration {
  const found = explore(scenario, { off }, Number(values.most));
  if (process.stderr.isTTY) process.stderr.write(".");
  return found;
}

const total = { states: 0, transitions: 0, cpuMs: 0 };
if (values.off === undefined) {
  console.log("| scenario | states | transitions | s (CPU) | violations |\n|---|---:|---:|---:|---:|");
  for (const scenario of chosen(SCENARIOS)) {
    const found = exploreWith(scenario, null);
    const { states, transitions, cpuMs, isComplete, violation } = found;
    const count = `${states}${isComplete ? "" : "+"}`;
    console.log(
      `| ${scenario.name} | ${count} | ${transitions} | ${seconds(cpuMs)} | ${violation ? 1 : 0} |`,
    );
    total.states += states;
    total.transitions += transitions;
    total.cpuMs += cpuMs;
    if (violation) isAsExpected = false;
    tell(found);
  }
  console.log(`| all | ${total.states} | ${total.transitions} | ${seconds(total.cpuMs)} | |`);
  console.log("\n| known | found after states | steps | violation |\n|---|---:|---:|---|");
  for (const scenario of chosen(KNOWN)) {
    const { states, violation } = exploreWith(scenario, null);
    console.log(
      `| ${scenario.name} | ${states} | ${violation?.story.length ?? ""} | ${violation?.fault ?? "none"} |`,
    );
  }
}

console.log(
  "\n| schedule | rule off | scenario | found after states | steps | violation |\n|---|---|---|---:|---:|---|",
);
for (const short of SCENARIOS.filter(({ name }) => name.includes(values.scenario))) {
  for (const off of short.aimedAt) {
    if (values.off !== undefined && values.off !== off) continue;
    const found = exploreWith(short, off);
    const { schedule, rule } = SWITCHES[off];
    const { states, violation } = found;
    const end = `${states} | ${violation?.story.length ?? ""} | ${violation?.fault ?? "none"}`;
    console.log(`| ${schedule} | ${rule} (${off}) | ${short.name} | ${end} |`);
    if (!violation) isAsExpected = false;
    if (values.off !== undefined) tell(found);
  }
}
process.exit(isAsExpected ? 0 : 1);
