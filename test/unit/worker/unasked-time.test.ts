/** What a peer is charged for is the work that it causes. */
import { expect, test } from "vitest";
import { workClock } from "../../../src/worker/transport/unasked-time.js";

/** Neither works nor lets anything else of this process work, as on a machine that is busy with other programs. */
const standStill = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
};

test("time in which the machine did something else is not charged; work is", () => {
  const took = workClock();
  standStill(2_000);
  expect(took()).toBeLessThan(1_000);

  const worked = workClock();
  const since = process.cpuUsage();
  while (process.cpuUsage(since).user < 50_000) {
    // Works.
  }
  expect(worked()).toBeGreaterThanOrEqual(50);
});
