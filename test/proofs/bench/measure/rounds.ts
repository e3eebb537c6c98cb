/** Interleaved rounds: what disturbs the machine for a while disturbs a row and its floor alike. */
import type { Block } from "./statistics.js";

/** One thing that is measured. */
export interface Row {
  readonly key: string;
  readonly title: string;
  /** How many calls are under way at a time. */
  readonly inFlight: number;
  /** One call, from its begin to its answer; rejects when the answer is not the expected one. */
  call(): unknown;
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

/** The blocks of each row, by its key, one a round. */
export type Measured = ReadonlyMap<string, readonly Block[]>;

/** Every row once a round, each round beginning with another one. Rejects with the first call that fails. */
export async function playRounds(
  rows: readonly Row[],
  plan: Plan,
  onRound: (round: number) => void,
): Promise<Measured> {
  const measured = new Map<string, Block[]>(rows.map(({ key }) => [key, []]));
  for (const row of rows) await play(row, { ...plan, blockMs: plan.warmUpMs });
  for (let round = 0; round < plan.rounds; round += 1) {
    onRound(round + 1);
    const first = round % rows.length;
    for (const row of [...rows.slice(first), ...rows.slice(0, first)]) {
      measured.get(row.key)?.push(await play(row, plan));
    }
  }
  return measured;
}

async function play(
  row: Row,
  { blockMs, mostCalls, leastCalls }: Pick<Plan, "blockMs" | "mostCalls" | "leastCalls">,
): Promise<Block> {
  const latencies: number[] = [];
  const begin = performance.now();
  const isOver = (now: number): boolean =>
    latencies.length >= mostCalls || (now - begin >= blockMs && latencies.length >= leastCalls);
  const callAgainAndAgain = async (): Promise<void> => {
    for (let now = begin; !isOver(now); ) {
      const at = performance.now();
      await row.call();
      now = performance.now();
      latencies.push((now - at) * 1_000);
    }
  };
  await Promise.all(Array.from({ length: row.inFlight }, callAgainAndAgain));
  return { latencies, perSecond: (latencies.length * 1_000) / (performance.now() - begin) };
}
