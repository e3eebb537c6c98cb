/** A principal's role, and the Editors and tools that it may use. Pure; src/gateway/auth/permissions.ts applies it. */
import type { PriorityClass } from "./operation/operation.js";

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
