/** compile and execute-code: the tools that change the script domain. */
import { bridgeTool } from "../catalogue/bridge-tool.js";
import { toolFailure } from "../tool-definition.js";
import { restingPhase } from "../world.js";

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

/** Nothing is evaluated: the code is answered. */
export const executeCode = bridgeTool("execute-code", {
  simulated: {
    Seconds: { type: "number", description: "how long it takes", minimum: 0, default: 0 },
  },
  async run({ args, progress, wait, world }) {
    const code = args.text("Code");
    if (args.flag("CompileOnly", false)) return { Success: true, Result: null, Logs: [] };
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
});
