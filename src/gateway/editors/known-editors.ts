/**
 * The Editors that a call may go to, and those that must be back first. The known Editors are noted in a file outside the
 * store, so that their loss is noticed (▲4). The rule is in src/shared/editors/diagnose.ts.
 */

import { readFileSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { compareEditors, isOlderCopy, seenWith } from "../../shared/editors/diagnose.js";
import { type Candidate, labelsOf } from "../../shared/editors/target.js";
import { replaceDurably } from "../../shared/machine/private-folder.js";
import type { Availability, AwayEditor } from "../../shared/store/editors/editors.js";
import type { Store } from "../../shared/store/store.js";
import type { Log } from "../../shared/telemetry.js";
import { untilEditors } from "./first-contact.js";
import { type LastCatalogs, unknownTo } from "./last-catalogs.js";

// The known Editors as candidates for a call: their projects, and whether they are connected.

/** A domain reload of a large project takes minutes; after this long without a sign of life it is not waited for, ms. */
const RETURNING_MS = 10 * 60_000;

/** `now`: store clock, ms. */
function candidateOf(editor: Availability, now: number): Candidate {
  const { id, profile, connected, isOwned, lastSeenAt } = editor;
  const isReturning = !connected && isOwned && now - lastSeenAt < RETURNING_MS;
  return {
    id,
    projectName: profile?.projectName ?? "",
    projectPath: profile?.projectPath ?? "",
    connected,
    labels: profile ? labelsOf(profile) : [],
    ...(isReturning ? { isReturning } : {}),
  };
}

/** An Editor that the store does not know: only its last catalogue is noted. */
function notedCandidate({ profile }: Pick<AwayEditor, "profile">): Candidate {
  const { editorId: id, projectName, projectPath } = profile;
  return { id, projectName, projectPath, connected: false, labels: labelsOf(profile), isNoted: true };
}

// The note of the known Editors: a small file beside the store, shared by the processes of one user.

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

/** What is noted about a store and its Editors (src/shared/editors/diagnose.ts). */
type Note = z.infer<typeof Note>;

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
}

/** File times are no finer than this on some systems, ms: a file that changed just now may change again unnoticed. */
const TICK_MS = 2_000;

export function createNoteFile(file: string, log: Log): NoteFile {
  /** `over`: the file's text before. */
  let unwritten: { note: Note; over: string | undefined } | undefined;
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

  const textNow = (): string | undefined => {
    try {
      return readFileSync(file, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  };

  return {
    async read() {
      let text: string | undefined;
      try {
        const stamp = stampOf();
        if (known && known.stamp === stamp && !unwritten)
          return { text: known.text, note: known.note, isWritten: true };
        text = textNow();
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
      try {
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        const isMine = await replaceDurably(file, JSON.stringify(note), () => textNow() === text);
        if (isMine) unwritten = undefined;
        return isMine;
      } catch (error) {
        // A full disk must not keep calls from running.
        log.warn({ file, error: (error as Error).message }, "the known Editors cannot be noted");
        unwritten = { note, over: text };
        return true;
      }
    },
  };
}

export interface KnownEditors {
  /** The most recently seen last, behind those of which only the last catalogue is noted. */
  candidates: Candidate[];
  /** As the store has them. */
  present: readonly Availability[];
  /** Their ids. */
  missing: readonly string[];
  /** The store's incarnation when it was asked; operations are decided on in the same one (▲13). */
  incarnation: string;
  /** When it was asked, ms since the epoch, store clock; when that was heard, ms of this process's monotonic clock. */
  now: number;
  heardAt: number;
  /** It was not read for this call. */
  isRemembered?: boolean;
}

export interface KnownEditorsOptions {
  /** How long outcomes are kept, ms. */
  forgetEditorMs: number;
  /** How long to wait for Editors to reconnect after a loss of the store, ms, so that an early call is served. */
  backMs: number;
}

export interface KnownEditorsReader {
  read(): Promise<KnownEditors>;
  /** The last reading, if it is of the last second and nothing was heard of an Editor since, nor is anything noted anew; else a new one. */
  remembered(): Promise<KnownEditors>;
  /** Those present, as that reading found them, without a look at what else may have changed: to be shown, not to be decided on. */
  shown(): Promise<readonly Availability[]>;
  /** Waits for a message about the missing Editors, after which `read` may find them. False once they were waited for. */
  awaitMissing(): Promise<boolean>;
  /** A call is accepted for this Editor: if only its last catalogue is noted, the store knows it again. */
  makeKnown(editor: string): Promise<void>;
  /** The store has forgotten this Editor, and so does what is noted beside it. */
  drop(editor: string): Promise<void>;
  close(): void;
}

/** A reading is remembered for this long, ms. */
const REMEMBERED_MS = 1_000;

/** Longest wait for a message, which may be lost, ms. */
const LOOK_MS = 250;

/** `file`: where they are noted; without it no Editor is ever missing. `catalogs`: what is noted of their tools. */
export function createKnownEditors(
  deps: Pick<Store, "editors" | "operations" | "notifier" | "storeId"> & {
    log: Log;
    file?: string | undefined;
    catalogs: Pick<LastCatalogs, "all" | "drop">;
  },
  options: KnownEditorsOptions,
): KnownEditorsReader {
  const { editors, operations, notifier, storeId, log, catalogs } = deps;
  const file = deps.file === undefined ? undefined : createNoteFile(deps.file, log);
  /** When this process first missed an Editor, by its own clock. */
  let missingSince: number | undefined;
  let memory:
    | {
        known: KnownEditors;
        last: readonly AwayEditor[];
        text: string | undefined;
      }
    | undefined;

  /** Messages about Editors, which end what is remembered. */
  let heard = 0;
  const forget = (): void => {
    heard += 1;
    memory = undefined;
  };
  const stop = notifier.on("editors", forget, forget);

  /** One reading; undefined if the note or the store changed meanwhile. */
  const readOnce = async (): Promise<KnownEditors | undefined> => {
    const heardBefore = heard;
    const [read, last, begun, present, incarnation, runs, now] = await Promise.all([
      file?.read(),
      catalogs.all(),
      operations.lastIncarnation(),
      editors.availability(),
      operations.incarnation(),
      operations.runs(),
      operations.now(),
    ]);
    const heardAt = performance.now();
    // The store was lost since, or in between: Editors read before do not describe the store after it.
    if (begun !== incarnation) return undefined;
    const before = read?.note;
    if (before && isOlderCopy(before, { incarnation, runs })) {
      log.warn({}, "the store was restored from an older copy: importing everything again");
      await operations.beginIncarnation(incarnation);
      return undefined;
    }
    const store = { editors: present, incarnation, now, retentionMs: options.forgetEditorMs };
    let after = compareEditors(before, store);
    if (after.missing.length > 0)
      after = compareEditors(before, { ...store, givenUp: await editors.givenUp(incarnation) });
    const seen = seenWith(before?.seen, incarnation);
    const note = asReadBack({ storeId: storeId(), run: runs[0], seen, ...after.noted });
    // A call is accepted only once the Editors it may go to are noted.
    const isNoted = read?.isWritten === true && isDeepStrictEqual(before, note);
    if (file && read && !isNoted && !(await file.replace(read, note))) return undefined;
    missingSince = after.missing.length === 0 ? undefined : (missingSince ?? performance.now());
    const candidates = candidatesAt(now, present, last);
    const known = { candidates, present, missing: after.missing, incarnation, now, heardAt };
    const isLasting = missingSince === undefined && (isNoted || !file) && heard === heardBefore;
    memory = isLasting ? { known, last, text: read?.text } : undefined;
    return known;
  };

  const candidatesAt = (
    now: number,
    present: readonly Availability[],
    last: readonly AwayEditor[],
  ): Candidate[] => [
    ...unknownTo(present, last).map(notedCandidate),
    ...present.map((editor) => candidateOf(editor, now)),
  ];

  /** The last reading as of now; undefined if it is too old, or something beside the store has changed. */
  const recall = async (): Promise<KnownEditors | undefined> => {
    const [read, last] = await Promise.all([file?.read(), catalogs.all()]);
    if (!memory || (file && (!read?.isWritten || read.text !== memory.text))) return undefined;
    if (last.length !== memory.last.length || last.some((each, at) => each !== memory?.last[at]))
      return undefined;
    const { known } = memory;
    const heardAt = performance.now();
    const age = heardAt - known.heardAt;
    if (age >= REMEMBERED_MS) return undefined;
    // Late by at most the round trip of the reading, never ahead.
    const now = known.now + Math.floor(age);
    return { ...known, candidates: candidatesAt(now, known.present, last), now, heardAt, isRemembered: true };
  };

  const read = sharedReading(async (): Promise<KnownEditors> => {
    for (;;) {
      const known = await readOnce();
      if (known) return known;
    }
  });

  return {
    read,

    remembered: async () => (await recall()) ?? (await read()),

    async shown() {
      const known = memory?.known;
      const isRecent = known && performance.now() - known.heardAt < REMEMBERED_MS;
      return (isRecent ? known : await read()).present;
    },

    async awaitMissing() {
      // A call that read in between found that they are back.
      if (missingSince === undefined) return true;
      const leftMs = missingSince + options.backMs - performance.now();
      if (leftMs <= 0) return false;
      // What is there already does not end it.
      let looks = 0;
      await untilEditors(notifier, async () => looks++ > 0, Math.min(leftMs, LOOK_MS));
      return true;
    },

    async makeKnown(editor) {
      const noted = (await catalogs.all()).find(({ profile }) => profile.editorId === editor);
      if (noted) await editors.knowAgain(noted);
    },

    async drop(editor) {
      await catalogs.drop(editor);
      await read();
    },

    close: stop,
  };
}

/** In the form in which it is read back: without undefined fields. */
function asReadBack(note: Note): Note {
  return JSON.parse(JSON.stringify(note)) as Note;
}

/**
 * One reading for many who ask at the same time. Each gets one that began after it asked: while one is under way, all who ask wait
 * for the next one. A reading that fails, fails for all that share it.
 */
export function sharedReading<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let underWay: Promise<unknown> = Promise.resolve();
  let next: Promise<Result> | undefined;
  return () => {
    next ??= underWay.then(() => {
      const reading = read();
      next = undefined;
      underWay = reading.catch(() => undefined);
      return reading;
    });
    return next;
  };
}
