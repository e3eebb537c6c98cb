/** What people do all day: edit, compile, run the tests, and again; over HTTP and stdio, quick, slow and polled. */
import { begun, made, ran, reported, type Scenario, scenario } from "./scenario.js";

export const EVERYDAY: readonly Scenario[] = [
  scenario("tests, delivered and run again (HTTP)", {
    bounds: { calls: 3, newIntents: 1, gatewayCrashes: 1 },
    facts: { tool: "run-tests" },
    prelude: [...made(1, 1), ...begun(1)],
    aimedAt: ["repeatableReplaysDelivered", "deliveredAfterWriting"],
    long: { bounds: { lateCancels: 1 }, prelude: [] },
  }),
  scenario("edit, compile, run-tests (HTTP, the same session)", {
    bounds: { calls: 3, newIntents: 1, mutations: 1 },
    facts: { tool: "run-tests" },
    prelude: ran,
    long: { bounds: { polls: 1 }, prelude: [...made(1, 1), ...begun(1)] },
  }),
  scenario("edit, compile, run-tests (HTTP, another session)", {
    bounds: { calls: 2, newIntents: 1, mutations: 1, sessions: 1, polls: 1 },
    facts: { tool: "run-tests" },
    prelude: [...made(1, 1), ...begun(1)],
    long: { bounds: { calls: 3 } },
  }),
  scenario("edit, compile, run-tests (stdio, quick, slow and polled)", {
    bounds: { calls: 2, newIntents: 1, mutations: 1, delays: 1, polls: 1 },
    facts: { tool: "run-tests", way: "stdio" },
    prelude: [...made(1, 1), ...begun(1)],
    long: { bounds: { calls: 3, cancels: 1, lateCancels: 1 } },
  }),
  scenario("a compilation, its own reload, and its retry", {
    bounds: { calls: 2, newIntents: 1 },
    facts: { tool: "compile" },
    long: { bounds: { calls: 3, sessions: 1, mutations: 1 } },
  }),
  scenario("unread, and meant anew when assets have changed", {
    bounds: { calls: 2, newIntents: 1, edits: 1, sessions: 1 },
    facts: { tool: "run-tests" },
    prelude: ran,
    aimedAt: ["marksIgnored"],
    long: { bounds: { calls: 3, mutations: 1 }, prelude: [] },
  }),
  scenario("the store is flushed between two runs of the tests", {
    bounds: { calls: 2, newIntents: 1, rollbacks: 1, cuts: 1 },
    facts: { tool: "run-tests" },
    prelude: [...ran, "the gateway notes that it answers #1", ...reported(1, 1), "the store is flushed"],
    aimedAt: ["lostOutcomesAreFresh", "restoredAnswers"],
    long: { bounds: { calls: 3, sessions: 1 } },
  }),
];
