/** run-batch: several tools as one operation. */
import { nearest } from "../../shared/did-you-mean.js";
import { bridgeTool } from "../catalogue/bridge-tool.js";
import { readArguments, type SimulatedTool, toolFailure } from "../tool-definition.js";
import { addComponent, modifyComponent, readComponent, removeComponent } from "./components.js";
import { createGameObject, deleteGameObject, modifyGameObject } from "./objects.js";
import { createScene, openSceneTool, saveScene } from "./scene-files.js";

const STEPS = new Map(
  [
    addComponent,
    createGameObject,
    createScene,
    deleteGameObject,
    modifyComponent,
    modifyGameObject,
    openSceneTool,
    readComponent,
    removeComponent,
    saveScene,
  ].map((tool) => [tool.name, tool]),
);
const MOST_STEPS = 200;

interface Step {
  tool: SimulatedTool;
  given: Record<string, unknown>;
}

interface StepResult {
  tool: string;
  status: "done" | "failed" | "not_run";
  result?: unknown;
  error?: { type: string; message: string };
}

export const runBatch = bridgeTool("run-batch", {
  async run(call) {
    const { args, signal, progress } = call;
    const steps = checked(args.value("Steps"));
    const results: StepResult[] = steps.map(({ tool }) => ({ tool: tool.name, status: "not_run" }));
    for (const [index, { tool, given }] of steps.entries()) {
      if (signal.aborted) break;
      const result = results[index] as StepResult;
      try {
        result.result = await tool.run({ ...call, args: readArguments(given) });
        result.status = "done";
      } catch (error) {
        const { name, message } = error as Error;
        Object.assign(result, { status: "failed", error: { type: name, message } });
      }
      progress({ progress: index + 1, total: steps.length, partialResult: told(results) });
      if (result.error && !args.flag("ContinueOnError", false)) break;
    }
    return told(results);
  },
});

function told(results: readonly StepResult[]): object {
  const count = (status: StepResult["status"]): number =>
    results.filter((one) => one.status === status).length;
  const [done, failed, notRun] = [count("done"), count("failed"), count("not_run")];
  return { success: done === results.length, done, failed, notRun, steps: structuredClone(results) };
}

/** Every step, looked at before the first runs. */
function checked(given: unknown): Step[] {
  if (!Array.isArray(given)) throw toolFailure("invalid_arguments", "Steps must be an array.");
  if (given.length === 0 || given.length > MOST_STEPS) {
    throw toolFailure("invalid_arguments", `Steps must be from 1 to ${MOST_STEPS}, not ${given.length}.`);
  }
  return given.map((step: Record<string, unknown>, index) => {
    const read = readArguments(step);
    const name = read.text("Tool");
    const tool = STEPS.get(name);
    if (!tool) {
      const known = [...STEPS.keys()];
      const meant = nearest(name, known);
      const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
      throw toolFailure(
        "invalid_arguments",
        `Step ${index}: ${name} cannot run in a batch.${hint} Those that can are ${known.join(", ")}. Nothing has run.`,
      );
    }
    const args = (read.value("Arguments") ?? {}) as Record<string, unknown>;
    const fault = faultOf(tool, args);
    if (fault === undefined) return { tool, given: args };
    throw toolFailure("invalid_arguments", `Step ${index} (${name}): ${fault} Nothing has run.`);
  });
}

function faultOf({ inputSchema }: SimulatedTool, given: Record<string, unknown>): string | undefined {
  const pascal = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const known = Object.keys(inputSchema.properties ?? {});
  const names = Object.keys(given).map(pascal);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) return `There is no parameter ${unknown}. Known are ${known.join(", ")}.`;
  const missing = (inputSchema.required ?? []).find((name) => !names.includes(name));
  return missing === undefined ? undefined : `${missing} is missing.`;
}
