/** A client's configuration as text: what can be read from it, and edits that leave everything else as it was. */
import { isDeepStrictEqual } from "node:util";

export type Path = readonly string[];

/** One format; both sides of every function are the text without a byte order mark. */
export interface ConfigText {
  /** The text as data, `{}` when it is empty; throws an error that names the line. */
  read(text: string): Record<string, unknown>;
  /** Writes a value at a path, making the tables on its way. */
  set(text: string, path: Path, value: unknown): string;
  /** Removes what is at a path; the table around it stays. */
  remove(text: string, path: Path): string;
  /** A text of its own with only that value. */
  fragment(path: Path, value: unknown): string;
}

/** The value at a path; undefined where there is none. */
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
 * Throws when an edit changed anything but what is at the path, or did not bring that about.
 *
 * The files are other programs' and other people's: an edit that met a spelling it does not understand (a key twice,
 * say) must not be written.
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

/** Parsers make objects of different prototypes; only what they say counts. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** The data without what is at the path, and without tables on the way that are empty then. */
function without(data: unknown, [key = "", ...rest]: Path): unknown {
  if (typeof data !== "object" || data === null) return data;
  const { [key]: inner, ...others } = data as Record<string, unknown>;
  if (rest.length === 0 || inner === undefined) return others;
  const left = without(inner, rest);
  const isEmpty = typeof left === "object" && left !== null && Object.keys(left).length === 0;
  return isEmpty ? others : { ...others, [key]: left };
}
