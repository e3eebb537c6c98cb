/** A stated load on many Editors by many sessions: each call is unique, so what comes in must come out, executed once. */
import { setTimeout as after } from "node:timers/promises";
import { createCounterFile } from "../../../src/simulator/ledger/counter-file.js";
import type { Closers } from "../bench/closers.js";
import { describeMachine, loadNow, type Machine } from "../bench/measure/machine.js";
import { quantile } from "../bench/measure/statistics.js";
import type { Offer, Offered } from "./settings.js";
import { type Held, type LoadedEditor, setStage } from "./stage.js";
import { countRedis, type RedisCounts, type Sample, sample, watch } from "./watch.js";

export interface LoadOptions {
  editors: number;
  sessions: number;
  /** Of all sessions together. */
  perSecond: number;
  seconds: number;
  /** How long what is idle is watched, before the Editors come, with them, and before the load. */
  idleSeconds: number;
}

/** Something idle, over some seconds: what it uses in one. */
export interface Idle {
  redis: RedisCounts;
  memory: Record<string, number>;
  perSecond: { commands: number; scripts: number };
  /** ms in a second, by process. */
  processorMs: Record<string, number>;
}

export interface LoadReport {
  machine: Machine;
  /** Of the last minute of the load, the run's own included. */
  loadAtEnd: number;
  options: LoadOptions;
  counts: {
    sent: number;
    completed: number;
    /** By the Editors' own accounts. */
    executions: number;
    operations: number;
    texts: number;
  };
  wrong: string[];
  /** ms from the moment when a call was due, by the share of the calls that took at most so long. */
  latencies: [share: number, ms: number][];
  /** How late the 99th of 100 calls was sent, ms. */
  lateMs: number;
  /** From the first call that was due to the last answer, s. */
  tookSeconds: number;
  empty: Idle;
  idle: Idle;
  /** With the sessions, before the first call. */
  connected: RedisCounts;
  end: RedisCounts;
  samples: Sample[];
  /** At the beginning of each quarter, and at the end. */
  held: Record<"gateway" | "worker", Held>[];
  /** With the Editors, before the sessions came. */
  heldIdle: Record<"gateway" | "worker", Held>;
  heldEmpty: Record<"gateway" | "worker", Held>;
}

const CLIENT_PROCESSES = 2;
const SHARES = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1];

export async function runLoad(
  closers: Closers,
  options: LoadOptions,
  say: (line: string) => void,
): Promise<LoadReport> {
  const load = loadNow();
  const stage = await setStage(closers);
  const machine = await describeMachine(stage.address, load);
  const idleFor = async (): Promise<Idle> => {
    const [before, from] = [await countRedis(stage.redis), sample(stage.pids)];
    await after(options.idleSeconds * 1_000);
    const [redis, to] = [await countRedis(stage.redis), sample(stage.pids)];
    const seconds = (to.at - from.at) / 1_000;
    const inOne = (now: number, then = 0): number => (now - then) / seconds;
    return {
      redis,
      memory: to.memory,
      perSecond: {
        commands: inOne(redis.commands, before.commands),
        scripts: inOne(redis.scripts, before.scripts),
      },
      processorMs: Object.fromEntries(
        Object.entries(to.processorMs).map(([name, ms]) => [name, inOne(ms, from.processorMs[name])]),
      ),
    };
  };

  say(`worker and gateway, no Editor: ${options.idleSeconds} s`);
  const empty = await idleFor();
  const heldEmpty = await stage.collect();
  const editors = await stage.startEditors(options.editors);
  say(`${editors.length} Editors, idle: ${options.idleSeconds} s, and as long before`);
  await after(options.idleSeconds * 1_000);
  const idle = await idleFor();
  const heldIdle = await stage.collect();
  const sessions = await stage.startSessions(options.sessions, CLIENT_PROCESSES);
  const connected = await countRedis(stage.redis);
  say(`${options.sessions} sessions; ${options.perSecond} calls a second for ${options.seconds} s`);
  const stop = watch(stage.pids, 1_000);
  const offer: Offer = {
    editors: editors.map(({ editorId }) => editorId),
    perSecond: options.perSecond / CLIENT_PROCESSES,
    seconds: options.seconds,
  };
  const held: LoadReport["held"] = [];
  const collectEachQuarter = async (): Promise<void> => {
    const from = performance.now();
    for (let quarter = 0; quarter < 4; quarter += 1) {
      held.push(await stage.collect());
      await after(Math.max(0, from + ((quarter + 1) * options.seconds * 1_000) / 4 - performance.now()));
    }
  };
  const collecting = collectEachQuarter();
  const offered = await Promise.all(sessions.map((each) => each.ask<Offered>(offer)));
  await collecting;
  const samples = stop();
  held.push(await stage.collect());
  const end = await countRedis(stage.redis);
  const calls = offered.flatMap((each) => each.calls);
  const took = calls.map(([, ms]) => ms);
  return {
    ...{ machine, options, empty, idle, connected, end, samples, held, heldEmpty, heldIdle },
    loadAtEnd: loadNow(),
    counts: {
      sent: sum(offered.map(({ sent }) => sent)),
      completed: sum(offered.map(({ completed }) => completed)),
      ...executionsOf(editors),
    },
    wrong: offered.flatMap(({ wrong }) => wrong),
    latencies: SHARES.map((share) => [share, quantile(took, share)]),
    lateMs: quantile(
      offered.flatMap((each) => each.lateMs),
      0.99,
    ),
    tookSeconds: Math.max(...calls.map(([due, ms]) => due + ms)) / 1_000,
  };
}

function executionsOf(
  editors: readonly LoadedEditor[],
): Pick<LoadReport["counts"], "executions" | "operations" | "texts"> {
  const lines = editors.flatMap(({ counterFile }) => createCounterFile(counterFile).lines());
  return {
    executions: lines.length,
    operations: new Set(lines.map(({ operationId }) => operationId)).size,
    texts: new Set(lines.map(({ what }) => what)).size,
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
