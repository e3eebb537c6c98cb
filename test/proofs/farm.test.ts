/** `npm run farm` is the long form; docs/proofs/farm.md says what is checked. */
import { expect, test } from "vitest";
import { runFarm } from "./build-farm/farm.js";
import { freshSeed } from "./engine/random.js";

test.each([
  ["under faults", 60, 900],
  ["calm", 40, Number.POSITIVE_INFINITY],
])(
  "builds for pools, %s: each runs at most once, and its caller is told",
  async (_how, builds, faultEveryMs) => {
    const seed = Number(process.env.SEED ?? freshSeed());
    const { faults, table } = await runFarm({ seed, builds, faultEveryMs, say: () => undefined });
    expect(faults, `SEED=${seed}\n${table}`).toEqual([]);
  },
);
