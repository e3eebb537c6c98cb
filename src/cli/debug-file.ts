/** The log file of MCP_DEBUG: it belongs to this user, in a folder that may be shared with others. */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  type Stats,
} from "node:fs";
import { join } from "node:path";

/** Most logs kept, this one included. */
const KEPT = 20;

/** Only files with such names are ever deleted: the folder may contain other logs. */
const OWN_NAME = /^unity-broker-[a-z]+-\d+\.log$/;

/**
 * Opens the log of this process in `folder` and deletes all but the newest of the earlier ones.
 *
 * Follows no link and writes to no file of another user: a shared folder may contain either, under a name that is
 * easy to guess. Throws if the file cannot be used.
 */
export function openDebugFile(folder: string, command: string): { file: string; descriptor: number } {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const word = /^[a-z]+$/.test(command) ? command : "broker";
  const file = join(folder, `unity-broker-${word}-${process.pid}.log`);
  // Windows has neither of the last two. Without O_NONBLOCK, opening a pipe waits for its reader.
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const descriptor = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    const found = fstatSync(descriptor);
    if (!isOwn(found)) throw new Error(`${file} is not a regular file of this user: delete it`);
    // A log of an earlier process with this id may be readable for others.
    fchmodSync(descriptor, 0o600);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  prune(folder);
  return { file, descriptor };
}

/** A second name of a file (a hard link) may lead to one that is not a log at all. */
function isOwn(found: Stats): boolean {
  const uid = process.getuid?.();
  return found.isFile() && found.nlink === 1 && (uid === undefined || found.uid === uid);
}

function prune(folder: string): void {
  const logs = readdirSync(folder)
    .filter((name) => OWN_NAME.test(name))
    .map((name) => ({
      file: join(folder, name),
      found: lstatSync(join(folder, name), { throwIfNoEntry: false }),
    }))
    .filter(({ found }) => found !== undefined && isOwn(found))
    .sort((one, other) => (other.found?.mtimeMs ?? 0) - (one.found?.mtimeMs ?? 0));
  for (const { file } of logs.slice(KEPT)) {
    try {
      rmSync(file, { force: true });
    } catch {
      // Windows does not delete a log that a process still writes.
    }
  }
}
