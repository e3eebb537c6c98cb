/**
 * The sweep: every rule is taken out once, and the schedule aimed at it must go red, by its judge, and be green without.
 *
 * `npm run mutations -- [--only text] [--jobs 2]`: parts of patches' names, by commas. Prints the table of docs/proofs/mutations.md.
 */
import { parseArgs } from "node:util";
import { markdownTable } from "../engine/report.js";
import { wordsOf } from "./copy.js";
import { aimOf, MUTATIONS, type Mutation } from "./mutations.js";
import { GOAL_SECONDS, type Played, playWith, type Trial, tryMutation } from "./trial.js";

const { values } = parseArgs({
  options: { only: { type: "string", default: "" }, jobs: { type: "string", default: "2" } },
});

const wanted = values.only.split(",");
const chosen = MUTATIONS.filter(({ patch }) => wanted.some((part) => patch.includes(part)));
if (chosen.length === 0) {
  console.error(
    `No patch is called ${values.only}; there are: ${MUTATIONS.map(({ patch }) => patch).join(", ")}`,
  );
  process.exit(2);
}
/** A schedule that several rules share is played without them once. */
const greens = new Map<string, Promise<Played>>();
const known = (beneath: readonly string[], play: Mutation): Promise<Played> => {
  const key = JSON.stringify([beneath, play.aim, play.seeds]);
  const green = greens.get(key) ?? playWith(beneath, play);
  greens.set(key, green);
  return green;
};

const rows = new Map<Mutation, Trial>();
const turns = [...chosen];
const startedAt = performance.now();

async function work(): Promise<void> {
  for (let turn = turns.shift(); turn; turn = turns.shift()) {
    const trial = await tryMutation(turn, (beneath) => known(beneath, turn as Mutation));
    rows.set(turn, trial);
    console.error(
      `${turn.patch}: ${trial.fault ?? trial.broken.verdict?.text} (${trial.broken.seconds.toFixed(1)} s)`,
    );
  }
}
await Promise.all(Array.from({ length: Number(values.jobs) }, work));

const lines = chosen.map((mutation) => {
  const { broken, whole } = rows.get(mutation) as Trial;
  const [words = ""] = wordsOf(mutation.patch).split("\n");
  return [
    ...[words, mutation.patch.replace(".patch", ""), aimOf(mutation), broken.verdict?.judge ?? "none"],
    ...[broken.verdict?.text ?? "no verdict", whole.verdict?.text ?? "no verdict"],
    Math.round(broken.seconds),
  ];
});
const head = ["rule taken out", "patch", "schedule or test", "judge", "with the patch", "without", "s"];
console.log(markdownTable(head, lines));
const faults = [...rows.values()].flatMap(({ fault }) => fault ?? []);
const slow = [...rows].filter(([, { broken }]) => broken.seconds > GOAL_SECONDS);
console.log(
  `\n${rows.size} mutations, ${faults.length} faults, ${Math.round((performance.now() - startedAt) / 1000)} s`,
);
for (const [{ patch }, { broken }] of slow) console.log(`${patch} took ${broken.seconds.toFixed(0)} s`);
for (const fault of faults) console.error(`\n${fault}`);
process.exit(faults.length > 0 ? 1 : 0);
