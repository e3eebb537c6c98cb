/**
 * An append-only file of `<crc32> <json>` lines. Unflushed lines are only in memory, so that a simulated
 * crash loses exactly what a power cut may lose.
 *
 * Everything is synchronous: nothing else may happen between a decision and its line on disk, and on one
 * JavaScript thread that is the whole critical section (about 1 ms per flush).
 */
import * as fs from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { diskProblem } from "../../shared/machine/disk-problem.js";

/** What the journal does to its files; tests let the n-th of these fail. */
export type JournalFiles = Pick<
  typeof fs,
  | "closeSync"
  | "fstatSync"
  | "fsyncSync"
  | "ftruncateSync"
  | "mkdirSync"
  | "openSync"
  | "readFileSync"
  | "renameSync"
  | "rmSync"
  | "statSync"
  | "writeSync"
>;

export interface Journal {
  /** The entries found when the file was opened, without a torn tail. */
  readonly found: readonly unknown[];
  /**
   * What is wrong and what to do; undefined: it can be written, and its path names the file that is written. After a
   * failure only `rewrite` makes it so again. `looks`: at its file; else what is known.
   */
  problem(looks: boolean): string | undefined;
  /** Adds a line that a crash may lose until the next flush. Throws after a failure. */
  append(entry: unknown): void;
  /**
   * Writes all lines and waits for the disk. Throws if that fails, or if the file is not the one that the path names: what
   * is in the file then is unknown.
   */
  flush(): void;
  /** Replaces all lines by these, atomically (new file, rename). Throws if that fails; the old file stays then. */
  rewrite(entries: readonly unknown[]): void;
  /** Fault: the disk refuses everything while true. */
  setBroken(broken: boolean): void;
  /** Fault: every flush takes this much longer, ms, and so delays everything else of this Editor. */
  setSlow(ms: number): void;
  /** Writes the unflushed lines, or loses them as a crash does, and closes the file. */
  close(unflushed: "keep" | "lose"): void;
}

/**
 * Opens or creates the journal; cuts everything from the first line with a wrong CRC. A disk that cannot be written
 * is a `problem`; throws if the file cannot be read, because nobody knows then what has begun.
 */
export function openJournal(file: string, files: JournalFiles = fs): Journal {
  const folder = dirname(file);
  const { entries, goodBytes, bytes } = readLines(file, files);
  let descriptor: number | undefined;
  /** Bytes that the file has if nobody else changes it. */
  let length = goodBytes;
  let unflushed: string[] = [];
  let problem: string | undefined;
  let broken = false;
  let slowMs = 0;
  let open = true;

  /** After a failed write or flush nobody knows what the disk has: the file is not written any more. */
  const fail = (error: unknown): Error => {
    problem = `The ledger cannot be written: ${diskProblem(error, folder)}; nothing has to be restarted.`;
    unflushed = [];
    return new Error(problem, { cause: error });
  };
  const tryOn = <T>(write: () => T): T => {
    if (!open) throw new Error("The journal is closed.");
    try {
      if (broken) throw Object.assign(new Error("simulated"), { code: "EIO" });
      return write();
    } catch (error) {
      throw fail(error);
    }
  };
  const refuseAfterFailure = (): void => {
    if (!open) throw new Error("The journal is closed.");
    if (problem !== undefined) throw new Error(problem);
  };
  /** Throws when somebody has deleted or replaced the file, or its folder, or has changed its length. */
  const checkPlace = (): void => {
    if (descriptor === undefined) throw new Error("it is not open");
    const own = files.fstatSync(descriptor, { bigint: true });
    const there = files.statSync(file, { bigint: true, throwIfNoEntry: false });
    const isSame = there?.dev === own.dev && there.ino === own.ino && own.size === BigInt(length);
    if (!isSame) throw new Error("its file was deleted, replaced or cut while it was in use");
  };
  const write = (to: number, lines: readonly string[]): void => {
    const bytes = Buffer.from(lines.join(""), "utf8");
    for (let at = 0; at < bytes.length; ) {
      const written = files.writeSync(to, bytes, at, bytes.length - at);
      if (written === 0) throw new Error("the disk took nothing");
      at += written;
    }
    length += bytes.length;
  };
  /** A file that is written no more. */
  const release = (closing: number | undefined): void => {
    try {
      if (closing !== undefined) files.closeSync(closing);
    } catch {
      // Nobody counts on what it held.
    }
  };
  /** A rename is only durable with its folder; Windows cannot open folders and does not need it. */
  const syncFolder = (): void => {
    if (process.platform === "win32") return;
    const opened = files.openSync(folder, "r");
    try {
      files.fsyncSync(opened);
    } finally {
      release(opened);
    }
  };
  const replaceBy = (lines: readonly string[]): void => {
    const temporary = `${file}.new`;
    files.mkdirSync(folder, { recursive: true, mode: 0o700 });
    files.rmSync(temporary, { force: true });
    const next = files.openSync(temporary, "a", 0o600);
    length = 0;
    try {
      write(next, lines);
      files.fsyncSync(next);
      files.renameSync(temporary, file);
      syncFolder();
    } catch (error) {
      release(next);
      throw error;
    }
    release(descriptor);
    descriptor = next;
  };

  try {
    descriptor = files.openSync(file, "a", 0o600);
    if (goodBytes < bytes) {
      files.ftruncateSync(descriptor, goodBytes);
      files.fsyncSync(descriptor);
    }
  } catch (error) {
    fail(error);
  }

  return {
    found: entries,
    problem(looks) {
      if (looks && open && problem === undefined) {
        try {
          checkPlace();
        } catch (error) {
          fail(error);
        }
      }
      return problem;
    },
    append(entry) {
      refuseAfterFailure();
      unflushed.push(encodeLine(entry));
    },
    flush() {
      refuseAfterFailure();
      tryOn(() => {
        if (descriptor === undefined) throw new Error("it is not open");
        write(descriptor, unflushed);
        unflushed = [];
        if (slowMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, slowMs);
        files.fsyncSync(descriptor);
        checkPlace();
      });
    },
    rewrite(replacement) {
      tryOn(() => replaceBy(replacement.map(encodeLine)));
      unflushed = [];
      problem = undefined;
    },
    setBroken(value) {
      broken = value;
      if (broken) fail(Object.assign(new Error("simulated"), { code: "EIO" }));
    },
    setSlow(ms) {
      slowMs = ms;
    },
    close(what) {
      if (!open) return;
      try {
        if (what === "keep" && problem === undefined && descriptor !== undefined)
          write(descriptor, unflushed);
      } catch {
        // Lost, as in a crash.
      }
      open = false;
      release(descriptor);
    },
  };
}

function encodeLine(entry: unknown): string {
  const json = JSON.stringify(entry);
  return `${crc32(json).toString(16).padStart(8, "0")} ${json}\n`;
}

function readLines(file: string, files: JournalFiles) {
  const content = contentOf(file, files);
  const entries: unknown[] = [];
  let goodBytes = 0;
  while (goodBytes < content.length) {
    const end = content.indexOf(0x0a, goodBytes);
    if (end < 0) break;
    const json = content.subarray(goodBytes + 9, end);
    if (content.toString("latin1", goodBytes, goodBytes + 9) !== `${crcOf(json)} `) break;
    entries.push(JSON.parse(json.toString("utf8")));
    goodBytes = end + 1;
  }
  return { entries, goodBytes, bytes: content.length };
}

function crcOf(json: Buffer): string {
  return crc32(json).toString(16).padStart(8, "0");
}

function contentOf(file: string, files: JournalFiles): Buffer {
  try {
    return files.readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    const why = diskProblem(error, dirname(file));
    throw new Error(`The ledger cannot be read: ${why}, and start the Editor again.`, { cause: error });
  }
}
