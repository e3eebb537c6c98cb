/** Folders and files that only this user may read: restricted if this user may do that, else refused with instructions. */
import { randomBytes, randomUUID } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";

/** Another user controls the file or folder, and so what this process reads. */
export class NotPrivate extends Error {
  override readonly name = "NotPrivate";
}

/** Creates it with mode 0700, or removes everybody else's access to an existing one. Throws NotPrivate. */
export function makeOwnFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  ownFolder(folder);
}

/** Removes everybody else's access to a folder, if it exists. Throws NotPrivate. */
export function ownFolder(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found) return;
  if (!isOfThisUser(found)) {
    throw new NotPrivate(
      `The folder ${folder} belongs to another user, who could read and change what is kept there. Give it to this user, or remove it: rm -r ${shellQuoted(folder)}`,
    );
  }
  tighten(folder, found, 0o700);
}

/**
 * For a folder that the user chose and may use for other things: its mode stays. Throws NotPrivate if it is another user's, if others
 * may put files there (the sticky bit does not help: what they make first is theirs), or if they have done so before.
 */
export function requirePrivateFolder(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found) return;
  if (!isChangedByOthers(found)) {
    requireOwnEntries(folder);
    return;
  }
  const fix =
    isOfThisUser(found) && (found.mode & 0o1000) === 0
      ? `Remove their write access: chmod go-w ${shellQuoted(folder)}`
      : `Choose a folder of your own, for example ${join(folder, "unity-job-broker")}, and make it yours first: mkdir -m 700 <folder>`;
  throw new NotPrivate(`Other users may put files into ${folder}, and so control what is read there. ${fix}`);
}

function requireOwnEntries(folder: string): void {
  for (const path of readdirSync(folder).map((name) => join(folder, name))) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found && !isOfThisUser(found))
      throw new NotPrivate(
        `${path} belongs to another user, who could read and change what is kept there. Remove it: rm -r ${shellQuoted(path)}`,
      );
  }
}

/** Replaces a file in one step, for this user alone. Where that fails the old one stays, and nothing beside it. */
export function replaceOwnFile(file: string, text: string): void {
  const fresh = `${file}.${randomBytes(4).toString("hex")}`;
  try {
    writeFileSync(fresh, text, { mode: 0o600 });
    renameSync(fresh, file);
  } finally {
    rmSync(fresh, { force: true });
  }
}

/**
 * The same for what a power cut must not tear, unless `mayReplace` says no by then; answers whether it was replaced. Nothing of this
 * process comes between a `mayReplace` that answers at once and the replacement.
 */
export async function replaceDurably(
  file: string,
  text: string,
  mayReplace: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const fresh = `${file}.${randomUUID()}`;
  try {
    const handle = await open(fresh, "wx", 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    const answer = mayReplace();
    const may = typeof answer === "boolean" ? answer : await answer;
    if (may) renameSync(fresh, file);
    return may;
  } finally {
    await rm(fresh, { force: true });
  }
}

/** Removes everybody else's access to an existing file. Throws NotPrivate if another user owns it. */
export function ownFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return;
  if (!isOfThisUser(found)) {
    throw new NotPrivate(`The file ${file} belongs to another user. Remove it: rm ${shellQuoted(file)}`);
  }
  tighten(file, found, 0o600);
}

/** Root's files count as well: root reads and writes everything anyway. */
export function isOfThisUser({ uid }: Pick<Stats, "uid">): boolean {
  const own = process.getuid?.();
  return own === undefined || uid === own || uid === 0;
}

/** Whether somebody else may change the file or folder. */
export function isChangedByOthers(found: Pick<Stats, "uid" | "mode">): boolean {
  return !isOfThisUser(found) || (process.getuid !== undefined && (found.mode & 0o022) !== 0);
}

/** A file name quoted for a POSIX shell. */
export function shellQuoted(file: string): string {
  return `'${file.replaceAll("'", `'\\''`)}'`;
}

function tighten(path: string, { uid, mode }: Stats, to: number): void {
  if (uid === process.getuid?.() && (mode & 0o077) !== 0) chmodSync(path, to);
}
