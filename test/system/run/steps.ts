/** A simulated Editor for `unity-broker run`, and what a step of a pipeline is given. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer } from "../../../src/shared/operation/answer.js";
import { type CommandLine, type Typed, useCommandLine } from "../../harness/processes/command-line.js";
import type { RunningProcess } from "../../harness/processes/processes.js";

export interface Steps extends CommandLine {
  /** Starts the Editor; `more`: options of `simulate`. */
  simulate(...more: string[]): Promise<RunningProcess>;
  /** Executions that the Editor has begun. */
  executions(): number;
  /** `run … --output json`, and its answer. */
  step(args: string[], more?: Record<string, string>): Promise<Typed & { answer: Answer }>;
}

/** No variable of the pipeline that these tests run in. */
const NO_PIPELINE = { CI: "true", GITHUB_ACTIONS: "" };

export function useSteps(): Steps {
  const line = useCommandLine();
  const counterFile = () => join(line.here().folder, "executions.log");
  const type: CommandLine["type"] = (args, more) => line.type(args, { ...NO_PIPELINE, ...more });
  return {
    ...line,
    type,
    start: (name, args, more) => line.start(name, args, { ...NO_PIPELINE, ...more }),
    async simulate(...more) {
      const folder = line.here().folder;
      const args = [
        "--port",
        "0",
        "--counter-file",
        counterFile(),
        "--ledger-folder",
        join(folder, "ledger"),
      ];
      const editor = line.start("editor", ["simulate", ...args, ...more]);
      await editor.line(/^Simulated Unity Editor|"ready":true/);
      return editor;
    },
    executions: () =>
      existsSync(counterFile()) ? readFileSync(counterFile(), "utf8").split("\n").filter(Boolean).length : 0,
    async step(args, more) {
      const typed = await type(["run", ...args, "--output", "json"], more);
      const last = typed.stdout.trimEnd().split("\n").at(-1) ?? "";
      return { ...typed, answer: (last === "" ? {} : JSON.parse(last)) as Answer };
    },
  };
}

export const blocks = (seconds: number): string =>
  JSON.stringify({ MenuItemPath: `Simulator/Block For ${seconds} Seconds` });

/** Tests that take no time. */
export const tests = (count: number, failures: number): string =>
  JSON.stringify({ SimulatedTests: count, SimulatedFailures: failures, SimulatedSeconds: 0 });
