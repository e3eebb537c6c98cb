/** `npm run conformance` plays all revisions; docs/proofs/conformance.md says what is checked. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EXPECTED_FAILURES, MOST_EXPECTED } from "../conformance/expected-failures.js";
import { faultsOf } from "../conformance/judge.js";
import { PAGE, writeExpected } from "../conformance/page.js";
import { playSuite } from "../conformance/play.js";
import { RELEASED } from "../conformance/suites.js";
import { type ConformanceWorld, startConformanceWorld } from "../conformance/world.js";

let world: ConformanceWorld;
beforeAll(async () => {
  world = await startConformanceWorld();
});
afterAll(() => world?.close());

test("the official suite finds what is expected, over gateway, queue, worker and Editor", async () => {
  expect(faultsOf(await playSuite(RELEASED, world.url))).toEqual([]);
});

test("few scenarios are expected to fail, each has a reason, and the page names them", () => {
  expect(EXPECTED_FAILURES.length).toBeLessThanOrEqual(MOST_EXPECTED);
  const page = readFileSync(PAGE, "utf8");
  expect(writeExpected(page)).toBe(page);
});

test("a pass, a failure and a number of scenarios that nobody expected are faults", () => {
  const scenario = (name: string, ...checks: string[]) => ({
    ...{ name, warnings: [], isCounted: true },
    failures: checks.map((check) => ({ check, message: "" })),
  });
  const expected = [{ scenario: "a", checks: ["x"], reason: "" }];
  const faults = (...scenarios: ReturnType<typeof scenario>[]) =>
    faultsOf({ run: { ...RELEASED, scenarios: 2 }, scenarios }, expected).length;
  expect(faults(scenario("a", "x"), scenario("b"))).toBe(0);
  expect(faults(scenario("a"), scenario("b"))).toBe(1);
  expect(faults(scenario("a", "x", "y"), scenario("b"))).toBe(1);
  expect(faults(scenario("a", "x"), scenario("b", "z"))).toBe(1);
  expect(faults(scenario("a", "x"))).toBe(1);
});
