/** run-tests: it compiles what was edited first; every finished test is a partial result; the run survives a domain reload. */
import { bridgeTool } from "../catalogue/bridge-tool.js";
import { boundedExpression } from "../expression.js";
import { type Arguments, type SimulatedTool, toolFailure } from "../tool-definition.js";
import { restingPhase, type World } from "../world.js";

interface StoredCounters {
  completed: number;
  total: number;
  passed: number;
  failed: number;
  failures: { name: string; message: string }[];
  /** The finished tests that were asked for; a partial result has the last ones. */
  cases?: ReportedTest[];
}

interface ReportedTest {
  name: string;
  className: string;
  result: "passed" | "failed";
  ms: number;
  message?: string;
  /** Where it failed: relative to the project. */
  file?: string;
  line?: number;
}

/** As in the C# bridge: all of them after every test would be a quadratic amount of work. */
const CASES_IN_PARTIAL_RESULT = 200;

/** As long as compile takes there. */
const COMPILE_SECONDS = 0.1;

type Call = Parameters<SimulatedTool["run"]>[0];

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
    UnsavedScenes: {
      type: "string",
      description:
        "paths of scenes with unsaved changes, separated by commas; one without a folder has no file",
      default: "",
    },
  },
  async run({ args, progress, reload, wait, world }) {
    const mode = args.text("TestMode", "EditMode");
    const isMeant = matcher(args.text("FilterType", "all"), args.text("FilterValue", ""));
    const isListed = listing(args.text("ReportResults", "none"), args.text("ReportName", ""));
    refuseBefore(args, world);
    if (world.failingTests.edited !== world.failingTests.compiled)
      await compileEdited(world, { progress, wait });
    refuseBroken(world);
    const failing = args.number("SimulatedFailures", world.failingTests.compiled);
    const all = Array.from({ length: args.number("SimulatedTests", 10) }, (_, index) => ({
      name: `Simulated.${mode}.Test${String(index + 1).padStart(3, "0")}`,
      fails: index < failing,
      line: 10 + 5 * index,
    }));
    const tests = all.filter((test) => isMeant(test.name));
    const counters: StoredCounters = {
      completed: 0,
      total: tests.length,
      passed: 0,
      failed: 0,
      failures: [],
      ...(isListed ? { cases: [] } : {}),
    };
    const secondsEach = args.number("SimulatedSeconds", 0.05);
    // Entering Play Mode reloads the domain: the run goes on behind it.
    if (mode === "PlayMode" && args.text("ReloadDomain", "keep") === "keep") await reload();
    world.phase = "testing";
    try {
      for (const test of tests) {
        await wait(secondsEach);
        counters.completed += 1;
        if (test.fails) {
          counters.failed += 1;
          counters.failures.push({ name: test.name, message: MESSAGE });
        } else counters.passed += 1;
        const finished: ReportedTest = {
          name: test.name,
          className: `Simulated.${mode}`,
          result: test.fails ? "failed" : "passed",
          ms: Math.round(secondsEach * 1000),
          ...(test.fails ? { message: MESSAGE, file: `Assets/Tests/${mode}Tests.cs`, line: test.line } : {}),
        };
        if (isListed?.(finished)) counters.cases?.push(finished);
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
      world.phase = restingPhase(world);
    }
    const Message = [
      ...(tests.length === 0 ? ["No test fits; see TestMode and the filter."] : []),
      ...(args.flag("SaveXml", false) ? ["The simulator writes no NUnit file."] : []),
    ].join(" ");
    return {
      Success: counters.failed === 0 && counters.completed > 0,
      TestMode: mode,
      ...counters,
      ...(Message === "" ? {} : { Message }),
    };
  },
});

/** What changed on the disk is found before a run, as in the C# bridge: no test of older scripts runs. */
async function compileEdited(
  world: World,
  { progress, wait }: Pick<Call, "progress" | "wait">,
): Promise<void> {
  progress({ progress: 0, message: "Unity compiles changed scripts" });
  world.phase = "compiling";
  try {
    await wait(COMPILE_SECONDS);
    world.compileErrors = [];
    world.failingTests.compiled = world.failingTests.edited;
    world.assetCounter += 1;
  } finally {
    world.phase = restingPhase(world);
  }
}

function refuseBroken({ compileErrors }: World): void {
  if (compileErrors.length === 0) return;
  throw toolFailure(
    "compile_errors",
    `The scripts do not compile (${compileErrors.length} errors). Correct them, then call run-tests again.\n${compileErrors.join("\n")}`,
  );
}

/** What keeps a run from beginning whatever the scripts are, in the words of the C# bridge; nothing was changed then. */
function refuseBefore(args: Arguments, { phase }: World): void {
  if (phase === "playing")
    throw toolFailure(
      "editor_is_playing",
      "The Editor is in play mode, and a test run begins outside it. Leave play mode (control-play-mode, Action: Exit), then call run-tests again.",
    );
  const unsaved = args
    .text("SimulatedUnsavedScenes", "")
    .split(",")
    .map((path) => path.trim())
    .filter((path) => path !== "");
  const untitled = unsaved.filter((path) => !path.includes("/"));
  const refused = args.text("UnsavedScenes", "refuse") === "save" ? untitled : unsaved;
  if (refused.length === 0) return;
  const names = refused
    .map((path) => (path.includes("/") ? path : `the untitled scene "${path}"`))
    .join(", ");
  const advice = [
    ...(refused.length > untitled.length
      ? ["Call again with UnsavedScenes: save, or save or discard them in the Editor."]
      : []),
    ...(untitled.length > 0
      ? ["A scene without a file has to be saved under a name, or closed, first."]
      : []),
  ].join(" ");
  throw toolFailure(
    "unsaved_scenes",
    `Unsaved changes in ${names}: Unity would ask a person about them before it runs tests. ${advice}`,
  );
}

/** Which finished tests are listed; undefined: none is. */
function listing(results: string, name: string): ((test: ReportedTest) => boolean) | undefined {
  if (results === "none" && name === "") return undefined;
  const isNamed = name === "" ? () => true : boundedExpression("ReportName", name);
  return (test) => isNamed(test.name) && (results === "all" || results === "none" || results === test.result);
}

function matcher(type: string, value: string): (name: string) => boolean {
  if (type === "exact") return (name) => name === value;
  if (type === "category") return () => false;
  if (type === "regex") return boundedExpression("FilterValue", value);
  return () => true;
}
