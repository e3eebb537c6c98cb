/** `npm run store-failover` is the long form; docs/proofs/store-failover.md says what is checked. */
import { expect, test } from "vitest";
import { freshSeed } from "./engine/random.js";
import { playStoreFailover } from "./store-failover/store-failover.js";

test("a master is killed under load and Sentinels promote a replica: each call runs once and keeps its answer", async () => {
  const seed = Number(process.env.SEED ?? freshSeed());
  const options = { seed, how: "is killed", calls: 90, comesBack: false, say: () => undefined } as const;
  const { faults, calls } = await playStoreFailover(options);
  expect(faults, `SEED=${seed}`).toEqual([]);
  expect(calls.map(({ ended }) => ended?.status)).toEqual(calls.map(() => "completed"));
});
