/**
 * The long form: every scenario (or one) with many seeds, and a table at the end.
 *
 * `npm run never-twice -- --seeds 200 [--scenario name] [--from 1] [--worlds 2] [--minutes 25] [--engine dotnet]`
 * After the minutes no further seed is begun; the table says how many were played.
 */
import { parseArgs } from "node:util";
import type { Engine } from "../../harness/editor/editor-control.js";
import { markdownTable } from "../engine/report.js";
import { createWorlds } from "../engine/worlds.js";
import { playScenario } from "./scenarios/scenario.js";
import { SCENARIOS } from "./scenarios/scenarios.js";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    from: { type: "string", default: "1" },
    scenario: { type: "string" },
    worlds: { type: "string", default: "2" },
    minutes: { type: "string", default: "Infinity" },
    engine: { type: "string", default: "typescript" },
  },
});

const chosen = SCENARIOS.filter(({ name }) => name.includes(values.scenario ?? ""));
if (chosen.length === 0) {
  console.error(
    `No scenario is called ${values.scenario}; there are: ${SCENARIOS.map(({ name }) => name).join("; ")}`,
  );
  process.exit(2);
}
const NAMES = ["seeds", "calls", "intents", "executions", "joined", "replayed", "kills", "failures"] as const;
type Row = Record<(typeof NAMES)[number], number>;
const emptyRow = (): Row => Object.fromEntries(NAMES.map((name) => [name, 0])) as Row;
const add = (row: Row, more: Partial<Row>): void => {
  for (const name of NAMES) row[name] += more[name] ?? 0;
};

const rows = new Map(chosen.map((scenario) => [scenario, emptyRow()]));
const turns = Array.from({ length: Number(values.seeds) }, (_, index) => Number(values.from) + index).flatMap(
  (seed) => chosen.map((scenario) => ({ scenario, seed })),
);
const worlds = createWorlds(Number(values.worlds), { engine: values.engine as Engine });
const startedAt = performance.now();
const isTime = (): boolean => performance.now() - startedAt < Number(values.minutes) * 60_000;

async function work(): Promise<void> {
  for (let turn = turns.shift(); turn && isTime(); turn = turns.shift()) {
    const { scenario, seed } = turn;
    const row = rows.get(scenario) as Row;
    try {
      add(row, {
        seeds: 1,
        ...(await worlds.lend((world) => playScenario(scenario, seed, world, { isLong: true }))),
      });
    } catch (error) {
      add(row, { seeds: 1, failures: 1 });
      console.error((error as Error).message);
    }
  }
}

await Promise.all(Array.from({ length: Number(values.worlds) }, work));
await worlds.close();
const total = emptyRow();
for (const row of rows.values()) add(total, row);
const line = (first: string, row: Row) => [first, ...NAMES.map((name) => row[name])];
const head = NAMES.map((name) => (name === "calls" ? "calls sent" : name));
const lines = [...rows].map(([{ name }, row]) => line(name, row));
console.log(markdownTable(["scenario", ...head], [...lines, line("all", total)]));
console.log(`\n${Math.round((performance.now() - startedAt) / 1000)} s`);
process.exit(total.failures > 0 ? 1 : 0);
