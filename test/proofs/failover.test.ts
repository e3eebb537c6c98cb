import { expect, test } from "vitest";
import { median } from "./bench/measure/statistics.js";
import { playFailovers } from "./failover/failovers.js";

/** `npm run failover` does twenty. */
const LEASE_MS = 5_000;

test("an owner that is killed is replaced before its lease expires, and every operation has its result", async () => {
  const failovers = await playFailovers(3, LEASE_MS);
  expect(median(failovers.map(({ leaseLeftMs }) => leaseLeftMs))).toBeGreaterThan(0);
  expect(median(failovers.map(({ nextMs }) => nextMs / LEASE_MS))).toBeLessThan(1);
});
