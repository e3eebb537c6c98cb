/** run-tests: every finished test is a partial result, the run survives a domain reload. */
import { bridgeTool } from "../catalogue/bridge-tool.js";

interface StoredCounters {
  completed: number;
  total: number;
  passed: number;
  failed: number;
  failures: { name: string; message: string }[];
  /** Every finished test, if asked for; a partial result has the last ones. */
  cases?: ReportedTest[];
}

interface ReportedTest {
  name: string;
  result: "passed" | "failed";
  ms: number;
  message?: string;
  /** Where it failed: relative to the project. */
  file?: string;
  line?: number;
}

/** As in the C# bridge: all of them after every test would be a quadratic amount of work. */
const CASES_IN_PARTIAL_RESULT = 200;

const MESSAGE = "Expected: True  But was: False";

export const runTests = bridgeTool("run-tests", {
  simulated: {
    Tests: { type: "integer", description: "tests in the project", minimum: 0, default: 10 },
    Failures: {
      type: "integer",
      description: "how many of them fail; by default what the last edit and compilation left",
      minimum: 0,
    },
    Seconds: { type: "number", description: "seconds for each test", minimum: 0, default: 0.05 },
  },
  async run({ args, progress, reload, wait, world }) {
    const mode = args.text("TestMode", "EditMode");
    const failing = args.number("SimulatedFailures", world.failingTests.compiled);
    const all = Array.from({ length: args.number("SimulatedTests", 10) }, (_, index) => ({
      name: `Simulated.${mode}.Test${String(index + 1).padStart(3, "0")}`,
      fails: index < failing,
      line: 10 + 5 * index,
    }));
    const matches = matcher(args.text("FilterType", "all"), args.text("FilterValue", ""));
    const tests = all.filter((test) => matches(test.name));
    const counters: StoredCounters = {
      completed: 0,
      total: tests.length,
      passed: 0,
      failed: 0,
      failures: [],
      ...(args.flag("EveryTest", false) ? { cases: [] } : {}),
    };
    const secondsEach = args.number("SimulatedSeconds", 0.05);
    // Entering Play Mode reloads the domain: the run goes on behind it.
    if (mode === "PlayMode") await reload();
    world.phase = "testing";
    try {
      for (const test of tests) {
        await wait(secondsEach);
        counters.completed += 1;
        if (test.fails) {
          counters.failed += 1;
          counters.failures.push({ name: test.name, message: MESSAGE });
        } else counters.passed += 1;
        counters.cases?.push({
          name: test.name,
          result: test.fails ? "failed" : "passed",
          ms: Math.round(secondsEach * 1000),
          ...(test.fails ? { message: MESSAGE, file: `Assets/Tests/${mode}Tests.cs`, line: test.line } : {}),
        });
        progress({
          progress: counters.completed,
          total: counters.total,
          message: test.name,
          partialResult: {
            ...counters,
            failures: [...counters.failures],
            ...(counters.cases ? { cases: counters.cases.slice(-CASES_IN_PARTIAL_RESULT) } : {}),
          },
        });
      }
    } finally {
      world.phase = "ready";
    }
    return { Success: counters.failed === 0, TestMode: mode, ...counters };
  },
});

function matcher(type: string, value: string): (name: string) => boolean {
  if (type === "exact") return (name) => name === value;
  if (type === "regex") {
    const pattern = new RegExp(value);
    return (name) => pattern.test(name);
  }
  return () => true;
}
