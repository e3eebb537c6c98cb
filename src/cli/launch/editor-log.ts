/** The log of a launched Editor: a place of its own, its last lines, and what known lines mean. */
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

export interface LaunchLog {
  /** What Unity writes. */
  file: string;
  /** What the process says beside it, before Unity has opened its log. */
  output: string;
}

const TAIL_BYTES = 64 * 1024;
const TAIL_LINES = 25;

/** In the project's Logs folder, which Unity's own logs are in; the log of the launch before is kept as `-prev`. */
export function prepareLog(project: string): LaunchLog {
  const folder = join(project, "Logs");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "unity-broker-launch.log");
  const output = join(folder, "unity-broker-launch-output.log");
  if (existsSync(file)) renameSync(file, join(folder, "unity-broker-launch-prev.log"));
  rmSync(output, { force: true });
  return { file, output };
}

/** The last lines; those of the process's own output where Unity has written none. */
export function lastLines({ file, output }: LaunchLog): string[] {
  const lines = tail(file);
  return lines.length > 0 ? lines : tail(output);
}

function tail(path: string): string[] {
  try {
    const opened = openSync(path, "r");
    try {
      const { size } = fstatSync(opened);
      const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
      readSync(opened, bytes, 0, bytes.length, size - bytes.length);
      const lines = bytes.toString("utf8").split(/\r?\n/);
      return lines.filter((line) => line.trim() !== "").slice(-TAIL_LINES);
    } finally {
      closeSync(opened);
    }
  } catch {
    return [];
  }
}

const MEANINGS: [line: RegExp, next: string][] = [
  [
    /another Unity instance is running with this project open/i,
    "An Editor without the bridge has this project open: close it first.",
  ],
  [
    /No valid Unity Editor license|no valid license|Access token is unavailable/i,
    "Unity has no licence on this machine: activate it first.",
  ],
  [
    /Scripts have compiler errors|compilationhadfailure: True/i,
    "The project's scripts do not compile: in batch mode Unity ends then.",
  ],
];

/** What to do about the first known line; undefined where none is known. */
export function meaningOf(lines: readonly string[]): string | undefined {
  return MEANINGS.find(([pattern]) => lines.some((line) => pattern.test(line)))?.[1];
}
