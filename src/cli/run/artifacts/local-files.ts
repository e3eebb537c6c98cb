/** Hashes files of an Editor on this machine: only within its project and its output folder, wherever links lead. */
import { createHash } from "node:crypto";
import { constants, realpathSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, isAbsolute, relative, resolve } from "node:path";

export type LocalFile =
  /** `bytes`: what is there now. */
  | { state: "hashed"; bytes: number; sha256: string }
  /** More than may be hashed. */
  | { state: "too_large"; bytes: number }
  | { state: "missing" }
  /** It, or a link on the way to it, leads out of the folders; or it is no regular file. Not read. */
  | { state: "refused" };

export interface LocalFiles {
  /** One at a time. Rejects where a file that is there cannot be read, and when the signal aborts. */
  look(path: string, signal: AbortSignal): Promise<LocalFile>;
}

/** `output`: a file or a folder. `mostBytes`: of all files together. */
export function createLocalFiles(
  { project, output }: { project: string; output: string | undefined },
  mostBytes: number,
): LocalFiles {
  const folders = [project, ...(output === undefined ? [] : [folderOf(resolve(project, output))])].flatMap(
    (folder) => realOf(folder) ?? [],
  );
  let left = mostBytes;
  return {
    async look(path, signal) {
      const absolute = resolve(project, path);
      const real = realOf(absolute);
      // A link that leads nowhere is missing, too: nothing is behind it.
      if (real === undefined) return { state: "missing" };
      if (!folders.some((folder) => isWithin(folder, real))) return { state: "refused" };
      // The name cannot lead elsewhere any more since it was resolved.
      const file = await open(real, constants.O_RDONLY | NO_FOLLOW | NO_WAIT);
      try {
        const info = await file.stat();
        if (!info.isFile()) return { state: "refused" };
        if (info.size > left) return { state: "too_large", bytes: info.size };
        const hash = createHash("sha256");
        let bytes = 0;
        for await (const piece of file.createReadStream({ autoClose: false })) {
          signal.throwIfAborted();
          hash.update(piece);
          bytes += piece.length;
          // It grows while it is read.
          if (bytes > left) return { state: "too_large", bytes };
        }
        left -= bytes;
        return { state: "hashed", bytes, sha256: hash.digest("hex") };
      } finally {
        await file.close();
      }
    },
  };
}

/** Windows has neither. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NO_WAIT = constants.O_NONBLOCK ?? 0;

/** Below it, and never it. */
export function isWithin(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return rest !== "" && !isAbsolute(rest) && rest !== ".." && !/^\.\.[\\/]/.test(rest);
}

function folderOf(output: string): string {
  return statSync(output, { throwIfNoEntry: false })?.isDirectory() ? output : dirname(output);
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
