/** Runs programs, and finds them on PATH. */
import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, win32 } from "node:path";
import type { Environment } from "./directories.js";

export interface CommandResult {
  /** Undefined if the command did not run at all, or was ended for taking too long. */
  readonly code: number | undefined;
  readonly output: string;
}

/** Runs a program without a shell and answers its exit code and all its output; never rejects. */
export function runCommand(
  file: string,
  args: readonly string[],
  options: { env: Environment; timeoutMs: number; cwd?: string },
): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(
      file,
      [...args],
      {
        env: { ...options.env },
        timeout: options.timeoutMs,
        maxBuffer: 16 * 1024 * 1024,
        encoding: "utf8",
        windowsHide: true,
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      },
      (error, stdout, stderr) => {
        const said = `${stdout}${stderr}`.trim();
        if (!error) return resolve({ code: 0, output: said });
        if (typeof error.code === "number") return resolve({ code: error.code, output: said });
        resolve({ code: undefined, output: said || error.message });
      },
    );
  });
}

/**
 * The first of these programs on a search path, names before directories; undefined if there is none.
 *
 * On Windows only `.exe`: scripts (`.cmd`) need a shell, and none of these programs is a script.
 */
export function findProgram(
  names: readonly string[],
  directories: readonly string[],
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const endings = platform === "win32" ? [".exe"] : [""];
  for (const name of names) {
    for (const directory of directories) {
      for (const ending of endings) {
        const file = join(directory, name + ending);
        if (isProgram(file)) return file;
      }
    }
  }
  return undefined;
}

/** The directories of PATH, and those that a shell has but a program started from a desktop lacks. */
export function searchDirectories(env: Environment, platform: NodeJS.Platform): string[] {
  const path = (env.PATH ?? env.Path ?? "").split(delimiter).filter((directory) => directory !== "");
  if (platform === "darwin") path.push("/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin");
  if (platform === "win32") path.push(win32.join(env.ProgramFiles ?? "C:\\Program Files", "Memurai"));
  return [...new Set(path)];
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
