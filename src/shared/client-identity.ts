/**
 * What an MCP client calls itself (`clientInfo` of its initialize): a label for people, and hostile input. Nothing is
 * decided by it.
 */
import { printableLine } from "./printable.js";
import { head } from "./shortened-text.js";

export interface ClientIdentity {
  name: string;
  /** "": it gave none. */
  version: string;
}

/** UTF-16 units. A name of ordinary clients has about ten. */
const MOST_NAME = 64;
const MOST_VERSION = 32;

const UNNAMED = "unnamed client";

/**
 * One line each, of bounded length, with a code in place of each control character. Idempotent: what was read from the
 * store passes it again.
 */
export function clientIdentity(given: { name: string; version: string }): ClientIdentity {
  return { name: line(given.name, MOST_NAME) || UNNAMED, version: line(given.version, MOST_VERSION) };
}

/** As one text: "claude-code 1.0.3". */
export function clientLabel(given: { name: string; version: string }): string {
  const { name, version } = clientIdentity(given);
  return version === "" ? name : `${name} ${version}`;
}

function line(text: string, limit: number): string {
  // A little more than is shown, so that the cut is seen; the codes of control characters only make it longer.
  const whole = printableLine(text.slice(0, limit + 1).toWellFormed()).trim();
  if (whole.length <= limit) return whole;
  return `${head(whole, limit - 1)}…`;
}
