import { expect, test } from "vitest";
import { median } from "./bench/measure/statistics.js";
import { playFailovers } from "./failover/failovers.js";

/** `npm run failover` does twenty, with the timings of an installation. */
const LEASE_MS = 1_000;

test("an owner that is killed is replaced within twice its lease; the operation's result is intact", async () => {
  const failovers = await playFailovers(3, LEASE_MS);
  expect(median(failovers.map(({ frameMs }) => frameMs / LEASE_MS))).toBeLessThanOrEqual(2);
});
