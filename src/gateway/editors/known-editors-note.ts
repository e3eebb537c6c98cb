/** The note of the known Editors: a small file beside the store, shared by the processes of one user. */
import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, statSync } from "node:fs";
import { mkdir, open, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import type { Log } from "../../shared/log.js";

const Note = z.object({
  /** The store's id, given back to it if it was emptied: Editors know the store by it. */
  storeId: z.string().optional(),
  /** The run id of the Redis it was read from. */
  run: z.string().optional(),
  incarnation: z.string(),
  /** Every incarnation of the store that was seen, the latest last. */
  seen: z.array(z.string()).optional(),
  changedAt: z.number().optional(),
  changedTo: z.string().optional(),
  editors: z.record(z.string(), z.object({ leftAt: z.number().optional() })),
});

/** What is noted about a store and its Editors (src/shared/editors/missing-editors.ts). */
export type Note = z.infer<typeof Note>;

/** One reading of the note. */
export interface NoteRead {
  /** Undefined if nothing is noted or it cannot be read. */
  note: Note | undefined;
  /** The file's text; undefined if there is none. */
  text: string | undefined;
  /** False: the file could not be written, so the note is not in it. Writing is tried again. */
  isWritten: boolean;
}

export interface NoteFile {
  read(): Promise<NoteRead>;
  /**
   * Writes the note if the file still has the text that was read; false if it has changed: read again. A note that cannot
   * be written is kept in this process until another process has written the file.
   */
  replace(read: NoteRead, note: Note): Promise<boolean>;
  /** Throws the reason if the last note could not be written. */
  checkWritten(): void;
}

/** File times are no finer than this on some systems, ms: a file that changed just now may change again unnoticed. */
const TICK_MS = 2_000;

export function createNoteFile(file: string, log: Log): NoteFile {
  /** `over`: the file's text before. */
  let unwritten: { note: Note; error: Error; over: string | undefined } | undefined;
  let known: { stamp: string; text: string; note: Note } | undefined;

  /**
   * Says whether the file was replaced, which is how it changes; undefined while that cannot be told. Each call asks:
   * synchronous, it costs a hundredth of what a thread of its own for it costs.
   */
  const stampOf = (): string | undefined => {
    const found = statSync(file, { throwIfNoEntry: false });
    if (!found || Date.now() - found.mtimeMs < TICK_MS) return undefined;
    return `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
  };

  const textOf = async (): Promise<string | undefined> => {
    try {
      return await readFile(file, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  };

  const textNow = (): string | undefined => {
    try {
      return readFileSync(file, "utf8");
    } catch {
      return undefined;
    }
  };

  return {
    async read() {
      let text: string | undefined;
      try {
        const stamp = stampOf();
        if (known && known.stamp === stamp && !unwritten)
          return { text: known.text, note: known.note, isWritten: true };
        text = await textOf();
        // Another process has written the file: its note replaces this process's unwritten one.
        if (unwritten && unwritten.over !== text) unwritten = undefined;
        if (unwritten) return { text, note: unwritten.note, isWritten: false };
        const note = text === undefined ? undefined : Note.parse(JSON.parse(text));
        known = stamp !== undefined && text !== undefined && note ? { stamp, text, note } : undefined;
        return { text, note, isWritten: note !== undefined };
      } catch (error) {
        log.warn({ file, error: (error as Error).message }, "the known Editors cannot be read");
        return { text, note: unwritten?.note, isWritten: false };
      }
    },

    async replace({ text }, note) {
      const draft = `${file}.${randomUUID()}`;
      try {
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        const handle = await open(draft, "wx", 0o600);
        try {
          await handle.writeFile(JSON.stringify(note));
          // After a power cut the file holds the old note or the new one, never a torn one.
          await handle.sync();
        } finally {
          await handle.close();
        }
        // Synchronous: nothing of this process can intervene.
        const isMine = textNow() === text;
        if (isMine) renameSync(draft, file);
        else await rm(draft, { force: true });
        if (isMine) unwritten = undefined;
        return isMine;
      } catch (error) {
        // A full disk must not keep calls from running.
        log.warn({ file, error: (error as Error).message }, "the known Editors cannot be noted");
        unwritten = { note, error: error as Error, over: text };
        await rm(draft, { force: true }).catch(() => undefined);
        return true;
      }
    },

    checkWritten() {
      if (unwritten) throw unwritten.error;
    },
  };
}
