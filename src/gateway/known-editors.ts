/**
 * The Editors that a call may go to, and those that must be back first: the known Editors are noted in a file beside the
 * store, so that their loss is noticed (▲4). The rule is in src/shared/known-editors.ts.
 */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { compareEditors, type NotedEditors } from "../shared/known-editors.js";
import type { Log } from "../shared/log.js";
import type { Store } from "../shared/redis/store.js";
import type { Candidate } from "../shared/target.js";
import { candidateOf } from "./candidates.js";

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

const Noted = z.object({
  incarnation: z.string(),
  changedAt: z.number().optional(),
  editors: z.record(z.string(), z.object({ leftAt: z.number().optional() })),
});

/** A message may be lost, ms. */
const LOOK_MS = 250;

/** `file`: where they are noted; without one nobody is ever missing. */
export function createKnownEditors(
  deps: Pick<Store, "editors" | "operations" | "news"> & { log: Log; file?: string | undefined },
  options: KnownEditorsOptions,
): KnownEditorsReader {
  const { editors, operations, news, log, file } = deps;
  let saving: Promise<void> = Promise.resolve();
  /** When this process first missed somebody, by its own clock. */
  let missingSince: number | undefined;

  const noted = async (): Promise<NotedEditors | undefined> => {
    if (file === undefined) return undefined;
    try {
      return Noted.parse(JSON.parse(await readFile(file, "utf8")));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT")
        log.warn({ file, error: (error as Error).message }, "the known Editors cannot be read");
      return undefined;
    }
  };

  const save = async (wanted: NotedEditors): Promise<void> => {
    if (file === undefined) return;
    const draft = `${file}.${randomUUID()}`;
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      await writeFile(draft, JSON.stringify(wanted), { mode: 0o600 });
      await rename(draft, file);
    } catch (error) {
      // A full disk must not keep calls from running.
      log.warn({ file, error: (error as Error).message }, "the known Editors cannot be noted");
      await rm(draft, { force: true }).catch(() => undefined);
    }
  };

  const read = async (): Promise<KnownEditors> => {
    // In this order: Editors that a store had before it was lost are not taken for those of the store after it.
    const [before, present, incarnation, now] = await Promise.all([
      noted(),
      editors.presence(),
      operations.incarnation(),
      operations.now(),
    ]);
    const store = { editors: present, incarnation, now, retentionMs: options.forgetEditorMs };
    const after = compareEditors(before, store);
    if (!isDeepStrictEqual(before, after.noted)) saving = saving.then(() => save(after.noted));
    // A call is accepted only once it is noted which Editors it may have gone to.
    await saving;
    missingSince = after.missing.length === 0 ? undefined : (missingSince ?? performance.now());
    return {
      candidates: present.map((editor) => candidateOf(editor, now, options)),
      missing: after.missing,
      incarnation,
    };
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
      const known = await noted();
      if (!known) return;
      const { [editor]: _dropped, ...others } = known.editors;
      await save({ ...known, editors: others });
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
