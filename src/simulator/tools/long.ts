/** The tools that take their time: compile, run-tests and build-player. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { bridgeTool } from "../catalogue/bridge-tool.js";
import { boundedExpression } from "../expression.js";
import { type SimulatedTool, toolFailure } from "../tool-definition.js";
import { restingPhase, type World } from "../world.js";

export const compile = bridgeTool("compile", {
  simulated: {
    Seconds: { type: "number", description: "how long it takes", minimum: 0, default: 0.1 },
    Errors: { type: "integer", description: "compile errors found", minimum: 0, default: 0 },
    Reload: { type: "boolean", description: "reload the domain afterwards", default: false },
  },
  async run({ args, progress, reloadAfterwards, wait, world }) {
    world.phase = "compiling";
    const errors = args.number("SimulatedErrors", 0);
    const Errors = Array.from({ length: errors }, (_, index) => ({
      Message: "error CS1002: ; expected",
      File: `Assets/Scripts/Script${index}.cs`,
      Line: index + 1,
      Column: 1,
    }));
    try {
      progress({ progress: 0, total: 1, message: "Compiling" });
      await wait(args.number("SimulatedSeconds", 0.1));
      world.compileErrors = Errors.map((error) => `${error.File}(${error.Line}): ${error.Message}`);
    } finally {
      world.phase = restingPhase(world);
    }
    for (const error of world.compileErrors) world.log("Error", error);
    world.assetCounter += 1;
    if (errors === 0) world.failingTests.compiled = world.failingTests.edited;
    const ReloadFollows = errors === 0 && args.flag("SimulatedReload", false);
    if (ReloadFollows) reloadAfterwards();
    return {
      Success: errors === 0,
      Compiled: true,
      ReloadFollows,
      ErrorCount: errors,
      WarningCount: 0,
      Errors,
      Warnings: [],
    };
  },
});

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
  },
  async run({ args, progress, reload, wait, world }) {
    const mode = args.text("TestMode", "EditMode");
    const isMeant = matcher(args.text("FilterType", "all"), args.text("FilterValue", ""));
    const isListed = listing(args.text("ReportResults", "none"), args.text("ReportName", ""));
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

const BUILD_PHASES = [
  "Preparing",
  "Compiling scripts",
  "Building scenes",
  "Packaging assets",
  "Linking",
  "Post-processing",
];

export const buildPlayer = bridgeTool("build-player", {
  simulated: {
    Seconds: { type: "number", description: "how long it takes", minimum: 0, default: 3 },
    Failure: { type: "boolean", description: "fail in the last phase", default: false },
  },
  async run({ args, progress, wait, world }) {
    // A simulated Editor builds for every platform, whichever it is switched to, and has no build profiles.
    const target = args.text("BuildTarget");
    const seconds = args.number("SimulatedSeconds", 3);
    world.phase = "building";
    try {
      for (const [index, phase] of BUILD_PHASES.entries()) {
        progress({ progress: index, total: BUILD_PHASES.length, message: phase, partialResult: { phase } });
        await wait(seconds / BUILD_PHASES.length);
      }
    } finally {
      world.phase = restingPhase(world);
    }
    if (args.flag("SimulatedFailure", false))
      throw toolFailure("build_failed", "The build failed with 1 error.");
    world.assetCounter += 1;
    const output = resolve(world.projectPath, args.text("OutputPath", "Builds"), target);
    const files = player(existsSync(world.projectPath) ? output : undefined);
    return {
      Success: true,
      BuildTarget: target,
      OutputPath: output,
      TotalSeconds: seconds,
      TotalBytes: files.reduce((sum, { Bytes }) => sum + Bytes, 0),
      TotalErrors: 0,
      TotalWarnings: 0,
      Messages: [],
      TotalFiles: files.length,
      ...(args.flag("EveryFile", false) ? { Files: files } : {}),
      ...contentsOf(output, files, args.number("IncludeFilesUpTo", 0)),
    };
  },
});

function contentsOf(output: string, files: readonly { Path: string; Bytes: number }[], upTo: number): object {
  if (upTo <= 0) return {};
  const FileContents = files
    .filter(({ Bytes }) => Bytes <= upTo)
    .map(({ Path, Bytes }) => ({
      Path: relative(output, Path).replaceAll(sep, "/"),
      Bytes,
      Base64: readFileSync(Path).toString("base64"),
    }));
  return { FileContents };
}

/** What is written there; nothing where the project only exists in memory. */
function player(output: string | undefined): { Path: string; Bytes: number; Role: string }[] {
  if (output === undefined) return [];
  return Object.entries({ "Data/level0": "a level", Player: "a player" }).map(([name, text]) => {
    const path = join(output, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return { Path: path, Bytes: text.length, Role: "Simulated" };
  });
}
