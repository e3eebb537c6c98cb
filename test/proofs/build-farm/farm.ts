/**
 * Builds for pools, while Editors crash, leave and come, workers and gateways are killed, and the store loses something once: each
 * build runs at most once, and its caller is told what became of it.
 */
import { type HttpClient, openHttpClient } from "../../harness/processes/process-clients.js";
import { until } from "../../harness/processes/processes.js";
import type { RedisCopy } from "../../harness/redis/redis.js";
import { grouped } from "../engine/grouped.js";
import { allEnded, leakedKeys } from "../engine/judge/leftovers.js";
import { isAway, isFinal } from "../engine/outcomes.js";
import { createRandom, drawnPause, type Random } from "../engine/random.js";
import { markdownTable } from "../engine/report.js";
import { createDrains, type Drains } from "./drains.js";
import { type Farm, type FarmEditor, POOLS, type Pool, startFarm } from "./world.js";

export interface FarmOptions {
  seed: number;
  builds: number;
  /** Between two faults, ms; Infinity: none. */
  faultEveryMs: number;
  say(line: string): void;
}

interface Build {
  /** Names it, to the Editor too. */
  path: string;
  pool: Pool;
  caller: number;
  number: number;
  ended?: "completed" | "unknown";
}

/** A process that dies and is started again. */
type Restartable = { start(): Promise<void> };

const LOSS = "the store loses its last seconds";
const CALLERS = 6;
/** Of each caller at a time. */
const OPEN = 3;
/** Most that one of two Editors which were there all the time may run for each that the other runs. */
const UNEVEN = 1.5;
/** From so many builds on their spread over the Editors says something. */
const MANY = 200;
const END_MS = 60_000;

export async function runFarm(options: FarmOptions): Promise<{ faults: string[]; table: string }> {
  const farm = await startFarm();
  const builds = Array.from({ length: options.builds }, (_, number): Build => {
    // Each takes 0.15 s and some, and no two the same.
    const path = `Simulator/Block For 0.15${String(number).padStart(5, "0")}1 Seconds`;
    return { path, pool: POOLS[number % POOLS.length] as Pool, caller: number % CALLERS, number };
  });
  const random = createRandom(options.seed);
  const drains = createDrains(farm.operator);
  const struck = new Map<string, number>();
  const ending = new AbortController();
  let found: string[];
  try {
    const faulting = fault({ ...farm, drains }, random, options, ending.signal, (what) =>
      struck.set(what, (struck.get(what) ?? 0) + 1),
    );
    const callers = Array.from({ length: CALLERS }, (_, caller) =>
      playCaller(
        farm,
        builds.filter((build) => build.caller === caller),
        createRandom(options.seed + caller + 1),
      ),
    );
    await Promise.all(callers);
    ending.abort();
    await faulting;
    found = [...(await judge(farm, builds, options)), ...drains.faults()];
  } catch (error) {
    found = [(error as Error).message];
  }
  ending.abort();
  if (found.length > 0) console.error(farm.processes.logs());
  const table = report(farm, builds, struck);
  return { faults: [...found, ...(await farm.close())], table };
}

/** One caller: some builds at a time, in order; each is asked for until its outcome is known. */
async function playCaller(farm: Farm, builds: readonly Build[], random: Random): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let build = builds[next++]; build; build = builds[next++]) await ask(farm, build, random);
  };
  await Promise.all(Array.from({ length: OPEN }, work));
}

async function ask(farm: Farm, build: Build, random: Random): Promise<void> {
  const deadline = performance.now() + END_MS;
  let client: HttpClient | undefined;
  let last = "";
  for (;;) {
    if (performance.now() > deadline)
      throw new Error(`${build.path} was not over after ${END_MS / 1000} s: ${last}`);
    try {
      client ??= await openHttpClient(random.pick(farm.gateways).url);
      const call = { MenuItemPath: build.path, editor: `pool:${build.pool}`, timeout: 5 };
      const answer = await client.call("execute-menu-item", call);
      last = JSON.stringify(answer);
      if (answer.status === "completed") build.ended = "completed";
      if (answer.error_code === "OUTCOME_UNKNOWN") build.ended = "unknown";
      if (build.ended) break;
      // The store, or an Editor that may have run it, is away.
      const isLater = [
        "STORE_UNAVAILABLE",
        "NOT_FOUND",
        "EDITORS_NOT_BACK",
        "NO_EDITOR",
        "EDITOR_UNKNOWN",
        "UNKNOWN_TOOL",
      ].includes(answer.error_code ?? "");
      if (isFinal(answer) && !isLater) throw new Error(`${build.path}: ${last}`);
      if (isLater) await drawnPause(200);
    } catch (error) {
      last = (error as Error).message;
      if (!isAway(error) && !/session|404/i.test((error as Error).message)) throw error;
      await client?.close().catch(() => undefined);
      client = undefined;
      await drawnPause(random.between(50, 300));
    }
  }
  await client?.close().catch(() => undefined);
}

/** Strikes until it is told to end; then everything stands again. */
async function fault(
  { editors, workers, gateways, redis, drains }: Farm & { drains: Drains },
  random: Random,
  { faultEveryMs, builds, say }: FarmOptions,
  signal: AbortSignal,
  struck: (what: string) => void,
): Promise<void> {
  if (faultEveryMs === Number.POSITIVE_INFINITY) return;
  const mortal = editors.filter(({ isSteady }) => !isSteady);
  /** Those that come back: nothing strikes them until they have. */
  const returning = new Map<Restartable, Promise<void>>();
  let killed = 0;
  let copy: RedisCopy | undefined;
  const fall = async (
    member: Restartable | undefined,
    how: () => Promise<void>,
    backMs: number,
  ): Promise<void> => {
    if (!member || returning.has(member)) return;
    const back = (async () => {
      await how();
      await drawnPause(backMs);
      await member.start();
      returning.delete(member);
    })();
    returning.set(member, back);
  };
  const strikes: Record<string, () => Promise<void>> = {
    async "Editor is drained, and resumed"() {
      const editor = random.pick(mortal);
      if (!editor.isRunning || returning.has(editor)) return;
      const whileLost = (): undefined => undefined;
      const drained = drains.drain(editor).catch(whileLost);
      const pauseMs = random.between(200, 1_500);
      const back = (async () => {
        await drained;
        await drawnPause(pauseMs);
        await untilDone(() => drains.resume(editor));
        returning.delete(editor);
      })();
      returning.set(editor, back);
    },
    async "Editor crashes"() {
      const editor = random.pick(mortal);
      await fall(editor, editor.crash, random.between(100, 2_000));
    },
    async "Editor leaves, and comes later"() {
      const editor = random.pick(mortal);
      await fall(editor, editor.quit, random.between(1_000, 6_000));
    },
    async "worker is killed"() {
      // In turn: no machine is away more than the others.
      const worker = workers[killed++ % workers.length] as Farm["workers"][number];
      await fall(worker, worker.kill, random.between(0, 1_500));
    },
    async "gateway is killed"() {
      const gateway = random.pick(gateways);
      await fall(gateway, gateway.kill, random.between(0, 1_500));
    },
  };
  // Once, in the middle, the store loses what was written since the fault before.
  const lossAfter = Math.max(2, Math.floor((builds * 150) / 4 / faultEveryMs / 2));
  for (let strike = 1; !signal.aborted; strike += 1) {
    await drawnPause(random.between(0.5 * faultEveryMs, 1.5 * faultEveryMs));
    if (signal.aborted) break;
    const what = strike === lossAfter ? LOSS : random.pick(Object.keys(strikes));
    if (strike === lossAfter - 1) copy = await redis.copy();
    say(what);
    struck(what);
    if (what === LOSS && copy !== undefined) {
      await redis.restore(copy);
      drains.lost();
    } else await strikes[what]?.();
  }
  await Promise.all(returning.values());
  for (const each of [...editors, ...workers, ...gateways]) await each.start();
  // An older copy of the store may have shown one as paused.
  for (const editor of mortal) await untilDone(() => drains.resume(editor));
}

/** The store may be away at first. */
async function untilDone(act: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (attempt === 20) throw error;
      await drawnPause(300);
    }
  }
}

async function judge(farm: Farm, builds: readonly Build[], { faultEveryMs }: FarmOptions): Promise<string[]> {
  const isCalm = faultEveryMs === Number.POSITIVE_INFINITY;
  const began = farm.editors.flatMap((editor) => editor.executions().map((line) => ({ ...line, editor })));
  const ofBuild = grouped(began, ({ what }) => what);
  const found: string[] = [];
  for (const [id, all] of grouped(began, ({ operationId }) => operationId))
    if (all.length > 1) found.push(`${id} began ${all.length} times`);
  for (const { path, pool, ended } of builds) {
    const runs = ofBuild.get(path) ?? [];
    if (runs.length > 1)
      found.push(`${path} began in ${runs.map(({ editor }) => editor.name).join(" and ")}`);
    if (runs.length === 0 && ended === "completed")
      found.push(`${path} is said to have completed, and never began`);
    if (runs.some(({ editor }) => editor.pool !== pool)) found.push(`${path} began outside of its pool`);
    if (isCalm && ended !== "completed") found.push(`${path}: ${ended}`);
  }
  for (const pool of builds.length < MANY ? [] : POOLS) {
    const loads = farm.editors
      .filter((editor) => editor.pool === pool && (isCalm || editor.isSteady))
      .map((editor) => editor.executions().length);
    if (Math.max(...loads) > UNEVEN * Math.min(...loads))
      found.push(`the load in ${pool} is uneven: ${loads.join(", ")}`);
  }
  if (isCalm) found.push(...outOfOrder(builds, began));
  const withLedger = farm.editors.map((editor) => ({ editorId: editor.id(), do: editor.do }));
  await allEnded({ hand: farm.hand, editors: withLedger as never, storeWasLost: !isCalm }).catch(
    (error: Error) => found.push(error.message),
  );
  await until(
    "only what stays is left in the store",
    async () => (await leakedKeys(farm.hand)).length === 0,
    30_000,
  ).catch(async () => found.push(...(await leakedKeys(farm.hand)).map((key) => `leaked key ${key}`)));
  return found;
}

/** A caller's builds for one pool begin in the order in which it asked for them; as many as it has open may be sent in any order. */
function outOfOrder(
  builds: readonly Build[],
  began: readonly { what: string; at: number; editor: FarmEditor }[],
): string[] {
  const at = new Map(began.map(({ what, at: time }) => [what, time]));
  return builds.flatMap((build) => {
    const later = builds.filter(
      ({ caller, pool, number }) =>
        caller === build.caller &&
        pool === build.pool &&
        number > build.number + OPEN * CALLERS * POOLS.length,
    );
    const earlier = later.find(({ path }) => (at.get(path) ?? 0) < (at.get(build.path) ?? 0));
    return earlier ? [`${earlier.path} began before ${build.path} of the same caller`] : [];
  });
}

function report({ editors }: Farm, builds: readonly Build[], struck: ReadonlyMap<string, number>): string {
  const count = (ended: Build["ended"]): number => builds.filter((build) => build.ended === ended).length;
  return [
    markdownTable(
      ["Editor", "faults", "builds begun"],
      editors.map((editor) => [
        editor.name,
        editor.isSteady ? "none" : "crashes, leaves",
        editor.executions().length,
      ]),
    ),
    "",
    `${builds.length} builds: ${count("completed")} completed, ${count("unknown")} with an unknown outcome.`,
    [...struck].map(([what, times]) => `${what}: ${times}`).join("; "),
  ].join("\n");
}
