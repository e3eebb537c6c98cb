/**
 * The Editors that a call may go to, and those that must be back first: the known Editors are noted in a file beside the
 * store, so that their loss is noticed (▲4). The rule is in src/shared/known-editors.ts.
 */
import { isDeepStrictEqual } from "node:util";
import { compareEditors, isOlderCopy, seenWith } from "../shared/known-editors.js";
import type { Log } from "../shared/log.js";
import type { Store } from "../shared/redis/store.js";
import type { Candidate } from "../shared/target.js";
import { candidateOf } from "./candidates.js";
import { createNoteFile, type Note } from "./known-editors-note.js";

export interface KnownEditors {
  candidates: Candidate[];
  /** Their ids. */
  missing: readonly string[];
  /** Of the store, when it was asked; an operation is decided on in the same one (▲13). */
  incarnation: string;
}

export interface KnownEditorsOptions {
  /** An Editor not heard of for this long is away, ms. */
  editorAwayMs: number;
  /** Outcomes are kept for this long, ms. */
  forgetEditorMs: number;
  /** Editors that connect again after the loss of the store are waited for, ms: a call that comes at once is served. */
  backMs: number;
}

export interface KnownEditorsReader {
  read(): Promise<KnownEditors>;
  /** Waits for news of those that are missing: then `read` may find them. False: they were waited for long enough. */
  mayComeBack(): Promise<boolean>;
  /** A person says that it will not come back. */
  drop(editor: string): Promise<void>;
}

/** A message may be lost, ms. */
const LOOK_MS = 250;

/** `file`: where they are noted; without one nobody is ever missing. */
export function createKnownEditors(
  deps: Pick<Store, "editors" | "operations" | "news" | "storeId"> & { log: Log; file?: string | undefined },
  options: KnownEditorsOptions,
): KnownEditorsReader {
  const { editors, operations, news, storeId, log } = deps;
  const file = deps.file === undefined ? undefined : createNoteFile(deps.file, log);
  /** When this process first missed somebody, by its own clock. */
  let missingSince: number | undefined;

  /** One look; undefined where the note or the store changed meanwhile. */
  const look = async (): Promise<KnownEditors | undefined> => {
    const [read, begun, present, incarnation, runs, now] = await Promise.all([
      file?.read(),
      operations.incarnation(),
      editors.presence(),
      operations.incarnation(),
      operations.runs(),
      operations.now(),
    ]);
    // The Editors of a store before it was lost are not those of the store after it.
    if (begun !== incarnation) return undefined;
    const before = read?.note;
    if (before && isOlderCopy(before, { incarnation, runs })) {
      log.warn({}, "the store is an older copy of itself, put back: everything is imported again");
      await operations.beginIncarnation(incarnation);
      return undefined;
    }
    const store = { editors: present, incarnation, now, retentionMs: options.forgetEditorMs };
    const after = compareEditors(before, store);
    const seen = seenWith(before?.seen, incarnation);
    const note = plain({ storeId, run: runs[0], seen, ...after.noted });
    // A call is accepted only once it is noted which Editors it may have gone to.
    const isNoted = read?.isWritten === true && isDeepStrictEqual(before, note);
    if (file && read && !isNoted && !(await file.replace(read, note))) return undefined;
    missingSince = after.missing.length === 0 ? undefined : (missingSince ?? performance.now());
    return {
      candidates: present.map((editor) => candidateOf(editor, now, options)),
      missing: after.missing,
      incarnation,
    };
  };

  const read = async (): Promise<KnownEditors> => {
    for (;;) {
      const known = await look();
      if (known) return known;
    }
  };

  return {
    read,

    async mayComeBack() {
      const leftMs = missingSince === undefined ? 0 : missingSince + options.backMs - performance.now();
      if (leftMs <= 0) return false;
      await heard(news, Math.min(leftMs, LOOK_MS));
      return true;
    },

    async drop(editor) {
      for (;;) {
        const read = await file?.read();
        if (!file || !read?.note) return;
        const { [editor]: _dropped, ...others } = read.note.editors;
        if (await file.replace(read, { ...read.note, editors: others })) return file.checkWritten();
      }
    },
  };
}

/** Resolves when something is heard of an Editor, or after this time. */
function heard(news: Pick<Store["news"], "on">, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stop();
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, ms);
    const stop = news.on("editors", done);
  });
}

/** As it is read back: without what is undefined. */
function plain(note: Note): Note {
  return JSON.parse(JSON.stringify(note)) as Note;
}
