import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { redisNotStarted } from "./redis-errors.js";

/** The longest path that a unix socket may have on macOS (104 bytes with the terminator); Linux allows 107. */
const LONGEST_SOCKET_PATH = 103;

/** The socket of the server for this data: short however deep the data lies, and the same at each start. */
export function socketPath(dataDirectory: string, temporary = tmpdir()): string {
  const data = createHash("sha256").update(dataDirectory).digest("hex").slice(0, 8);
  const below = (root: string) => join(root, `ujb-${userInfo().uid}`, data, "redis.sock");
  const wanted = below(temporary);
  return Buffer.byteLength(wanted) <= LONGEST_SOCKET_PATH ? wanted : below("/tmp");
}

/**
 * Makes the directory of a socket, which only this user may enter.
 *
 * Rejects one that somebody else made there first, as anybody can in a shared temporary directory.
 */
export function makeRunDirectory(socket: string): void {
  const directory = dirname(socket);
  const parent = dirname(directory);
  mkdirSync(dirname(parent), { recursive: true });
  for (const own of [parent, directory]) makePrivate(own, userInfo().uid);
}

/** Whether a socket path of an earlier start can serve again: its directory is there, and only ours. */
export function isPrivate(directory: string): boolean {
  return problemWith(directory, userInfo().uid) === undefined;
}

/** Removes a socket that nobody listens on any more, and its directory if nothing else is in it. */
export function removeSocket(path: string): void {
  rmSync(path, { force: true });
  try {
    rmdirSync(dirname(path));
  } catch {
    // Gone already, or somebody put something there: either way it is not in the way.
  }
}

function makePrivate(directory: string, uid: number): void {
  // Not recursive: only then may nobody slip a link in between.
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const problem = problemWith(directory, uid);
  if (problem === "is open to others") chmodSync(directory, 0o700);
  else if (problem)
    throw redisNotStarted(`${directory} ${problem}: remove it, or set TMPDIR to a directory of your own.`);
}

function problemWith(directory: string, uid: number): string | undefined {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return "is not a directory";
  if (found.uid !== uid) return `belongs to user ${found.uid}, not to you (${uid})`;
  return (found.mode & 0o077) === 0 ? undefined : "is open to others";
}
