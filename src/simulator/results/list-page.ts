/**
 * Which operations an answer to `operation/list` contains; pure. The C# bridge has a twin of this, and both read
 * test/golden/list.json.
 *
 * A cursor names a place in the order of acceptance, which no operation ever changes, so that no event
 * between two pages can skip one.
 */
export interface Listable {
  operationId: string;
  /** Absent when it was revoked before it was ever submitted. */
  acceptedAt?: number;
}

export interface PageLimits {
  operations: number;
  /** Characters of JSON; a single operation may have more. */
  characters: number;
}

export interface ListPage<T> {
  page: T[];
  /** Absent on the last page. */
  nextCursor?: string;
}

interface Place {
  acceptedAt: number;
  operationId: string;
}

/** Undefined if the cursor is invalid. */
export function listPage<T extends Listable>(
  operations: readonly T[],
  cursor: string | undefined,
  charactersOf: (operation: T) => number,
  limits: PageLimits,
): ListPage<T> | undefined {
  const behind = cursor === undefined ? undefined : placeOfCursor(cursor);
  if (cursor !== undefined && behind === undefined) return undefined;
  const all = operations
    .filter((operation) => !behind || compare(placeOf(operation), behind) > 0)
    .sort((a, b) => compare(placeOf(a), placeOf(b)));
  const page = all.slice(0, fitting(all, charactersOf, limits));
  const last = page.at(-1);
  return last === undefined || page.length === all.length
    ? { page }
    : { page, nextCursor: cursorOf(placeOf(last)) };
}

/** How many fit; at least one, so that every page makes progress. */
function fitting<T>(all: readonly T[], charactersOf: (one: T) => number, limits: PageLimits): number {
  let characters = 0;
  for (const [index, one] of all.entries()) {
    characters += charactersOf(one);
    if (index >= limits.operations || (index > 0 && characters > limits.characters)) return index;
  }
  return all.length;
}

function placeOf({ operationId, acceptedAt }: Listable): Place {
  return { acceptedAt: acceptedAt ?? 0, operationId };
}

function compare(a: Place, b: Place): number {
  if (a.acceptedAt !== b.acceptedAt) return a.acceptedAt - b.acceptedAt;
  if (a.operationId === b.operationId) return 0;
  return a.operationId < b.operationId ? -1 : 1;
}

function cursorOf({ acceptedAt, operationId }: Place): string {
  return `${acceptedAt}:${operationId}`;
}

function placeOfCursor(cursor: string): Place | undefined {
  const [, acceptedAt, operationId] = /^(\d+):(.*)$/s.exec(cursor) ?? [];
  if (acceptedAt === undefined || operationId === undefined) return undefined;
  return { acceptedAt: Number(acceptedAt), operationId };
}
