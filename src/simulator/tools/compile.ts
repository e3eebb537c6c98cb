/** compile and execute-code: the tools that change the script domain. */
import { parameters, type SimulatedTool, toolFailure } from "../tool-definition.js";
import { restingPhase } from "../world.js";

export const compile: SimulatedTool = {
  name: "compile",
  description: "Compiles the scripts and reports errors and warnings.",
  inputSchema: parameters({
    ForceRecompile: { type: "boolean", description: "Compile even if nothing changed", default: false },
    SimulatedSeconds: {
      type: "number",
      description: "Simulator: how long it takes",
      minimum: 0,
      default: 0.1,
    },
    SimulatedErrors: {
      type: "integer",
      description: "Simulator: compile errors found",
      minimum: 0,
      default: 0,
    },
    SimulatedReload: {
      type: "boolean",
      description: "Simulator: reload the domain afterwards",
      default: false,
    },
  }),
  effect: "idempotent",
  lane: "main",
  resumable: true,
  cancellable: false,
  executionClass: "medium",
  blocksMainThread: false,
  async run({ args, progress, reloadAfterwards, wait, world }) {
    world.phase = "compiling";
    try {
      progress({ progress: 0, total: 1, message: "Compiling" });
      await wait(args.number("SimulatedSeconds", 0.1));
    } finally {
      world.phase = restingPhase(world);
    }
    const errors = args.number("SimulatedErrors", 0);
    const Errors = Array.from({ length: errors }, (_, index) => ({
      Message: "error CS1002: ; expected",
      File: `Assets/Scripts/Script${index}.cs`,
      Line: index + 1,
    }));
    world.compileErrors = Errors.map((error) => `${error.File}(${error.Line}): ${error.Message}`);
    world.phase = restingPhase(world);
    for (const error of world.compileErrors) world.log("Error", error);
    world.assetCounter += 1;
    if (errors === 0) world.failingTests.compiled = world.failingTests.edited;
    if (errors === 0 && args.flag("SimulatedReload", false)) reloadAfterwards();
    return { Success: errors === 0, ErrorCount: errors, WarningCount: 0, Errors, Warnings: [] };
  },
};

export const executeCode: SimulatedTool = {
  name: "execute-code",
  description: "Runs C# code in the Editor. The simulator evaluates nothing and echoes the code.",
  inputSchema: parameters(
    {
      Code: { type: "string", description: "C# statements" },
      SimulatedSeconds: {
        type: "number",
        description: "Simulator: how long it takes",
        minimum: 0,
        default: 0,
      },
    },
    ["Code"],
  ),
  effect: "mutating",
  destructive: true,
  lane: "main",
  resumable: false,
  cancellable: true,
  executionClass: "medium",
  blocksMainThread: true,
  async run({ args, progress, wait, world }) {
    const code = args.text("Code");
    const lines = code.split("\n").filter((line) => line.trim() !== "");
    const Logs: string[] = [];
    for (const line of lines) {
      await wait(args.number("SimulatedSeconds", 0) / lines.length);
      Logs.push(`> ${line}`);
      world.log("Log", `> ${line}`);
      progress({ progress: Logs.length, total: lines.length, partialResult: { Logs: [...Logs] } });
    }
    if (/\bthrow\b/.test(code)) throw toolFailure("runtime_exception", "The code threw an exception.");
    return { Success: true, Result: code, Logs };
  },
};
