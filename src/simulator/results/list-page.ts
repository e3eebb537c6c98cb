/**
 * Which operations an answer to `operation/list` contains; pure. The C# bridge has a twin of this, and both read
 * test/golden/list.json.
 *
 * A cursor names a place in the order of acceptance, which no operation ever changes, so that no event
 * between two pages can skip one. Open and unacknowledged operations come first, because an older worker reads one page
 * only; after that page they are listed again in their places.
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

const BEGINNING: Place = { acceptedAt: 0, operationId: "" };

/** Undefined if the cursor is invalid. */
export function listPage<T extends Listable>(
  operations: readonly T[],
  cursor: string | undefined,
  of: { comesFirst(operation: T): boolean; characters(operation: T): number },
  limits: PageLimits,
): ListPage<T> | undefined {
  const behind = cursor === undefined ? undefined : placeOfCursor(cursor);
  if (cursor !== undefined && behind === undefined) return undefined;
  const first = behind ? [] : operations.filter((operation) => of.comesFirst(operation));
  const inOrder = operations
    .filter((operation) => (behind ? compare(placeOf(operation), behind) > 0 : !of.comesFirst(operation)))
    .sort((a, b) => compare(placeOf(a), placeOf(b)));
  const all = [...first, ...inOrder];
  const page = all.slice(0, fitting(all, of.characters, limits));
  if (page.length === all.length) return { page };
  const last = page.length > first.length ? page.at(-1) : undefined;
  return { page, nextCursor: cursorOf(last ? placeOf(last) : BEGINNING) };
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
