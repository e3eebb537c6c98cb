/** A command that draws a whole screen: what it last drew, and the picture of that. */
import { spawn } from "node:child_process";
import { MAIN } from "../harness/processes/processes.js";
import { group, prompt, rowsOf, type Size, windowOf } from "./window.js";

/** Where a screen is drawn anew, from its first row on. */
const HOME = "\u001b[H";
/** Ends a line, the screen, or the whole of it: they erase, and draw nothing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the terminal's codes are such.
const ERASERS = /\u001b\[[KJ]|\u001b\[\?\d+[hl]/g;

/** Runs it on a terminal of this size until `isDrawn` finds its screen complete, then types `q`. Rejects if it fails. */
export async function lastScreen(
  args: readonly string[],
  { columns, rows }: Size,
  env: NodeJS.ProcessEnv,
  isDrawn: (screen: string) => boolean,
): Promise<string[]> {
  const typed = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(" ");
  const command = `stty cols ${columns} rows ${rows}; exec ${typed}`;
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    env: { ...env, TERM: "xterm", NO_COLOR: undefined, SHELL: "/bin/sh" },
  });
  let said = "";
  let drawn: string | undefined;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    // The last one may be drawn in part only.
    const whole = said.split(HOME).slice(1, -1).findLast(isDrawn);
    if (whole === undefined || drawn !== undefined) return;
    drawn = whole;
    child.stdin.write("q");
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (code !== 0 || drawn === undefined)
    throw new Error(`${args.join(" ")} ended with code ${code}: ${said}`);
  return drawn.replace(ERASERS, "").split("\r\n");
}

export function drawScreen(command: string, lines: readonly string[], columns: number): string {
  const rows = [prompt(command), "", ...lines.flatMap((line) => rowsOf(line, columns))];
  return windowOf(command, { columns, rows: rows.length }, { groups: [group("screen", rows, 0)] });
}
