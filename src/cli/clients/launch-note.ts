/** Tells the Unity package how to start this broker: the buttons of its window run `install` and `uninstall`. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { replaceOwnFile } from "../../shared/machine/private-folder.js";
import { packageFile } from "../../shared/package-file.js";
import { type Reach, startCommand } from "./entry.js";

/** The built command line, even if this runs from the sources. */
const MAIN = packageFile("dist/cli/main.js");

export function launchOfThis(): Reach {
  return startCommand(MAIN, process.argv[1]);
}

/** Writes the note into the home folder, readable for this user; if that fails only a button is disabled. */
export function noteLaunch(): void {
  const reach = launchOfThis();
  if (reach.transport !== "stdio" || !existsSync(MAIN)) return;
  const folder = join(homedir(), ".unity-job-broker");
  const file = join(folder, "launch.json");
  const text = `${JSON.stringify({ command: reach.command, args: reach.args })}\n`;
  try {
    if (existsSync(file) && readFileSync(file, "utf8") === text) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    replaceOwnFile(file, text);
  } catch {
    // The home folder is read-only.
  }
}
