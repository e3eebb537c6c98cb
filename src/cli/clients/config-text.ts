/** A client's configuration as text: reads values from it, and edits it without changing anything else. */
import { isDeepStrictEqual } from "node:util";

export type Path = readonly string[];

/** One format; both sides of every function are the text without a byte order mark. */
export interface ConfigText {
  /** The text as data, `{}` when it is empty; throws an error that names the line. */
  read(text: string): Record<string, unknown>;
  /** Writes a value at a path, creating the tables on its way. */
  set(text: string, path: Path, value: unknown): string;
  /** Removes the value at a path; the table around it stays. */
  remove(text: string, path: Path): string;
  /** A text with only that value. */
  fragment(path: Path, value: unknown): string;
}

/** The value at a path; undefined if there is none. */
export function at(data: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? (value as Record<string, unknown>)[key]
        : undefined,
    data,
  );
}

/**
 * Throws if an edit changed anything except the value at the path, or failed to change that.
 *
 * The files belong to other programs and people: an edit of a text that it does not understand (a repeated key,
 * for example) must not be written.
 */
export function assertOnlyChanged(
  format: ConfigText,
  before: string,
  after: string,
  path: Path,
  value: unknown,
): void {
  const old = format.read(before);
  const now = format.read(after);
  const held = isDeepStrictEqual(plain(at(now, path)), plain(value));
  if (!held || !isDeepStrictEqual(without(old, path), without(now, path))) {
    throw new Error(`${path.join(".")} cannot be changed without changing something else`);
  }
}

/** Parsers make objects with different prototypes; only the content counts. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** The data without the value at the path, and without tables on the way that are then empty. */
function without(data: unknown, [key = "", ...rest]: Path): unknown {
  if (typeof data !== "object" || data === null) return data;
  const { [key]: inner, ...others } = data as Record<string, unknown>;
  if (rest.length === 0 || inner === undefined) return others;
  const left = without(inner, rest);
  const isEmpty = typeof left === "object" && left !== null && Object.keys(left).length === 0;
  return isEmpty ? others : { ...others, [key]: left };
}
