/** The private directory of the socket, short enough for its path. */
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import type { Environment } from "./directories.js";
import { redisNotStarted } from "./redis-errors.js";

/** The longest path that a unix socket may have on macOS (104 bytes with the terminator); Linux allows 107. */
const LONGEST_SOCKET_PATH = 103;

const REDIS_SOCKET = "redis.sock";

/** Names to try in a shared temporary directory, where other users may have taken the first ones. */
const NAMES = 10;

/**
 * Creates a directory for a socket that belongs to this data, which only this user may enter, and answers the socket's path.
 *
 * It is in XDG_RUNTIME_DIR if that is private, else in the temporary directory. A directory that is another
 * user's, a link, or open to others is never used: the next name is tried. Throws if none is left.
 */
export function makeSocketPath(
  dataDirectory: string,
  env: Environment,
  temporary = tmpdir(),
  name = REDIS_SOCKET,
): string {
  const problems: string[] = [];
  for (const path of socketPaths(dataDirectory, env, temporary, name)) {
    const directory = dirname(path);
    const problem = makePrivate(dirname(directory)) ?? makePrivate(directory);
    if (problem === undefined) return path;
    problems.push(problem);
  }
  throw redisNotStarted(
    `There is no private place for the socket of the embedded Redis: ${problems[0]}. ` +
      "Remove it, or set XDG_RUNTIME_DIR or TMPDIR to a directory that is yours alone (mode 0700).",
  );
}

/** The possible socket paths of a server of this data: short, however deep the data directory is, and the same at each start. */
export function socketPaths(
  dataDirectory: string,
  { XDG_RUNTIME_DIR: runtime }: Environment,
  temporary = tmpdir(),
  name = REDIS_SOCKET,
): string[] {
  const data = createHash("sha256").update(dataDirectory).digest("hex").slice(0, 8);
  const uid = userInfo().uid;
  const below = (root: string): string => join(root, data, name);
  const names = Array.from({ length: NAMES }, (_, n) => (n === 0 ? `ujb-${uid}` : `ujb-${uid}-${n}`));
  const isUsable = runtime && isAbsolute(runtime) && problemWith(runtime) === undefined;
  const isShort = (path: string): boolean => Buffer.byteLength(path) <= LONGEST_SOCKET_PATH;
  const inTemporary = names.map((name) => below(join(temporary, name)));
  return [
    ...(isUsable ? [below(join(runtime, "ujb"))].filter(isShort) : []),
    ...(inTemporary.every(isShort) ? inTemporary : names.map((name) => below(join("/tmp", name)))),
  ];
}

/**
 * Can only this user have created what is at this path? True if its directory and the one above are private.
 *
 * Check this before each use of an earlier start's path: a cleaner of temporary files may have removed it since, and
 * another user may have taken the name.
 */
export function isPrivateSocket(path: string): boolean {
  const directory = dirname(path);
  return problemWith(dirname(directory)) === undefined && problemWith(directory) === undefined;
}

/** Removes a socket without a listener, and its directory if that is then empty. */
export function removeSocket(path: string): void {
  if (!isPrivateSocket(path)) return;
  rmSync(path, { force: true });
  try {
    rmdirSync(dirname(path));
  } catch {
    // Removed already, or no longer empty: neither is in the way.
  }
}

/** The problem with a run directory or another private one; undefined if only this user has access. */
export function problemWith(directory: string): string | undefined {
  const uid = userInfo().uid;
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return `${directory} is not a directory`;
  if (found.uid !== uid) return `${directory} belongs to user ${found.uid}, not to you (${uid})`;
  return (found.mode & 0o077) === 0 ? undefined : `${directory} is open to others`;
}

function makePrivate(directory: string): string | undefined {
  try {
    mkdirSync(dirname(directory), { recursive: true });
    // Not recursive: a recursive mkdir would follow a link that another user put there.
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "EEXIST") return message;
  }
  return problemWith(directory);
}
