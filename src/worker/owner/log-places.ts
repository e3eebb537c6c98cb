/**
 * Where an Editor's own log may be. An Editor names its log itself, and its end is shown to callers: so only Unity's own
 * places and those that the configuration names are read, and only regular files.
 */
import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, extname, join } from "node:path";

/** A folder whose logs may be read, or one log with the log that Unity keeps of the previous session. */
export interface LogPlaces {
  folders: readonly string[];
  files: readonly string[];
}

/** The places of this user, and the `named` ones: folders, or files by their full path. */
export function unityLogPlaces(named: readonly string[] = [], home = homedir()): LogPlaces {
  const linux = join(home, ".config", "unity3d");
  return {
    folders: [
      join(home, "Library", "Logs", "Unity"),
      join(home, "AppData", "Local", "Unity", "Editor"),
      ...named,
    ],
    files: [join(linux, "Editor.log"), join(linux, "Editor-prev.log"), ...named],
  };
}

/**
 * Opens the log to read it; undefined if it may not be read or does not exist. `projectPath`: the project whose folder
 * `Logs` is allowed too. A link may lead to an allowed file, but never out of the allowed places.
 */
export async function openLog(
  logFile: string,
  places: LogPlaces,
  projectPath: string | undefined,
): Promise<FileHandle | undefined> {
  try {
    const file = await realpath(logFile);
    if (!(await isAllowed(file, places, projectPath))) return undefined;
    // Neither follows a link that was put there since the check, nor waits for the writer of a pipe.
    const handle = await open(file, constants.O_RDONLY | NO_FOLLOW | NO_WAIT);
    if (await isOwnFile(handle, file)) return handle;
    await handle.close();
  } catch {
    // Missing, or not readable for this user.
  }
  return undefined;
}

/** Windows has neither. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NO_WAIT = constants.O_NONBLOCK ?? 0;

async function isAllowed(
  file: string,
  { folders, files }: LogPlaces,
  projectPath: string | undefined,
): Promise<boolean> {
  const among = async (places: readonly string[], path: string): Promise<boolean> =>
    (await Promise.all(places.map(realOf))).includes(path);
  if (await among(files, file)) return true;
  if (extname(file) !== ".log") return false;
  const folder = dirname(file);
  if (await among(folders, folder)) return true;
  // The folder itself, not the target of a link with this name.
  const project = projectPath === undefined ? undefined : await realOf(projectPath);
  return project !== undefined && basename(folder) === "Logs" && dirname(folder) === project;
}

/** A regular file of this user that has no other name, and is still at this place. */
async function isOwnFile(handle: FileHandle, file: string): Promise<boolean> {
  const status = await handle.stat();
  const own = process.getuid === undefined || status.uid === process.getuid();
  return status.isFile() && own && status.nlink === 1 && (await realpath(file)) === file;
}

function realOf(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined);
}
