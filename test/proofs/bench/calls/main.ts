/**
 * What a call takes as an assistant makes it: over `unity-broker mcp`, by the broker in the background, which owns the Editor;
 * beside what nobody can do without, in the same rounds.
 *
 * `npm run bench-calls -- [--quick]`
 * Exit code 0: every goal is met; 1: one is missed; 2: it could not be measured; 130: interrupted.
 */
import { setTimeout as after } from "node:timers/promises";
import { parseArgs } from "node:util";
import { defaultDirectories } from "../../../../src/embedded-redis/directories.js";
import { ensureEmbeddedRedis } from "../../../../src/embedded-redis/embedded-redis.js";
import { createProcesses } from "../../../harness/processes/processes.js";
import { createDataDirectory } from "../../../harness/redis/redis.js";
import { markdownTable } from "../../engine/report.js";
import { called, type Home, listed, openHome } from "../clients/home.js";
import type { Closers } from "../closers.js";
import { startOwnProcess } from "../floors/child-process.js";
import { bareQueueFloor, flushFloor } from "../floors/floors.js";
import { loadNow } from "../measure/machine.js";
import { LONG, playRounds, QUICK, type Row } from "../measure/rounds.js";
import { type Block, median, quantile } from "../measure/statistics.js";
import { runBenchmark } from "../run-benchmark.js";
import { processorTimes } from "./processor.js";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const plan = values.quick ? QUICK : LONG;
const load = loadNow();
/** As long as an assistant thinks, at the least, ms. */
const THINKS_MS = 700;

interface Finding {
  what: string;
  measured: string;
  value: number;
  unit: "×" | "ms";
  goal: number;
  isLeast?: true;
}

/** On a Redis of their own, as it is installed. */
async function floorRows(closers: Closers, folder: string): Promise<Row[]> {
  const data = createDataDirectory();
  closers.add(() => data.remove());
  const { cacheDir } = defaultDirectories(process.env);
  const { address } = await ensureEmbeddedRedis({
    dataDir: data.dataDir,
    cacheDir,
    env: process.env,
    say: console.error,
  });
  const processes = createProcesses();
  closers.add(() => processes.close());
  const peer = startOwnProcess(
    new URL("../floors/peer-process.ts", import.meta.url),
    { address },
    process.env,
  );
  processes.guard(peer.pid);
  closers.add(peer.close);
  await peer.ready;
  const floors = [await bareQueueFloor(address, 16), flushFloor(folder)];
  for (const floor of floors) closers.add(floor.close);
  return floors.flatMap(({ rows }) => rows);
}

/** ms: the first call of a broker that was just started, and knows its Editor. */
async function firstCalls(home: Home, rounds: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await home.endBroker();
    const client = await home.client();
    await listed(client);
    await after(THINKS_MS);
    times.push(await timeOf(() => called(client)));
    await client.close();
  }
  return times;
}

async function timeOf(act: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await act();
  return performance.now() - begun;
}

async function measure(closers: Closers): Promise<Finding[]> {
  const home = await openHome(closers);
  const [folder = ""] = home.folders;
  const begun = await home.client();
  await called(begun);
  await begun.close();
  const first = await firstCalls(home, plan.rounds / 2);
  const client = await home.client();
  closers.add(() => client.close());
  const call = async (): Promise<void> => void (await called(client));
  const rows: Row[] = [
    ...(await floorRows(closers, folder)),
    {
      key: "no-op",
      title: "no-op",
      inFlight: 1,
      call: () => client.call("get_operation_status", { log_id: "none" }),
    },
    { key: "call", title: "a call", inFlight: 1, call },
    { key: "many", title: "16 callers", inFlight: 16, call },
    { key: "crowd", title: "100 callers", inFlight: 100, call },
  ];
  const measured = await playRounds(rows, plan, (round) => {
    if (process.stderr.isTTY) process.stderr.write(`\rround ${round} of ${plan.rounds} `);
  });
  const spaced: number[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    await after(THINKS_MS);
    spaced.push(await timeOf(call));
  }
  const cost = await costOf(home, call, plan.rounds * 50);
  return findings((key) => measured.get(key) ?? [], { first, spaced, cost });
}

async function costOf(home: Home, call: () => Promise<void>, calls: number): Promise<Map<string, number>> {
  const before = processorTimes(home.folders);
  for (let at = 0; at < calls; at += 1) await call();
  const after = processorTimes(home.folders);
  return new Map([...after].map(([part, ms]) => [part, (ms - (before.get(part) ?? 0)) / calls]));
}

function findings(
  blocksOf: (key: string) => readonly Block[],
  { first, spaced, cost }: { first: number[]; spaced: number[]; cost: Map<string, number> },
): Finding[] {
  const p50 = (key: string, round: number): number => median(blocksOf(key)[round]?.latencies ?? []) / 1_000;
  const all = (key: string, share: number): number =>
    quantile(
      blocksOf(key).flatMap(({ latencies }) => latencies),
      share,
    ) / 1_000;
  const rate = (key: string, round: number): number => blocksOf(key)[round]?.perSecond ?? Number.NaN;
  const ofRounds = (of: (round: number) => number): number =>
    median(blocksOf("call").map((_block, round) => of(round)));
  const total = [...cost.values()].reduce((sum, ms) => sum + ms, 0);
  const parts = [...cost].map(([part, ms]) => `${part} ${ms.toFixed(1)}`).join(", ");
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  const perSecond = (key: string): string => `${Math.round(ofRounds((round) => rate(key, round)))} a second`;
  return [
    {
      what: "a call, to bare BullMQ + two flushes + the pipe's no-op",
      measured: `p50 ${ms(all("call", 0.5))}, p99 ${ms(all("call", 0.99))}`,
      value: ofRounds((at) => p50("call", at) / (p50("bare", at) + 2 * p50("flush", at) + p50("no-op", at))),
      unit: "×",
      goal: 2.2,
    },
    {
      what: `the same after ${THINKS_MS} ms of silence, to a call`,
      measured: ms(median(spaced)),
      value: median(spaced) / all("call", 0.5),
      unit: "×",
      goal: 2.5,
    },
    {
      what: "the first call of a started broker",
      measured: ms(median(first)),
      value: median(first),
      unit: "ms",
      goal: 20,
    },
    { what: "processor time of a call", measured: parts, value: total, unit: "ms", goal: 2.2 },
    ...(["many", "crowd"] as const).map(
      (key): Finding => ({
        what: `${key === "many" ? 16 : 100} callers with distinct calls, to bare BullMQ one at a time`,
        measured: `${perSecond(key)}, bare ${perSecond("bare")}`,
        value: ofRounds((at) => rate(key, at) / rate("bare", at)),
        unit: "×",
        goal: 0.3,
        isLeast: true,
      }),
    ),
  ];
}

const isMet = ({ value, goal, isLeast }: Finding): boolean => (isLeast ? value >= goal : value <= goal);

function table(found: readonly Finding[]): string {
  const rows = found.map((finding) => {
    const { what, measured, value, unit, goal, isLeast } = finding;
    const verdict = isMet(finding) ? "met" : "MISSED";
    return [what, measured, `${value.toFixed(2)} ${unit}`, `${isLeast ? "≥" : "≤"} ${goal} ${unit}`, verdict];
  });
  return markdownTable(["what", "measured", "median of the rounds", "goal", ""], rows);
}

await runBenchmark(async (closers) => {
  const found = await measure(closers);
  console.log(`${plan.rounds} rounds, load ${load.toFixed(1)} before\n\n${table(found)}`);
  return found.every(isMet);
});
