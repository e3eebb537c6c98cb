/** Interleaved rounds: what disturbs the machine for a while disturbs a row and its floor alike. */
import type { Block } from "./statistics.js";

/** One thing that is measured. */
export interface Row {
  readonly key: string;
  readonly title: string;
  /** How many calls are under way at a time. */
  readonly inFlight: number;
  /** One call, from its begin to its answer; rejects when the answer is not the expected one. `caller`: below `inFlight`. */
  call(caller: number): unknown;
  /** Before each call; not measured. */
  prepare?(): Promise<unknown>;
  /** Before each block; what it resolves to is called after the block. Neither is measured. */
  begin?(): Promise<() => Promise<unknown>>;
  /** How many calls a block has, where the time of the plan says nothing. */
  callsOfBlock?: number;
}

export interface Plan {
  readonly rounds: number;
  /** How long a row is called in one round, ms … */
  readonly blockMs: number;
  /** … at most so many times, and at least so many. */
  readonly mostCalls: number;
  readonly leastCalls: number;
  /** The same calls before the first round, not counted, ms: five processes compile what runs often. */
  readonly warmUpMs: number;
}

export const QUICK: Plan = { rounds: 5, blockMs: 350, mostCalls: 1_000, leastCalls: 5, warmUpMs: 2_000 };
export const LONG: Plan = { rounds: 20, blockMs: 1_000, mostCalls: 5_000, leastCalls: 20, warmUpMs: 6_000 };
/** For what it counts: its times say nothing. */
export const SHORTEST: Plan = { rounds: 1, blockMs: 0, mostCalls: 1_000, leastCalls: 5, warmUpMs: 0 };

/** The blocks of each row, by its key, one a round. */
export type Measured = ReadonlyMap<string, readonly Block[]>;

/** Plays a block, and may look at what it changes; also for the warm-up, whose round is 0. */
export type Observe = (row: Row, round: number, play: () => Promise<Block>) => Promise<Block>;

/** Every row once a round, each round beginning with another one. Rejects with the first call that fails. */
export async function playRounds(
  rows: readonly Row[],
  plan: Plan,
  onRound: (round: number) => void,
  observe: Observe = (_row, _round, block) => block(),
): Promise<Measured> {
  const measured = new Map<string, Block[]>(rows.map(({ key }) => [key, []]));
  for (const row of rows) await observe(row, 0, () => play(row, { ...plan, blockMs: plan.warmUpMs }));
  for (let round = 0; round < plan.rounds; round += 1) {
    onRound(round + 1);
    const first = round % rows.length;
    for (const row of [...rows.slice(first), ...rows.slice(0, first)]) {
      measured.get(row.key)?.push(await observe(row, round + 1, () => play(row, plan)));
    }
  }
  return measured;
}

async function play(row: Row, plan: Pick<Plan, "blockMs" | "mostCalls" | "leastCalls">): Promise<Block> {
  const { blockMs, mostCalls, leastCalls } =
    row.callsOfBlock === undefined
      ? plan
      : { blockMs: 0, mostCalls: row.callsOfBlock, leastCalls: row.callsOfBlock };
  const latencies: number[] = [];
  const finish = await row.begin?.();
  const begin = performance.now();
  const isOver = (now: number): boolean =>
    latencies.length >= mostCalls || (now - begin >= blockMs && latencies.length >= leastCalls);
  const callAgainAndAgain = async (_: unknown, caller: number): Promise<void> => {
    for (let now = begin; !isOver(now); ) {
      await row.prepare?.();
      const at = performance.now();
      await row.call(caller);
      now = performance.now();
      latencies.push((now - at) * 1_000);
    }
  };
  await Promise.all(Array.from({ length: row.inFlight }, callAgainAndAgain));
  const perSecond = (latencies.length * 1_000) / (performance.now() - begin);
  await finish?.();
  return { latencies, perSecond };
}
