/** Tells a living process from a later one with the same id. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * Identifies one process among all that ever had its id.
 *
 * `mark` is its start time as the system reports it; undefined if it does not (Windows). Ids are reused after
 * a restart of a machine or a container, so an id alone, read from a file, may name another process.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly mark?: string | undefined;
}

/** Identifies the process that has this id now; undefined if there is none. */
export function identify(pid: number): ProcessIdentity | undefined {
  if (!hasProcess(pid)) return undefined;
  if (process.platform === "linux") {
    const stat = readStat(pid);
    return stat && stat.state !== "Z" && stat.state !== "X" ? { pid, mark: stat.start } : undefined;
  }
  if (process.platform === "win32") return { pid };
  const line = psLine(pid);
  return line && !line.startsWith("Z") ? { pid, mark: line.replace(/^\S+\s+/, "") } : undefined;
}

/** Is this very process still running? A zombie is not: it holds neither files nor sockets. */
export function isLiving(known: ProcessIdentity): boolean {
  const now = identify(known.pid);
  return now !== undefined && (known.mark === undefined || now.mark === undefined || known.mark === now.mark);
}

/** Does any process have this id now, even a zombie? */
export function hasProcess(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * This process, in the form that `isProvenDead` compares; undefined where Linux does not show its start.
 *
 * macOS reports a start as text, in the language and time zone of the asking process: another process would read another
 * mark.
 */
export function ownIdentity(): ProcessIdentity | undefined {
  const { pid } = process;
  if (process.platform !== "linux") return { pid };
  const mark = readStat(pid)?.start;
  return mark === undefined ? undefined : { pid, mark };
}

/**
 * Whether this process, of this very system, certainly no longer exists. An unknown state counts as living, unlike in
 * `isLiving`.
 */
export function isProvenDead({ pid, mark }: ProcessIdentity): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  const isLinux = process.platform === "linux";
  if (isLinux && mark === undefined) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
  const found = isLinux ? readStat(pid) : undefined;
  if (found?.start === undefined) return false;
  if (found.start !== mark) return true;
  // Other threads of a zombie that is not alone may still run, and hold its sockets open.
  return (found.state === "Z" || found.state === "X") && found.threads === "1";
}

interface Stat {
  state: string | undefined;
  threads: string | undefined;
  /** In clock ticks since the boot. */
  start: string | undefined;
}

function readStat(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in parentheses, which may itself hold spaces and parentheses.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0], threads: fields[17], start: fields[19] };
  } catch {
    return undefined;
  }
}

function psLine(pid: number): string | undefined {
  try {
    return (
      execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], { encoding: "utf8" }).trim() || undefined
    );
  } catch {
    return undefined;
  }
}
