/** Why a disk refused, and what to do about it, for people. */

const PROBLEMS: Readonly<Record<string, readonly [what: string, next: string]>> = {
  ENOSPC: ["the disk is full", "Free space on the disk of"],
  EDQUOT: ["this user's quota of the disk is used up", "Free space on the disk of"],
  EFBIG: ["the file may not grow any more", "Raise the limit of file sizes (ulimit -f) for"],
  EROFS: ["the file system is read-only", "Make it writable:"],
  EACCES: ["this user may not write there", "Give this user the right to write in"],
  EPERM: ["this user may not write there", "Give this user the right to write in"],
  ENOTDIR: ["a file is in the way of a folder", "Remove that file, or choose another place than"],
  EEXIST: ["a file is in the way of a folder", "Remove that file, or choose another place than"],
  EIO: ["the disk reports an error", "Check the disk of"],
};

/** "the disk is full (ENOSPC). Free space on the disk of /folder". */
export function diskProblem(error: unknown, folder: string): string {
  const { code, message } =
    error instanceof Error ? (error as NodeJS.ErrnoException) : { message: `${error}` };
  const [what, next] = PROBLEMS[code ?? ""] ?? [message, "Check the folder"];
  return `${code !== undefined && code in PROBLEMS ? `${what} (${code})` : what}. ${next} ${folder}`;
}
