/** Runs a command of the broker and notes when it printed each line. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { MAIN } from "../harness/processes/processes.js";

export interface Line {
  /** Since the command was started, ms. */
  at: number;
  /** With the terminal's codes for colours. */
  text: string;
}

export interface Recording {
  /** As a user types it. */
  command: string;
  lines: Line[];
}

/** Rejects if the command fails. Its hints name `unity-broker`, as they do where the package is installed. */
export async function record(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Recording> {
  const folder = mkdtempSync(join(tmpdir(), "ujb-recording-"));
  try {
    const installed = join(folder, "unity-broker");
    symlinkSync(MAIN, installed);
    const child = spawn(process.execPath, [installed, ...args], {
      // The lines are those of a terminal: its output is not drawn anew anywhere.
      env: { ...env, NO_COLOR: undefined, FORCE_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const startedAt = performance.now();
    const lines: Line[] = [];
    createInterface(child.stdout).on("line", (text) =>
      lines.push({ at: performance.now() - startedAt, text }),
    );
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    if (code !== 0) throw new Error(`unity-broker ${args.join(" ")} ended with code ${code}: ${errors}`);
    return { command: `unity-broker ${args.join(" ")}`, lines };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
