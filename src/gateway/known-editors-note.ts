/** The note of the known Editors: a small file beside the store, shared by the processes of one user. */
import { randomUUID } from "node:crypto";
import { readFileSync, renameSync } from "node:fs";
import { mkdir, open, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import type { Log } from "../shared/log.js";

const Note = z.object({
  /** The store's, given back to it when it was emptied: by that its Editors know it. */
  storeId: z.string().optional(),
  /** The run id of the Redis that was looked at. */
  run: z.string().optional(),
  incarnation: z.string(),
  /** Every incarnation of the store that was seen, the last one last. */
  seen: z.array(z.string()).optional(),
  changedAt: z.number().optional(),
  changedTo: z.string().optional(),
  editors: z.record(z.string(), z.object({ leftAt: z.number().optional() })),
});

/** What is noted of a store and its Editors (src/shared/known-editors.ts). */
export type Note = z.infer<typeof Note>;

/** One look at the note. */
export interface NoteRead {
  /** Undefined: nothing is noted, or it cannot be read. */
  note: Note | undefined;
  /** As the file is; undefined: there is none. */
  text: string | undefined;
  /** False: the note is not in the file, which could not be written. It is tried again. */
  isWritten: boolean;
}

export interface NoteFile {
  read(): Promise<NoteRead>;
  /**
   * Writes the note where the file is still as it was read; false where somebody has changed it since: read again. What
   * cannot be written is kept by this process, which goes on with it until another has written the file.
   */
  replace(read: NoteRead, note: Note): Promise<boolean>;
  /** Throws why the last note could not be written. */
  checkWritten(): void;
}

export function createNoteFile(file: string, log: Log): NoteFile {
  /** `over`: the file as it was. */
  let unwritten: { note: Note; error: Error; over: string | undefined } | undefined;

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
        text = await textOf();
        // Another process could write: by what it noted, or dropped, everybody goes on.
        if (unwritten && unwritten.over !== text) unwritten = undefined;
        if (unwritten) return { text, note: unwritten.note, isWritten: false };
        const note = text === undefined ? undefined : Note.parse(JSON.parse(text));
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
          // After a power cut there is the old note or the new one, never a torn one.
          await handle.sync();
        } finally {
          await handle.close();
        }
        // Nothing of this process comes in between.
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
