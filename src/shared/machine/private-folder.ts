/** Folders and files that only this user may read: tightened where this user may do that, else refused with what to do. */
import { chmodSync, mkdirSync, type Stats, statSync } from "node:fs";

/** Another user has it in hand: who writes there decides what this process reads. */
export class NotPrivate extends Error {
  override readonly name = "NotPrivate";
}

/** Makes it with mode 0700, or takes everybody else's rights from one that is there. Throws NotPrivate. */
export function makeOwnFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  ownFolder(folder);
}

/** Takes everybody else's rights from a folder, if it is there. Throws NotPrivate. */
export function ownFolder(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found) return;
  if (!isOfThisUser(found)) {
    throw new NotPrivate(
      `The folder ${folder} belongs to another user, who could read and change what is kept there. Give it to this user, or remove it: rm -r ${quoted(folder)}`,
    );
  }
  tighten(folder, found, 0o700);
}

/**
 * For a folder that somebody chose, and may use for more: it keeps its rights. Throws NotPrivate where others may put files
 * there.
 */
export function checkFolder(folder: string): void {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0;
  // In one with the sticky bit nobody replaces the files of others.
  if (process.getuid === undefined || (mode & 0o022) === 0 || (mode & 0o1000) !== 0) return;
  throw new NotPrivate(
    `Other users may put files into ${folder}, and so decide what is read there. Take that right away: chmod go-w ${quoted(folder)}`,
  );
}

/** Takes everybody else's rights from a file that is there. Throws NotPrivate for one of another user. */
export function ownFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return;
  if (!isOfThisUser(found)) {
    throw new NotPrivate(`The file ${file} belongs to another user. Remove it: rm ${quoted(file)}`);
  }
  tighten(file, found, 0o600);
}

/** Root's as well: it reads and writes everything anyway. */
export function isOfThisUser({ uid }: Pick<Stats, "uid">): boolean {
  const own = process.getuid?.();
  return own === undefined || uid === own || uid === 0;
}

/** A name for a POSIX shell. */
export function quoted(file: string): string {
  return `'${file.replaceAll("'", `'\\''`)}'`;
}

function tighten(path: string, { uid, mode }: Stats, to: number): void {
  if (uid === process.getuid?.() && (mode & 0o077) !== 0) chmodSync(path, to);
}
