/** What one more client costs, and what a death costs the others: each measured beside its floor in the same round. */
import { setTimeout as after } from "node:timers/promises";
import type { StdioClient } from "../../../harness/processes/process-clients.js";
import { median, quantile, type Spread, spreadOf } from "../measure/statistics.js";
import { bareNode, called, type Home, listed } from "./home.js";
import { memoryOf } from "./memory.js";

export interface Finding {
  what: string;
  measured: string;
  /** What is compared with the goal. */
  value: Spread;
  goal: number;
  unit: "×" | "MB" | "s";
}

export interface Plan {
  rounds: number;
  /** Calls of each client in a round. */
  calls: number;
}

const ms = (value: number): string => `${Math.round(value)} ms`;

type Ready = (home: Home) => Promise<void>;

/** The catalogue is known to the store; `ready` makes what should run run. */
const STARTS: readonly { what: string; goal: number; ready: Ready }[] = [
  {
    what: "`mcp` start → `tools/list`, the broker runs",
    goal: 4,
    ready: async (home) => void (await home.broker()),
  },
  {
    what: "`mcp` start → `tools/list`, only its private Redis runs",
    goal: 11,
    ready: (home) => home.endBroker(),
  },
  { what: "`mcp` start → `tools/list`, nothing runs", goal: 11, ready: (home) => home.down() },
];

async function startOf(home: Home): Promise<number> {
  const begun = performance.now();
  const client = await home.client();
  await listed(client);
  const took = performance.now() - begun;
  await client.close();
  return took;
}

export async function starts(home: Home, { rounds }: Plan): Promise<Finding[]> {
  const floors: number[] = [];
  const times = STARTS.map((): number[] => []);
  const ratios = STARTS.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, { ready }] of STARTS.entries()) {
      await ready(home);
      // On both sides of it: what disturbs the machine rises and falls.
      const before = await bareNode();
      const took = await startOf(home);
      const floor = (before + (await bareNode())) / 2;
      floors.push(floor);
      times[at]?.push(took);
      ratios[at]?.push(took / floor);
    }
    await startOf(home);
  }
  return STARTS.map(({ what, goal }, at) => ({
    ...{ what, goal },
    measured: `${ms(median(times[at] ?? []))} / ${ms(median(floors))}`,
    value: spreadOf(ratios[at] ?? []),
    unit: "×",
  }));
}

/** Of idle clients that have listed and called. Empty where the system does not tell. */
export async function memory(clients: readonly StdioClient[]): Promise<Finding[]> {
  for (const client of clients) {
    await listed(client);
    await called(client);
  }
  const all = clients.flatMap(({ process }) => memoryOf(process.pid) ?? []);
  if (all.length === 0) return [];
  const middle = (of: number[]): number => Math.round(median(of));
  const measured = [
    `proportional ${middle(all.map(({ proportional }) => proportional))} MB`,
    `own ${middle(all.map(({ own }) => own))} MB`,
    `resident ${middle(all.map(({ resident }) => resident))} MB`,
  ].join(", ");
  const value = spreadOf(all.map(({ proportional }) => proportional));
  return [{ what: "memory of one more client", measured, value, goal: 50, unit: "MB" }];
}

/** While the other clients' calls are open: each is answered, and executed once. Rejects if one is not. */
export async function brokerKilled(
  home: Home,
  [first, ...others]: readonly [StdioClient, ...StdioClient[]],
  { rounds }: Plan,
): Promise<Finding> {
  const times: number[] = [];
  const before = home.executions();
  for (let round = 0; round < rounds; round += 1) {
    // The Editor has an owner, and all are in the middle of their work.
    await called(first);
    const open = others.map((client) => called(client));
    await home.killBroker();
    times.push(await called(first));
    await Promise.all(open);
  }
  const executed = home.executions() - before;
  const sent = rounds * (2 + others.length);
  if (executed !== sent) throw new Error(`${sent} calls were sent, and ${executed} executed`);
  return {
    what: "next call after the broker was killed",
    measured: `${sent} calls, ${executed} executions`,
    value: spreadOf(times.map((time) => time / 1_000)),
    goal: 2,
    unit: "s",
  };
}

/** `pauseMs`: up to twice as long between two calls of one client, as long on average. */
async function block(clients: readonly StdioClient[], calls: number, pauseMs: number): Promise<number[]> {
  const all = await Promise.all(
    clients.map(async (client) => {
      const times: number[] = [];
      for (let call = 0; call < calls; call += 1) {
        if (pauseMs > 0) await after(2 * pauseMs * Math.random());
        times.push(await called(client));
      }
      return times;
    }),
  );
  return all.flat();
}

/** With pauses as agents make them, and with none: then each call waits for one of each other client. */
const PACES = [
  { pace: "pauses of 100 ms", pauseMs: 100 },
  { pace: "each call sent at the answer to the last", pauseMs: 0 },
];

export async function manyClients(
  clients: readonly [StdioClient, ...StdioClient[]],
  { rounds, calls }: Plan,
): Promise<Finding[]> {
  const paces = PACES.map((pace) => ({
    ...pace,
    ...{ alone: [] as number[], together: [] as number[], ratios: [] as number[] },
  }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { pauseMs, alone, together, ratios } of paces) {
      const one = await block([clients[0]], calls, pauseMs);
      const all = await block(clients, calls, pauseMs);
      alone.push(...one);
      together.push(...all);
      ratios.push(quantile(all, 0.99) / quantile(one, 0.99));
    }
  }
  return paces.map(({ pace, alone, together, ratios }) => {
    const [p50, p50Alone] = [together, alone].map((times) => Math.round(median(times)));
    return {
      what: `p99 of ${clients.length} clients on one Editor beside one client's, ${pace}`,
      measured: `${ms(quantile(together, 0.99))} / ${ms(quantile(alone, 0.99))} (p50 ${p50} / ${p50Alone} ms)`,
      value: spreadOf(ratios),
      goal: 2,
      unit: "×",
    };
  });
}
