/** What people call the principals of operations: a record has only their ids. */
import type { Principals } from "../auth/authenticator.js";

/** Ids of principals that are known, to their names. */
export async function namesOf(
  principals: Principals | undefined,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(
    [...new Set(ids)].map(async (id) => {
      // A name is a help for readers: without it, the id says whose it is.
      const principal = await principals?.find(id).catch(() => undefined);
      return principal ? [[id, principal.name] as const] : [];
    }),
  );
  return new Map(found.flat());
}

/** A field of an answer, or none. */
export function nameField(names: ReadonlyMap<string, string>, id: string): { principal_name?: string } {
  const name = names.get(id);
  return name === undefined ? {} : { principal_name: name };
}
