/** A principal's role, and the Editors and tools that it may use. Pure; src/gateway/auth/authenticator.ts applies it. */

import { createHash } from "node:crypto";
import type { Caller, PriorityClass } from "./operation/operation.js";
import { head, printableLine } from "./printable.js";

/** Each role includes those before it. */
export const ROLES = ["read", "submit", "operate", "admin"] as const;

/**
 * `read`: tools that only read. `submit`: every tool, and its own operations. `operate`: sees that others'
 * operations are and how, and ends them; pauses and forgets Editors. `admin`: the audit log.
 */
export type Role = (typeof ROLES)[number];

/** Names by globs: those in `allow` that are not in `deny`. */
export interface NameFilter {
  allow: readonly string[];
  deny: readonly string[];
}

export interface Principal {
  /**
   * Never changes and is never reused: it is part of every hash (▲2). A name that is revoked and created again gets a new
   * id, and so inherits nothing.
   */
  id: string;
  /** What people call it. */
  name: string;
  role: Role;
  /** Whether a person waits for its calls, or they are bulk work that lets others go first. */
  priorityClass: PriorityClass;
  /** By id. */
  editors: NameFilter;
  /** By name. */
  tools: NameFilter;
}

export const EVERYTHING: NameFilter = { allow: ["*"], deny: [] };

/** The user of this machine. */
export const LOCAL: Principal = {
  id: "local",
  name: "local",
  role: "admin",
  priorityClass: "interactive",
  editors: EVERYTHING,
  tools: EVERYTHING,
};

export function hasRole({ role }: Pick<Principal, "role">, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

// A client whose runs are processes of their own, and that is one caller all the same: the command line. It names itself in
// `initialize`, under `capabilities.experimental`, over any transport; and it says when a person, or a file, has the outcome,
// so that one that dies before has not read it.

const CAPABILITY = "unity-broker/caller";
const READ = "unity-broker/read";

/** `_meta` of a request by which such a client says that it has read the outcome of the operation that the request names. */
export const SAYS_READ = { [READ]: true };

/** Does a request with these parameters say so? */
export function saysRead(params: { _meta?: unknown } | undefined): boolean {
  return objectIn(params?._meta)[READ] === true;
}

/** What such a client declares. */
export function declaredCaller(name: string): { experimental: Record<string, { name: string }> } {
  return { experimental: { [CAPABILITY]: { name } } };
}

/** Who sends the requests of a session: the client under the name that it declares, else the session. */
export function callerOf(session: Caller, capabilities: { experimental?: unknown } | undefined): Caller {
  const { name } = objectIn(objectIn(capabilities?.experimental)[CAPABILITY]);
  if (typeof name !== "string" || name === "") return session;
  const id = createHash("sha256").update(name).digest("hex").slice(0, 32);
  return { id: `cli:${id}`, transport: session.transport, readsByName: true };
}

/** The object that it is, else an empty one. */
export const objectIn = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

// What an MCP client calls itself (`clientInfo` of its initialize): a label for people, and hostile input. Nothing is
// decided by it.

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
