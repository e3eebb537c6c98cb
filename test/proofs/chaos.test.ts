/**
 * The system under fire, for a short while: several gateways, workers and Editors, clients that retry, and faults of
 * every kind at once (docs/proofs/chaos.md). `SEED=42 npm test -- test/proofs/chaos.test.ts` draws another; `npm run chaos` is the long form.
 */
import { afterAll, expect, test } from "vitest";
import { expectNoLeak } from "../harness/processes/leaks.js";
import { runChaos } from "./chaos/chaos.js";

const SEED = Number(process.env.SEED ?? 5);
/** ms: a busy machine needs several times the minute that it takes otherwise. */
const LIMIT = 8 * 60_000;

afterAll(async () => {
  await expectNoLeak();
});

test(
  "nothing runs twice, nothing is lost, and every interruption has a reason",
  async () => {
    console.log(`chaos: SEED=${SEED}`);
    const { stories, table, logs } = await runChaos({
      ...{ seed: SEED, operations: 70, seconds: 11, rounds: 2, callers: 10, faultEveryMs: 900 },
      engine: "typescript",
      without: [],
      say: (line) => console.log(line),
    });
    console.log(table);
    if (stories.length > 0) console.error(`SEED=${SEED}\n${logs}`);
    expect(stories).toEqual([]);
  },
  LIMIT,
);
