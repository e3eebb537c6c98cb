/**
 * Plays one schedule with one seed against the processes of the folder that this file lies in, and prints the verdict
 * as a line of JSON: `tsx test/proofs/mutations/play.ts --schedule name [--seed 1]`
 */
import { parseArgs } from "node:util";
import { SCHEDULES } from "./schedules.js";

const { values } = parseArgs({
  options: {
    schedule: { type: "string", default: "" },
    seed: { type: "string", default: "1" },
  },
});
const chosen = SCHEDULES.find(({ name }) => name === values.schedule);
if (!chosen) throw new Error(`no schedule is called ${values.schedule}`);

const verdict = await chosen.play(Number(values.seed));
console.log(JSON.stringify(verdict));
process.exit(0);
