/**
 * Thousands of small histories of the whole system in memory, each from a seed: the real broker, tracker, deliveries,
 * process and the four pure functions, over a store, an Editor and connections that fail between any two steps.
 *
 * `SEED=123 npx vitest run test/proofs/interleavings.test.ts` begins with that seed; a failure names the seed that failed, so
 * that `SEED=<it> RUNS=1` tells that history again, step for step.
 */

import { expect, test } from "vitest";
import { isLongForm } from "../harness/long-form.js";
import { createWorld } from "./interleavings/world.js";

const SEED = Number(process.env.SEED ?? 20_260_801);
const RUNS = Number(process.env.RUNS ?? (isLongForm ? 50_000 : 500));
const TURNS = 50;
/** ms: several times what a busy machine of two cores takes. */
const TIMEOUT = isLongForm ? 1_800_000 : 300_000;

const tell = async (seed: number): Promise<void> => {
  const world = createWorld(seed, { turns: TURNS });
  const { now } = performance;
  // Not a spy: it would keep every reading of every history.
  performance.now = world.now;
  const faults = await world.run().finally(() => {
    performance.now = now;
  });
  expect(faults, `seed ${seed}`).toEqual([]);
};

test(
  `nothing runs twice, nothing is lost and nothing waits for ever in ${RUNS} histories from seed ${SEED}`,
  async () => {
    for (let seed = SEED; seed < SEED + RUNS; seed += 1) await tell(seed);
  },
  TIMEOUT,
);
