/** Who may do what: a principal's role, and the Editors and tools that it may use. Pure; src/gateway/access.ts applies it. */
import type { Band } from "./operation.js";

/** Each may do what those before it may. */
export const ROLES = ["read", "submit", "operate", "admin"] as const;

/**
 * `read`: tools that only read. `submit`: every tool, and its own operations. `operate`: sees everybody's work on the
 * operators' pages. `admin`: the audit log.
 */
export type Role = (typeof ROLES)[number];

/** Names by globs: what `allow` has and `deny` does not. */
export interface Selection {
  allow: readonly string[];
  deny: readonly string[];
}

export interface Principal {
  /**
   * Never changes and never comes again: it is part of every hash (▲2). A name that is revoked and made anew has
   * another, and so inherits nothing.
   */
  id: string;
  /** What people call it. */
  name: string;
  role: Role;
  /** Whether somebody waits for its calls, or they are work in bulk that lets others go first. */
  band: Band;
  /** By id. */
  editors: Selection;
  /** By name. */
  tools: Selection;
}

export const EVERYTHING: Selection = { allow: ["*"], deny: [] };

/** This user of this machine. */
export const LOCAL: Principal = {
  id: "local",
  name: "local",
  role: "admin",
  band: "interactive",
  editors: EVERYTHING,
  tools: EVERYTHING,
};

export function hasRole({ role }: Pick<Principal, "role">, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
