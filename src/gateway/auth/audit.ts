/**
 * The audit log: who called what on which Editor. JSON lines in one file a day, readable by its owner, without arguments or
 * results. Several processes of one user write to the same files, each line in one write.
 */
import { constants, fstatSync, statSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../../shared/telemetry.js";

export interface AuditEntry {
  /** The principal's id and name. */
  principal: string;
  name: string;
  verb: "call" | "cancel" | "pause" | "resume" | "forget";
  tool?: string;
  editor?: string;
  log_id?: string;
  /** Whose operation an operator cancelled: the principal's id. */
  of?: string;
  answer: "created" | "joined" | "replayed" | "accepted" | "refused";
  error_code?: string;
}

export interface Audit {
  /** Written within a tenth of a second, in order; with a process that is killed, those lines are lost. A failed write is logged and keeps no call from running. */
  note(entry: AuditEntry): void;
  /** The lines of a day (UTC, such as 2027-01-31), by default today's so far. */
  read(day?: string): Promise<string>;
  /** Resolves when everything is written. */
  close(): Promise<void>;
}

export interface AuditOptions {
  /** How many days are kept, today included; older files are removed. */
  keptDays: number;
  /** A day's file that has reached this size is followed by another, up to a maximum; then the day's audit ends. */
  fileBytes?: number;
  filesOfDay?: number;
  now?: () => number;
}

const NAME = /^audit-(\d{4}-\d{2}-\d{2})(?:\.(\d+))?\.jsonl$/;
/** Lines of so long are written together, ms: looking after the file and writing cost more than the line. */
const TOGETHER_MS = 100;
/** Most lines per write. */
const MOST_LINES = 1_000;
const DAY_MS = 24 * 3_600_000;

export function createAudit(folder: string, log: Log, options: AuditOptions): Audit {
  const { keptDays, fileBytes = 16 * 1024 * 1024, filesOfDay = 4, now = Date.now } = options;
  const lines: { text: string; isRefusal: boolean }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let prunedOn = "";
  /** Kept open from one write to the next. */
  let current: { day: string; part: number; handle: FileHandle } | undefined;

  const today = (): string => new Date(now()).toISOString().slice(0, 10);
  const fileOf = (day: string, part: number): string =>
    join(folder, part === 1 ? `audit-${day}.jsonl` : `audit-${day}.${part}.jsonl`);

  /** The first file of the day with room; undefined if all are full. */
  const partWithRoom = async (day: string, most: number): Promise<number | undefined> => {
    for (let part = 1; part <= most; part += 1) {
      const size = await stat(fileOf(day, part)).then(
        (found) => found.size,
        () => 0,
      );
      if (size < fileBytes) return part;
    }
    return undefined;
  };

  const leave = async (): Promise<void> => {
    const { handle } = current ?? {};
    current = undefined;
    await handle?.close();
  };

  /** Is the open file still the day's, in its folder, and not full? Other processes write to it too. */
  const isUsable = (day: string, most: number): boolean => {
    if (!current || current.day !== day || current.part > most) return false;
    try {
      const [mine, there] = [fstatSync(current.handle.fd), statSync(fileOf(day, current.part))];
      return mine.ino === there.ino && mine.dev === there.dev && mine.size < fileBytes;
    } catch {
      return false;
    }
  };

  const openFile = async (day: string, most: number): Promise<FileHandle> => {
    await leave();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (prunedOn !== day) await prune(day);
    const part = await partWithRoom(day, most);
    if (part === undefined) throw new Error(`the files of ${day} are full`);
    // Does not follow a link that another user may have put there.
    const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW = 0 } = constants;
    const handle = await open(fileOf(day, part), O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
    current = { day, part, handle };
    return handle;
  };

  const append = async (text: string, isRefusal: boolean): Promise<void> => {
    const day = today();
    // Refusals cost their caller nothing, so they may not use up the room for accepted calls.
    const most = isRefusal ? Math.ceil(filesOfDay / 2) : filesOfDay;
    const handle = isUsable(day, most) && current ? current.handle : await openFile(day, most);
    await handle.write(text);
  };

  const prune = async (day: string): Promise<void> => {
    const oldest = new Date(Date.parse(day) - (keptDays - 1) * DAY_MS).toISOString().slice(0, 10);
    for (const name of await readdir(folder)) {
      const [, of = day] = NAME.exec(name) ?? [];
      if (of < oldest) await rm(join(folder, name), { force: true });
    }
    prunedOn = day;
  };

  const write = async (): Promise<void> => {
    while (lines.length > 0) {
      const isRefusal = lines[0]?.isRefusal === true;
      const end = lines.findIndex((line, at) => at === MOST_LINES || line.isRefusal !== isRefusal);
      const taken = lines.splice(0, end === -1 ? lines.length : end);
      const text = taken.map((line) => line.text).join("");
      await append(text, isRefusal).catch((error: Error) => {
        log.warn({ folder, error: error.message }, "the audit log cannot be written");
      });
    }
    writing = undefined;
  };

  const writeNow = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing ??= write();
    await writing;
  };

  return {
    note(entry) {
      const text = `${JSON.stringify({ at: new Date(now()).toISOString(), ...entry })}\n`;
      lines.push({ text, isRefusal: entry.answer === "refused" });
      if (!writing) timer ??= setTimeout(writeNow, TOGETHER_MS);
    },

    async read(day = today()) {
      await writeNow();
      const parts: string[] = [];
      for (let part = 1; part <= filesOfDay; part += 1) {
        const text = await readFile(fileOf(day, part), "utf8").catch(() => undefined);
        if (text === undefined) break;
        parts.push(text);
      }
      return parts.join("");
    },

    async close() {
      await writeNow();
      await leave();
    },
  };
}
