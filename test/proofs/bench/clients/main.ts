/**
 * What clients wait for and cost that share the background broker, beside what nobody can do without, in the same run.
 *
 * `npm run bench-clients -- [--quick]`
 * Exit code 0: every goal is met; 1: one is missed; 2: it could not be measured; 130: interrupted.
 */
import { parseArgs } from "node:util";
import { markdownTable } from "../../engine/report.js";
import type { Closers } from "../closers.js";
import { loadNow } from "../measure/machine.js";
import { runBenchmark } from "../run-benchmark.js";
import { brokerKilled, type Finding, manyClients, memory, type Plan, starts } from "./goals.js";
import { called, listed, openHome } from "./home.js";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const plan: Plan = values.quick ? { rounds: 5, calls: 30 } : { rounds: 12, calls: 60 };
/** Before this run adds to it. */
const load = loadNow();

async function measure(closers: Closers): Promise<Finding[]> {
  const home = await openHome(closers);
  const first = await home.client();
  // The catalogue is known from here on.
  await called(first);
  await listed(first);
  await first.close();
  const found = await starts(home, plan);
  const clients = [
    await home.client(),
    await home.client(),
    await home.client(),
    await home.client(),
  ] as const;
  for (const client of clients) closers.add(() => client.close());
  found.push(...(await memory(clients)));
  found.push(...(await manyClients(clients, plan)));
  found.push(await brokerKilled(home, clients, plan));
  return found;
}

function isMet({ value, goal }: Finding): boolean {
  return value.median <= goal;
}

function table(found: readonly Finding[]): string {
  const rows = found.map((finding) => {
    const { what, measured, value, goal, unit } = finding;
    const [middle, lowest, highest] = [value.median, value.lowest, value.highest].map((each) =>
      each.toFixed(unit === "MB" ? 0 : 2),
    );
    const spread = `${middle} ${unit} (${lowest} to ${highest})`;
    return [what, measured, spread, `≤ ${goal} ${unit}`, isMet(finding) ? "met" : "MISSED"];
  });
  return markdownTable(["what", "median", "median of the rounds (lowest to highest)", "goal", ""], rows);
}

await runBenchmark(async (closers) => {
  const found = await measure(closers);
  console.log(`${plan.rounds} rounds, load ${load.toFixed(1)} before\n\n${table(found)}`);
  return found.every(isMet);
});
