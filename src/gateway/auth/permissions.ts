/** What a principal may see and do. Evaluated at each call, so that a change also applies to open sessions. */
import picomatch from "picomatch";
import { BrokerError } from "../../shared/errors.js";
import { hasRole, LOCAL, type NameFilter, type Principal } from "../../shared/principal.js";
import type { Tool } from "../../shared/tools/tool.js";
import type { Principals } from "./authenticator.js";

export interface Permissions {
  principal: Principal;
  /** An Editor that it may not use is unknown to it. */
  sees(editorId: string): boolean;
  /** It may use every Editor, also those that are not known yet. */
  seesAll: boolean;
  /** Why it may not call a tool; undefined if it may. */
  refusal(tool: Pick<Tool, "name" | "effect">): BrokerError | undefined;
}

/** The broker's own access: everything. */
const ALL: Permissions = { principal: LOCAL, sees: () => true, seesAll: true, refusal: () => undefined };

/** `id`: undefined for the broker itself. Throws UNAUTHORIZED if the principal was revoked. */
export async function permissionsOf(principals: Principals, id: string | undefined): Promise<Permissions> {
  if (id === undefined) return ALL;
  const principal = await principals.find(id);
  if (!principal) throw new BrokerError("UNAUTHORIZED", "This principal has been revoked.");
  const mayUse = matcherOf(principal.tools);
  return {
    principal,
    sees: seesEditor(principal),
    seesAll: seesEveryEditor(principal),
    refusal({ name, effect }) {
      if (effect !== "read_only" && !hasRole(principal, "submit"))
        return new BrokerError(
          "FORBIDDEN",
          `The role "read" may not call ${name}, which may change something.`,
        );
      if (!mayUse(name))
        return new BrokerError("FORBIDDEN", `The tool ${name} is not allowed for ${principal.name}.`);
      return undefined;
    },
  };
}

/** Also those that are not known yet. */
export function seesEveryEditor({ editors: { allow, deny } }: Pick<Principal, "editors">): boolean {
  return allow.includes("*") && deny.length === 0;
}

/** By the Editor's id. */
export function seesEditor({ editors }: Pick<Principal, "editors">): (editorId: string) => boolean {
  return matcherOf(editors);
}

/** Globs are compiled once: a principal has few, and every call evaluates them. */
const compiled = new Map<string, (name: string) => boolean>();
const KEPT = 1_000;

function matcherOf(selection: NameFilter): (name: string) => boolean {
  const key = JSON.stringify([selection.allow, selection.deny]);
  const known = compiled.get(key);
  if (known) return known;
  const [allowed, denied] = [anyOf(selection.allow), anyOf(selection.deny)];
  const matches = (name: string): boolean => allowed(name) && !denied(name);
  if (compiled.size >= KEPT) compiled.clear();
  compiled.set(key, matches);
  return matches;
}

/** A name is not a path: slashes and dots match literally, and `*` matches every name. */
function anyOf(globs: readonly string[]): (name: string) => boolean {
  if (globs.includes("*")) return () => true;
  return globs.length === 0 ? () => false : picomatch([...globs], { dot: true, bash: true });
}
