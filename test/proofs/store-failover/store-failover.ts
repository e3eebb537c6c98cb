/**
 * The master of the store dies, or hangs, under a load of calls, and Sentinels put a replica into its place that may lag:
 * each call runs at most once, and what was answered stays answered.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCounterFile } from "../../../src/simulator/ledger/counter-file.js";
import { startControlledEditor } from "../../harness/editor/editor-control.js";
import { environment } from "../../harness/processes/installation.js";
import { createProcesses, until } from "../../harness/processes/processes.js";
import { createRandom, drawnPause, type Random } from "../engine/random.js";
import { type Call, createCaller } from "./caller.js";
import { type Judged, judge } from "./judge.js";
import { type SentinelSite, type Strike, startSentinelSite } from "./site.js";

export interface FailoverOptions {
  seed: number;
  how: Strike;
  calls: number;
  /** The former master does: a Sentinel takes ten seconds to make it a replica. */
  comesBack: boolean;
  say(line: string): void;
}

/** What the next master did not know of what the master knew, and what became of it. */
export interface Lost {
  /** Operations without a record there, by their state at the master. */
  unknown: Map<string, string>;
  /** Operations that it had in an earlier state. */
  older: number;
}

export interface Failover {
  how: Strike;
  /** For how long the replica got nothing before. */
  lagMs: number;
  lost: Lost;
  /** Until a Sentinel named another master. */
  promotedMs: number;
}

const CALLERS = 6;
const EDITORS = 2;
const DOWN_AFTER_MS = 1_000;
const MOST_LAG_MS = 2_500;
/** From the promotion until the former master comes back. */
const AWAY_MS = [0, 4_000] as const;

/** One principal calls for all, so its caps are out of the way. */
const PATIENT = {
  UNITY_BROKER_REPLAY_MINUTES: "600",
  UNITY_BROKER_MAX_RUNNING: "500",
  UNITY_BROKER_MAX_QUEUED: "5000",
  UNITY_BROKER_LEASE_MS: "2000",
  UNITY_BROKER_JOB_LOCK_MS: "2500",
  UNITY_BROKER_LOG_LEVEL: "info",
};

export async function playStoreFailover({ seed, how, calls: count, comesBack, say }: FailoverOptions) {
  const random = createRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), "ujb-store-failover-"));
  const processes = createProcesses();
  const site = await startSentinelSite({ downAfterMs: DOWN_AFTER_MS });
  const faults: string[] = [];
  try {
    const env = environment(folder, { ...PATIENT, REDIS_URL: site.url });
    const editors: Judged["editors"][number][] = [];
    for (let at = 1; at <= EDITORS; at += 1) {
      const own = join(folder, `editor-${at}`);
      const counter = createCounterFile(join(own, "executions.log"));
      const args = ["--project", join(own, `Project${at}`), "--counter-file", counter.file];
      const ledger = ["--ledger-folder", join(own, "ledger")];
      const editor = await startControlledEditor(processes, "typescript", [...args, ...ledger], env);
      editors.push({ ...editor, executions: counter.lines });
    }
    await processes.start("worker", ["worker"], env).line(/^Worker for/);
    const gateway = processes.start("gateway", ["gateway", "--port", "0", "--insecure-local"], env);
    const [, url = ""] = await gateway.line(/^MCP endpoint: (.*)$/);
    await until(
      "every Editor is known",
      async () => (await site.hand.zcard("{ujb}:editors")) === editors.length,
      60_000,
    );
    const calls = Array.from({ length: count }, (_, number): Call => {
      // Each takes 0.08 s and some, and no two the same.
      const path = `Simulator/Block For 0.08${String(number).padStart(5, "0")}1 Seconds`;
      const editor = editors[number % EDITORS]?.editorId ?? "";
      return { path, editor, isAskedFor: random.chance(0.5), logIds: new Set() };
    });
    const callers = Array.from({ length: CALLERS }, (_, at) =>
      createCaller(() => url, createRandom(seed + at + 1)),
    );
    let next = 0;
    const loaded = Promise.all(
      callers.map(async (caller) => {
        for (let call = calls[next++]; call; call = calls[next++]) await caller.ask(call);
      }),
    );
    const failing = failOver(site, { how, comesBack, say }, calls, random);
    const [failover] = await Promise.all([failing, loaded]);
    say("every call is over");
    const readers = [createCaller(() => url, random), createCaller(() => url, random)] as const;
    faults.push(...(await judge({ site, editors, calls, readers, struckAt: failover.struckAt })));
    for (const caller of [...callers, ...readers]) await caller.close();
    const restored = await countFound(site, failover);
    faults.push(...(await processes.close()));
    return { faults, calls, failover, restored, silentMs: longestSilence(calls) };
  } catch (error) {
    console.error(processes.logs());
    throw error;
  } finally {
    await processes.close();
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function failOver(
  site: SentinelSite,
  { how, comesBack, say }: Pick<FailoverOptions, "how" | "comesBack" | "say">,
  calls: readonly Call[],
  random: Random,
): Promise<Failover & { struckAt: number }> {
  const lagMs = random.chance(0.25) ? 0 : Math.round(random.between(300, MOST_LAG_MS));
  const away = random.between(...AWAY_MS);
  const ended = (): Call[] => calls.filter((call) => call.ended !== undefined);
  await until("a quarter of the calls is over", () => ended().length >= calls.length / 4, 60_000);
  if (lagMs > 0) {
    say("the replica falls behind");
    site.fallBehind();
    await drawnPause(lagMs);
  }
  const struckAt = performance.now();
  const { before, after } = await site.strike(how);
  say(`the master ${how}`);
  const unknown = new Map([...before].filter(([logId]) => !after.has(logId)));
  const older = [...before].filter(([logId, state]) => after.has(logId) && after.get(logId) !== state).length;
  await site.promoted();
  const promotedMs = performance.now() - struckAt;
  say("the replica is the master");
  // A master that hangs keeps its connections: nobody may need it to come back.
  const isServed = (): boolean =>
    calls.every(({ endedAt = 0 }) => endedAt > 0) || lastOf(calls) > struckAt + promotedMs;
  await until("a call is answered", isServed, 30_000);
  if (comesBack) {
    await drawnPause(away);
    say("the former master comes back");
    await site.comeBack();
    say("it has become a replica");
  }
  return { how, lagMs, lost: { unknown, older }, promotedMs, struckAt };
}

/** Of those that the next master did not know, those that it knows now: the Editors' ledgers gave them back. */
async function countFound({ hand }: SentinelSite, { lost }: Failover): Promise<number> {
  let found = 0;
  for (const logId of lost.unknown.keys()) found += await hand.exists(`{ujb}:operation:${logId}`);
  return found;
}

const lastOf = (calls: readonly Call[]): number => Math.max(...calls.map(({ endedAt = 0 }) => endedAt));

/** The longest time in which no call was answered. */
function longestSilence(calls: readonly Call[]): number {
  const ends = calls.map(({ endedAt = 0 }) => endedAt).toSorted((a, b) => a - b);
  return Math.max(...ends.slice(1).map((end, at) => end - (ends[at] ?? 0)));
}
