/** Text of a tool or an Editor in the log of a pipeline: what looks like a command to its runner is text for the runner too. */
import { randomUUID } from "node:crypto";

/** Text of any number of lines, for GitHub Actions. */
export function withoutCommands(text: string): string {
  const end = randomUUID();
  return `::stop-commands::${end}\n${text}\n::${end}::`;
}

/** JSON of the same value. */
export function jsonWithoutCommands(text: string): string {
  return text.replaceAll("##", "#\\u0023");
}

/**
 * One line. Runners find `##[…]` (GitHub), `##vso[…]` (Azure) and `##teamcity[…]` anywhere in it, and `::…` at its beginning:
 * so a line with foreign text begins with something else.
 */
export function lineWithoutCommands(line: string): string {
  return line.replace(/##(?=[a-z]*\[)/gi, "## ");
}
