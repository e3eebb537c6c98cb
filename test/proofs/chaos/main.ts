/**
 * `npm run chaos -- --operations 2000 --seconds 600 [--seed 7] [--editor simulator|host] [--without ledger,flush]
 * [--callers 24] [--fault-ms 1500] [--rounds 4] [--logs file]`; docs/proofs/chaos.md says what is drawn and checked.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { freshSeed } from "../engine/random.js";
import { runChaos } from "./chaos.js";
import { GROUPS, type Group } from "./faults/fault.js";

const { values } = parseArgs({
  options: {
    operations: { type: "string", default: "500" },
    seconds: { type: "string", default: "120" },
    seed: { type: "string" },
    editor: { type: "string", default: "simulator" },
    without: { type: "string", default: "" },
    callers: { type: "string", default: "24" },
    "fault-ms": { type: "string", default: "1500" },
    rounds: { type: "string" },
    logs: { type: "string" },
  },
});

const seed = values.seed === undefined ? freshSeed() : Number(values.seed);
const without = values.without.split(",").filter((name): name is Group => GROUPS.includes(name as Group));
const startedAt = performance.now();
const command = `npm run chaos -- --operations ${values.operations} --seconds ${values.seconds} --seed ${seed} --editor ${values.editor} --callers ${values.callers} --fault-ms ${values["fault-ms"]}${values.without === "" ? "" : ` --without ${values.without}`}${values.rounds === undefined ? "" : ` --rounds ${values.rounds}`}`;
console.log(command);

const { stories, table, logs } = await runChaos({
  seed,
  without,
  operations: Number(values.operations),
  seconds: Number(values.seconds),
  engine: values.editor === "host" ? "dotnet" : "typescript",
  callers: Number(values.callers),
  faultEveryMs: Number(values["fault-ms"]),
  ...(values.rounds === undefined ? {} : { rounds: Number(values.rounds) }),
  say: (line) => console.log(line),
});
console.log(`\n${table}\n\n${Math.round((performance.now() - startedAt) / 1000)} s`);
if (stories.length > 0) console.log(`\nAgain: ${command}`);
if (values.logs !== undefined) writeFileSync(values.logs, logs);
process.exit(stories.length > 0 ? 1 : 0);
