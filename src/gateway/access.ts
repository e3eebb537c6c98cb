/** What a principal sees and may do here. Asked at each call: a change holds for sessions that are open, too. */
import picomatch from "picomatch";
import { BrokerError } from "../shared/errors.js";
import { hasRole, LOCAL, type Principal, type Selection } from "../shared/principal.js";
import type { Tool } from "../shared/tool.js";
import type { Principals } from "./auth/authenticator.js";

export interface Access {
  principal: Principal;
  /** An Editor that it may not use is one that it does not know. */
  sees(editorId: string): boolean;
  /** Why it may not call a tool; undefined: it may. */
  refusal(tool: Pick<Tool, "name" | "effect">): BrokerError | undefined;
}

/** Of the broker itself: what it tells of everything. */
const ALL: Access = { principal: LOCAL, sees: () => true, refusal: () => undefined };

/** `id`: undefined for the broker itself. Throws UNAUTHORIZED where the principal was revoked. */
export async function accessOf(principals: Principals, id: string | undefined): Promise<Access> {
  if (id === undefined) return ALL;
  const principal = await principals.find(id);
  if (!principal) throw new BrokerError("UNAUTHORIZED", "This principal has been revoked.");
  const mayUse = matcherOf(principal.tools);
  return {
    principal,
    sees: seesEditor(principal),
    refusal({ name, effect }) {
      if (effect !== "read_only" && !hasRole(principal, "submit"))
        return new BrokerError(
          "FORBIDDEN",
          `The role "read" does not call ${name}, which may change something.`,
        );
      if (!mayUse(name))
        return new BrokerError("FORBIDDEN", `The tool ${name} is not allowed for ${principal.name}.`);
      return undefined;
    },
  };
}

/** By the Editor's id. */
export function seesEditor({ editors }: Pick<Principal, "editors">): (editorId: string) => boolean {
  return matcherOf(editors);
}

/** Globs are compiled once: a principal's are few, and asked for with every call. */
const compiled = new Map<string, (name: string) => boolean>();
const KEPT = 1_000;

function matcherOf(selection: Selection): (name: string) => boolean {
  const key = JSON.stringify([selection.allow, selection.deny]);
  const known = compiled.get(key);
  if (known) return known;
  const [allowed, denied] = [anyOf(selection.allow), anyOf(selection.deny)];
  const matches = (name: string): boolean => allowed(name) && !denied(name);
  if (compiled.size >= KEPT) compiled.clear();
  compiled.set(key, matches);
  return matches;
}

/** A name is no path: its slashes and dots are letters like others, and `*` is every name. */
function anyOf(globs: readonly string[]): (name: string) => boolean {
  if (globs.includes("*")) return () => true;
  return globs.length === 0 ? () => false : picomatch([...globs], { dot: true, bash: true });
}
