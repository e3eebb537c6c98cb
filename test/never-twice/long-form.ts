/**
 * The long form: every scenario (or one) with many seeds, and a table at the end.
 *
 * `npm run never-twice -- --seeds 200 [--scenario name] [--from 1] [--worlds 2] [--minutes 25] [--engine dotnet]`
 * After the minutes no further seed is begun; the table says how many were played.
 */
import { parseArgs } from "node:util";
import type { Engine } from "../harness/editor-control.js";
import { startWorld, type World } from "../harness/process-world.js";
import { playScenario, type Scenario } from "./scenario.js";
import { SCENARIOS } from "./scenarios.js";
import type { Tally } from "./stage.js";

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

const engine = values.engine as Engine;

interface Row extends Tally {
  seeds: number;
  failures: number;
}

const chosen = SCENARIOS.filter(({ name }) => name.includes(values.scenario ?? ""));
if (chosen.length === 0) {
  console.error(
    `No scenario is called ${values.scenario}; there are: ${SCENARIOS.map(({ name }) => name).join("; ")}`,
  );
  process.exit(2);
}
const rows = new Map<Scenario, Row>(
  chosen.map((scenario) => [
    scenario,
    { seeds: 0, calls: 0, wishes: 0, executions: 0, joined: 0, replayed: 0, kills: 0, failures: 0 },
  ]),
);
const turns = Array.from({ length: Number(values.seeds) }, (_, index) => Number(values.from) + index).flatMap(
  (seed) => chosen.map((scenario) => ({ scenario, seed })),
);

const startedAt = performance.now();

function isTime(): boolean {
  return performance.now() - startedAt < Number(values.minutes) * 60_000;
}

/** One after another on a world of its own; after a failure the next turn gets a new one. */
async function work(): Promise<void> {
  let world: World | undefined;
  for (let turn = turns.shift(); turn && isTime(); turn = turns.shift()) {
    const { scenario, seed } = turn;
    const row = rows.get(scenario) as Row;
    row.seeds += 1;
    try {
      world ??= await startWorld({ engine });
      const tally = await playScenario(scenario, seed, world);
      for (const name of Object.keys(tally) as (keyof Tally)[]) row[name] += tally[name];
    } catch (error) {
      row.failures += 1;
      console.error((error as Error).message);
      await world?.close().catch((left: Error) => console.error(left.message.split("\n---")[0]));
      world = undefined;
    }
  }
  await world?.close();
}

function table(): string {
  const names = [
    "seeds",
    "calls",
    "wishes",
    "executions",
    "joined",
    "replayed",
    "kills",
    "failures",
  ] as const;
  const total = Object.fromEntries(
    names.map((name) => [name, sum([...rows.values()].map((row) => row[name]))]),
  );
  const line = (first: string, row: Record<string, unknown>): string =>
    `| ${first} | ${names.map((name) => row[name]).join(" | ")} |`;
  return [
    `| scenario | seeds | calls sent | wishes | executions | joined | replayed | kills | failures |`,
    `|---|${"---:|".repeat(names.length)}`,
    ...[...rows].map(([{ name }, row]) => line(name, { ...row })),
    line("all", total),
  ].join("\n");
}

function sum(numbers: number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}

await Promise.all(Array.from({ length: Number(values.worlds) }, work));
console.log(table());
console.log(`\n${Math.round((performance.now() - startedAt) / 1000)} s`);
process.exit([...rows.values()].some(({ failures }) => failures > 0) ? 1 : 0);
