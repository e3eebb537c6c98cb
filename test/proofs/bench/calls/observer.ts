/** What the blocks of rows change beside the clock: executions, scripts that Redis runs, processor time. */
import { Redis } from "ioredis";
import { callsBegun, type Home } from "../clients/home.js";
import type { Closers } from "../closers.js";
import type { Observe } from "../measure/rounds.js";
import { processorTimes } from "./processor.js";

/** Calls that change something, and how often the Editors of all homes began them. */
export interface RowCount {
  row: string;
  calls: number;
  executions: number;
}

export interface Observer {
  observe: Observe;
  /** Of the rows that make such calls, warm-up included. */
  counts(): RowCount[];
  /** Of the row "call", by part: processor time of a call, ms. */
  processorTime(): Map<string, number>;
  /** Of the row "call": scripts that Redis ran, by calls made meanwhile; leases and heartbeats are among them. */
  scriptsOfCall(): number;
}

const OBSERVED = "call";

/** `home`: where the row "call" is played. */
export async function createObserver(
  closers: Closers,
  home: Home,
  homes: readonly Home[],
): Promise<Observer> {
  const redis = new Redis(await home.redis());
  // Its server is ended before it.
  redis.on("error", () => undefined);
  closers.add(() => redis.disconnect());
  const counts = new Map<string, RowCount>();
  const times = new Map<string, number>();
  let observedCalls = 0;
  let scripts = 0;
  const executions = (): number => homes.reduce((sum, each) => sum + each.executions(), 0);

  const observeCall = async <T>(act: () => Promise<T>): Promise<T> => {
    const begun = callsBegun();
    const scriptsBefore = await scriptsRun(redis);
    const before = processorTimes(home.folders);
    const played = await act();
    for (const [part, ms] of processorTimes(home.folders))
      times.set(part, (times.get(part) ?? 0) + ms - (before.get(part) ?? 0));
    scripts += (await scriptsRun(redis)) - scriptsBefore;
    observedCalls += callsBegun() - begun;
    return played;
  };

  return {
    async observe({ key }, round, play) {
      const before = { calls: callsBegun(), executions: executions() };
      const block = await (key === OBSERVED && round > 0 ? observeCall(play) : play());
      const calls = callsBegun() - before.calls;
      const count = counts.get(key) ?? { row: key, calls: 0, executions: 0 };
      counts.set(key, {
        row: key,
        calls: count.calls + calls,
        executions: count.executions + executions() - before.executions,
      });
      return block;
    },
    counts: () => [...counts.values()].filter((count) => count.calls + count.executions > 0),
    processorTime: () => new Map([...times].map(([part, ms]) => [part, ms / observedCalls])),
    scriptsOfCall: () => scripts / observedCalls,
  };
}

/** Since the server's start. */
async function scriptsRun(redis: Redis): Promise<number> {
  const told = await redis.info("commandstats");
  const runs = [...told.matchAll(/^cmdstat_(?:evalsha|eval|fcall):calls=(\d+)/gm)];
  return runs.reduce((sum, [, calls]) => sum + Number(calls), 0);
}
