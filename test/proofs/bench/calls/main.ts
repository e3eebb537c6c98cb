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
import { called, type Home, listed, openHome } from "../clients/home.js";
import type { Closers } from "../closers.js";
import { startOwnProcess } from "../floors/child-process.js";
import { bareQueueFloor, flushFloor } from "../floors/floors.js";
import { plainBridgeFloor } from "../floors/plain-bridge.js";
import { loadNow } from "../measure/machine.js";
import { LONG, playRounds, QUICK, type Row } from "../measure/rounds.js";
import { runBenchmark } from "../run-benchmark.js";
import { type Finding, findings, isMet, type Spaced, table } from "./findings.js";
import { processorTimes } from "./processor.js";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const plan = values.quick ? QUICK : LONG;
const load = loadNow();
/** As long as an assistant thinks, at the least, ms. */
const THINKS_MS = 700;

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
  const file = new URL("../floors/peer-process.ts", import.meta.url);
  const peer = startOwnProcess<{ port: number }>(file, { address }, process.env);
  processes.guard(peer.pid);
  closers.add(peer.close);
  const { port } = await peer.ready;
  const floors = [await bareQueueFloor(address, 16), flushFloor(folder), await plainBridgeFloor(port)];
  for (const floor of floors) closers.add(floor.close);
  return floors.flatMap(({ rows }) => rows);
}

/** Eight calls at a time on a machine with eight Editors: all to one of them, and each to the next one. */
async function editorRows(closers: Closers): Promise<Row[]> {
  const home = await openHome(closers, { editors: 8 });
  const client = await home.client();
  closers.add(() => client.close());
  for (const editor of home.editors) await called(client, editor);
  let next = 0;
  const each = async (): Promise<void> => {
    next += 1;
    await called(client, home.editors[next % home.editors.length]);
  };
  const one = async (): Promise<void> => void (await called(client, home.editors[0]));
  return [
    { key: "one", title: "eight calls at a time, one Editor of eight", inFlight: 8, call: one },
    { key: "eight", title: "eight calls at a time, eight Editors", inFlight: 8, call: each },
  ];
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
  const floors = await floorRows(closers, folder);
  const rows: Row[] = [
    ...floors,
    ...(await editorRows(closers)),
    { key: "call", title: "a call", inFlight: 1, call },
    { key: "many", title: "16 callers", inFlight: 16, call },
    { key: "crowd", title: "100 callers", inFlight: 100, call },
  ];
  const measured = await playRounds(rows, plan, (round) => {
    if (process.stderr.isTTY) process.stderr.write(`\rround ${round} of ${plan.rounds} `);
  });
  const plain = floors.find(({ key }) => key === "plain");
  const spaced: Spaced[] = [];
  for (let round = 0; round < plan.rounds; round += 1) {
    await after(THINKS_MS);
    const ms = await timeOf(call);
    await after(THINKS_MS);
    spaced.push({ call: ms, plain: await timeOf(async () => plain?.call()) });
  }
  const cost = await costOf(home, call, plan.rounds * 50);
  return findings((key) => measured.get(key) ?? [], { first, spaced, cost, thinksMs: THINKS_MS });
}

async function costOf(home: Home, call: () => Promise<void>, calls: number): Promise<Map<string, number>> {
  const before = processorTimes(home.folders);
  for (let at = 0; at < calls; at += 1) await call();
  const after = processorTimes(home.folders);
  return new Map([...after].map(([part, ms]) => [part, (ms - (before.get(part) ?? 0)) / calls]));
}

await runBenchmark(async (closers) => {
  const found = await measure(closers);
  console.log(`${plan.rounds} rounds, load ${load.toFixed(1)} before\n\n${table(found)}`);
  return found.every(isMet);
});
