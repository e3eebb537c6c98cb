/**
 * An append-only file of `<crc32> <json>` lines. Unflushed lines are only in memory, so that a simulated
 * crash loses exactly what a power cut may lose.
 *
 * Everything is synchronous: nothing else may happen between a decision and its line on disk, and on one
 * JavaScript thread that is the whole critical section (about 1 ms per flush).
 */
import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";

export interface Journal {
  /** The entries found when the file was opened, without a torn tail. */
  readonly found: readonly unknown[];
  /** Adds a line that a crash may lose until the next flush. Throws when the journal cannot be written. */
  append(entry: unknown): void;
  /** Writes all lines and waits for the disk. Throws if that fails; then the journal is not trusted any more. */
  flush(): void;
  /** Replaces all lines by these, atomically (temporary file, rename). */
  rewrite(entries: readonly unknown[]): void;
  /** Fault: refuse every append and flush while true. */
  setBroken(broken: boolean): void;
  /** Fault: every flush takes this much longer, ms, and so delays everything else of this Editor. */
  setSlow(ms: number): void;
  /** Writes the unflushed lines, or loses them as a crash does, and closes the file. */
  close(unflushed: "keep" | "lose"): void;
}

/** Opens or creates the journal; cuts everything from the first line with a wrong CRC. */
export function openJournal(file: string): Journal {
  let descriptor = openSync(file, "a+", 0o600);
  const { entries, goodBytes, bytes } = readLines(file);
  if (goodBytes < bytes) {
    // A "+a" descriptor may be truncated; appending goes on at the cut.
    ftruncateSync(descriptor, goodBytes);
    fsyncSync(descriptor);
  }
  let unflushed: string[] = [];
  let failure: string | undefined;
  let broken = false;
  let slowMs = 0;
  let open = true;

  const refuseIfUnwritable = (): void => {
    if (!open) throw new Error("the journal is closed");
    if (broken) throw new Error("the journal cannot be written (simulated disk fault)");
    if (failure !== undefined) throw new Error(`the journal failed earlier: ${failure}`);
  };
  const write = (): void => {
    if (unflushed.length === 0) return;
    const lines = Buffer.from(unflushed.join(""), "utf8");
    for (let written = 0; written < lines.length; ) {
      written += writeSync(descriptor, lines, written, lines.length - written);
    }
    unflushed = [];
  };

  return {
    found: entries,
    append(entry) {
      refuseIfUnwritable();
      unflushed.push(encodeLine(entry));
    },
    flush() {
      refuseIfUnwritable();
      try {
        write();
        if (slowMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, slowMs);
        fsyncSync(descriptor);
      } catch (error) {
        // After a failed write or fsync the disk's content is unknown; the next start checks it by CRC.
        failure = error instanceof Error ? error.message : String(error);
        throw error;
      }
    },
    rewrite(replacement) {
      refuseIfUnwritable();
      const temporary = `${file}.new`;
      const next = openSync(temporary, "w", 0o600);
      writeSync(next, replacement.map(encodeLine).join(""));
      fsyncSync(next);
      closeSync(next);
      renameSync(temporary, file);
      syncFolder(dirname(file));
      closeSync(descriptor);
      descriptor = openSync(file, "a+", 0o600);
      unflushed = [];
    },
    setBroken(value) {
      broken = value;
    },
    setSlow(ms) {
      slowMs = ms;
    },
    close(what) {
      if (!open) return;
      if (what === "keep" && failure === undefined && !broken) write();
      open = false;
      closeSync(descriptor);
    },
  };
}

function encodeLine(entry: unknown): string {
  const json = JSON.stringify(entry);
  return `${crc32(json).toString(16).padStart(8, "0")} ${json}\n`;
}

function readLines(file: string): { entries: unknown[]; goodBytes: number; bytes: number } {
  const content = readFileSync(file);
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

/** A rename is only durable with its folder; Windows cannot open folders and does not need it. */
function syncFolder(folder: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(folder, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}
