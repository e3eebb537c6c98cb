/** Lets one process at a time start or end what several share. */
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { identify } from "./living-process.js";

/*
 * A lock among processes that a crash cannot leave locked.
 *
 * A single lock file has a race when a stale one is broken: two processes see the same dead owner, and the
 * slower one deletes the faster one's new lock. Here each contender has its own file, named after its process,
 * and holds the lock if, after writing it, it sees no file of another living process. Anybody may delete the file of a
 * dead process at any time, because its name is never used again. Among several contenders, the first by name stays and
 * the others withdraw, so one always proceeds (docs/decisions/machinery/014-the-start-lock.md).
 */
const PREFIX = "starting";

/** Between two looks, ms: many that wait leave the processor to the one that works. */
const LEAST_PAUSE_MS = 10;
const MOST_PAUSE_MS = 160;

export interface ClaimOptions<T> {
  readonly timeoutMs: number;
  /** Called while others hold the lock: an answer ends the wait, because the work is done already. */
  meanwhile(): Promise<T | undefined>;
  /** What to reject with when another process keeps the lock for too long; `claim` is its file. */
  tooLong(pid: string, claim: string): Error;
}

/**
 * Runs `work` while no other process with the same directory runs its own.
 *
 * Waits a bounded time: then rejects, naming the process that holds the lock. Callers in one process exclude each other too.
 */
export async function alone<T>(
  directory: string,
  options: ClaimOptions<T>,
  work: () => Promise<T>,
): Promise<T> {
  const mine = claimName();
  const file = join(directory, mine);
  const deadline = performance.now() + options.timeoutMs;
  try {
    for (let pause = LEAST_PAUSE_MS; ; pause = Math.min(2 * pause, MOST_PAUSE_MS)) {
      let others = livingClaims(directory, mine);
      // Only a process that would be first writes its claim, so that the first does not wait for those that will withdraw.
      if (!others.some((name) => name < mine)) {
        writeFileSync(file, "", { mode: 0o600 });
        others = livingClaims(directory, mine);
        if (others.length === 0) return await work();
      }
      if (others.some((name) => name < mine)) rmSync(file, { force: true });

      const done = await options.meanwhile();
      if (done !== undefined) return done;
      if (performance.now() > deadline) {
        const [name = ""] = others;
        throw options.tooLong(name.split(".")[1] ?? "", join(directory, name));
      }
      await delay(pause * (1 + Math.random()));
    }
  } finally {
    rmSync(file, { force: true });
  }
}

function claimName(): string {
  return [PREFIX, process.pid, markOf(process.pid), randomBytes(6).toString("hex")].join(".");
}

function livingClaims(directory: string, mine: string): string[] {
  return readdirSync(directory).filter((name) => {
    const [prefix, pid, mark] = name.split(".");
    if (prefix !== PREFIX || name === mine) return false;
    if (mark !== undefined && markOf(Number(pid)) === mark) return true;
    rmSync(join(directory, name), { force: true });
    return false;
  });
}

/** The process' start in a form allowed in a file name; undefined if there is no such process. */
function markOf(pid: number): string | undefined {
  const living = identify(pid);
  if (!living) return undefined;
  return living.mark === undefined ? "x" : createHash("sha256").update(living.mark).digest("hex").slice(0, 8);
}
