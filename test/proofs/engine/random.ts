/** Numbers from a seed: the same seed draws the same ones, on every machine. */
export interface Random {
  /** A whole number from `low` to `high`, both possible. */
  whole(low: number, high: number): number;
  /** A number in between. */
  between(low: number, high: number): number;
  pick<T>(choices: readonly T[]): T;
  chance(probability: number): boolean;
  shuffled<T>(items: readonly T[]): T[];
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    whole,
    between: (low, high) => low + next() * (high - low),
    pick: (choices) => choices[whole(0, choices.length - 1)] as (typeof choices)[number],
    chance: (probability) => next() < probability,
    shuffled(items) {
      const left = [...items];
      return items.map(() => left.splice(whole(0, left.length - 1), 1)[0] as (typeof items)[number]);
    },
  };
}

export function freshSeed(): number {
  return Math.floor(Math.random() * 1e9);
}

/** A pause that the seed drew: the timing is the scenario, no condition is waited for. */
export function drawnPause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
