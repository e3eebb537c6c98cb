/** The doctor's findings: one line per check, and a fix for each problem. */
import { shellQuoted } from "../../shared/machine/private-folder.js";
import { printableValues } from "../../shared/printable.js";
import type { Colours } from "../client/render.js";

export interface Finding {
  check: string;
  /** `warning`: it works, but not as well, or not for long. */
  state: "ok" | "warning" | "problem";
  says: string;
  /** What to do about it, as a sentence. */
  next?: string | undefined;
  /** A command that fixes it. */
  fix?: string | undefined;
}

export const ok = (check: string, says: string): Finding => ({ check, state: "ok", says });

export function renderFindings(findings: readonly Finding[], colours: Colours): string {
  const lines = findings
    .map((finding) => printableValues(finding))
    .flatMap(({ check, state, says, next, fix }) => [
      `${mark(state, colours)} ${check.padEnd(14)}${says}`,
      ...(next === undefined ? [] : [`  ${" ".repeat(14)}${next}`]),
      ...(fix === undefined ? [] : [`  ${" ".repeat(14)}${colours.bold(fix)}`]),
    ]);
  return [...lines, "", summary(findings, colours)].join("\n");
}

function mark(state: Finding["state"], colours: Colours): string {
  switch (state) {
    case "ok":
      return colours.green("✓");
    case "warning":
      return colours.yellow("!");
    case "problem":
      return colours.red("✗");
  }
}

function summary(findings: readonly Finding[], colours: Colours): string {
  const problems = findings.filter(({ state }) => state === "problem").length;
  const warnings = findings.filter(({ state }) => state === "warning").length;
  if (problems > 0) return colours.red(`${problems} problem(s). Fix the first one, then ask again.`);
  return warnings > 0
    ? colours.yellow(`It works, with ${warnings} warning(s).`)
    : colours.green("All is well.");
}

/** How this system's shell sets or removes a variable for later commands. */
export function unset(variable: string, platform: NodeJS.Platform = process.platform): string {
  return platform === "win32" ? `Remove-Item Env:${variable}` : `unset ${variable}`;
}

export function set(variable: string, value: string, platform: NodeJS.Platform = process.platform): string {
  return platform === "win32" ? `$env:${variable} = "${value}"` : `export ${variable}="${value}"`;
}

/** How this system's shell removes a file. */
export function remove(file: string, platform: NodeJS.Platform = process.platform): string {
  return platform === "win32" ? `Remove-Item "${file}"` : `rm ${shellQuoted(file)}`;
}
