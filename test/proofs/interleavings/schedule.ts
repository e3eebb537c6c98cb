/** Chance from a seed, and the one place where everything that happens at the same time waits for its turn. */

export interface Random {
  /** 0 … below - 1. */
  int(below: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T | undefined;
}

/** mulberry32: small, fast, the same everywhere. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number): number => Math.floor(fraction() * below);
  return { int, chance: (probability) => fraction() < probability, pick: (from) => from[int(from.length)] };
}

/** A message is handled in one, after those in which what arrived with it is heard (src/gateway/exchange.ts); one more ends it. */
const EVENT_LOOP_TURNS = 5;

/** A process, or the network. What a dead one waited for never comes. */
export interface Life {
  dead: boolean;
}

interface Parked {
  life: Life;
  ready: () => boolean;
  go: () => void;
}

export interface Steps {
  /** Waits for its turn; with `ready`, not before that holds. */
  park(life: Life, ready?: () => boolean): Promise<void>;
  /** Gives one of those that may go on its turn; false when there is none. */
  advance(): Promise<boolean>;
  /** Everything that follows from what happened has happened, up to the next turns. */
  settle(): Promise<void>;
}

export function createSteps(random: Random): Steps {
  let parked: Parked[] = [];
  // Earlier users of setImmediate come before each turn, with everything that follows from them at once.
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < EVENT_LOOP_TURNS; turn += 1)
      await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    park: (life, ready = () => true) => new Promise((go) => parked.push({ life, ready, go })),
    settle,
    async advance() {
      parked = parked.filter(({ life }) => !life.dead);
      const next = random.pick(parked.filter(({ ready }) => ready()));
      if (!next) return false;
      parked.splice(parked.indexOf(next), 1);
      next.go();
      await settle();
      return true;
    },
  };
}
