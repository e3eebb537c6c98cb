/** A client's file on the disk: read as it is, replaced whole or not at all, with a copy of what was there. */
import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import {
  access,
  constants,
  lstat,
  mkdir,
  open,
  readFile,
  readlink,
  rename,
  rm,
  stat,
} from "node:fs/promises";
import { dirname, resolve } from "node:path";

export interface ClientFile {
  /** As the client names it; may be a symbolic link. */
  path: string;
  /** Undefined when there is none yet. */
  bytes: Buffer | undefined;
  /** Without the byte order mark; "" when there is no file. */
  text: string;
}

const BOM = "\uFEFF";

/** Throws when the file is there and cannot be read, or is not UTF-8. */
export async function readClientFile(path: string): Promise<ClientFile> {
  const bytes = await bytesOf(path);
  if (bytes === undefined) return { path, bytes, text: "" };
  try {
    // It takes the mark away; replaceClientFile puts it back.
    return { path, bytes, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    throw new Error(`${path} is not UTF-8 text and was left as it is: save it as UTF-8, then run this again`);
  }
}

export interface Replacement {
  text: string;
  /** It holds a token: the file is for its owner only. */
  isSecret: boolean;
  now: Date;
}

/**
 * Writes the file anew and answers where the copy of the old one is (undefined when there was none).
 *
 * A reader sees the old file or the new one: the text goes to a file beside it that takes its place. Clients write
 * these files themselves, so nothing is replaced that is not what was read. Owner and mode stay (with a token others lose
 * their rights), and a symbolic link stays one (people keep their settings in a repository). Rejects with what to do when it cannot be written.
 */
export async function replaceClientFile(file: ClientFile, wanted: Replacement): Promise<string | undefined> {
  const target = await targetOf(file.path);
  const before = file.bytes === undefined ? undefined : await stat(target);
  await refuseReadOnly(file, before?.mode);
  await mkdir(dirname(target), { recursive: true });
  const kept = before === undefined ? 0o644 : before.mode & 0o7777;
  const mode = wanted.isSecret ? kept & ~0o077 : kept;
  const temporary = `${target}.${randomBytes(6).toString("hex")}.tmp`;
  const hasMark = file.bytes?.subarray(0, 3).equals(Buffer.from(BOM)) ?? false;
  try {
    await write(temporary, (hasMark ? BOM : "") + wanted.text, mode, before);
    const now = await bytesOf(target);
    if (now === undefined ? file.bytes !== undefined : !file.bytes?.equals(now)) {
      throw new Error(
        `${file.path} was changed by somebody else just now and was left as it is: run this again`,
      );
    }
    const backup = before === undefined ? undefined : await backUp(file, before, wanted.now);
    await rename(temporary, target);
    return backup;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function backUp(file: ClientFile, before: Stats, now: Date): Promise<string> {
  const backup = `${file.path}.backup-${now.toISOString().replace(/[:.]/g, "-")}`;
  await write(backup, file.bytes ?? "", before.mode & 0o7777, before);
  return backup;
}

/** Never over another file; the mode holds whatever the umask. */
async function write(
  path: string,
  content: string | Buffer,
  mode: number,
  owner?: { uid: number; gid: number },
): Promise<void> {
  const handle = await open(path, "wx", mode);
  try {
    await handle.writeFile(content);
    await handle.chmod(mode);
    // Under sudo the file stays its owner's; elsewhere it is so already, or not allowed.
    if (owner !== undefined) await handle.chown(owner.uid, owner.gid).catch(() => undefined);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Renaming over it would succeed, but somebody who took the right to write away meant it. */
async function refuseReadOnly(file: ClientFile, mode: number | undefined): Promise<void> {
  if (mode === undefined) return;
  const isAllowed = await access(file.path, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (isAllowed && (mode & 0o222) !== 0) return;
  throw new Error(`${file.path} is read-only and was left as it is: make it writable, then run this again`);
}

/** Where a symbolic link leads, also when nothing is there yet. */
async function targetOf(path: string, hops = 40): Promise<string> {
  const link = await lstat(path).catch(() => undefined);
  if (!link?.isSymbolicLink()) return path;
  if (hops === 0)
    throw new Error(`${path} is a symbolic link that leads to itself: fix it, then run this again`);
  return targetOf(resolve(dirname(path), await readlink(path)), hops - 1);
}

async function bytesOf(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(`${path} cannot be read (${(error as Error).message}): fix that, then run this again`);
  }
}
