/** A client's file on disk: read as it is, replaced as a whole or not at all, with a copy of the old one. */
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
  /** Undefined if there is none yet. */
  bytes: Buffer | undefined;
  /** Without the byte order mark; "" if there is no file. */
  text: string;
}

const BOM = "\uFEFF";

/** Throws if the file exists but cannot be read, or is not UTF-8. */
export async function readClientFile(path: string): Promise<ClientFile> {
  const bytes = await bytesOf(path);
  if (bytes === undefined) return { path, bytes, text: "" };
  try {
    // The decoder removes the mark; replaceClientFile puts it back.
    return { path, bytes, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    throw new Error(`${path} is not UTF-8 text and was left as it is: save it as UTF-8, then run this again`);
  }
}

export interface Replacement {
  text: string;
  /** It holds a token, so only its owner may read the file. */
  isSecret: boolean;
  now: Date;
}

/**
 * Writes the file anew and answers where the copy of the old one is (undefined if there was none).
 *
 * A reader sees the old file or the new one: the text goes to a file beside it, which then replaces it. Clients write
 * these files themselves, so a file that changed since it was read is not replaced. Owner and mode stay (with a token others lose
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

/** Never replaces another file; the mode is exact, whatever the umask. */
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
    // Under sudo the file keeps its owner; elsewhere it has it already, or changing it is not allowed.
    if (owner !== undefined) await handle.chown(owner.uid, owner.gid).catch(() => undefined);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A rename would succeed, but write access was removed on purpose. */
async function refuseReadOnly(file: ClientFile, mode: number | undefined): Promise<void> {
  if (mode === undefined) return;
  const isAllowed = await access(file.path, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (isAllowed && (mode & 0o222) !== 0) return;
  throw new Error(`${file.path} is read-only and was left as it is: make it writable, then run this again`);
}

/** The target of a symbolic link, even if nothing is there yet. */
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
