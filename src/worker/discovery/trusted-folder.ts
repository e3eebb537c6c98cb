/** Reads JSON files that say where Editors listen: only those that nobody but this user can have written are believed. */
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { z } from "zod";
import { diagnoseFile, problemOfRights, type RefusedFile } from "../../shared/editors/refused-endpoint.js";
import { shellQuoted } from "../../shared/machine/private-folder.js";
import type { Log } from "../../shared/telemetry.js";

export interface TrustedFile<T> {
  name: string;
  content: T;
  /** ms since the epoch. */
  modifiedAt: number;
}

export interface TrustedFolder<T> {
  /** What the files say, in no order; none if the folder is missing. Never rejects; must not be called concurrently. */
  read(): Promise<TrustedFile<T>[]>;
  /** Files that were not trusted at the last read. */
  refused(): RefusedFile[];
}

export interface TrustedFolderDeps<T> {
  folder: string;
  log: Pick<Log, "debug" | "warn">;
  isFile(name: string): boolean;
  schema: z.ZodType<T>;
  /** Set if no file may say this. */
  refuse?(content: T): Pick<RefusedFile, "why" | "address"> | undefined;
}

/** Such a file has a few hundred bytes; a longer file is something else and is read as empty. */
const MAX_BYTES = 64 * 1024;

interface KnownFile<T> {
  /** Each problem is logged once. */
  text: string;
  /** Its last valid content; kept while a rewrite is half done. */
  content: T | undefined;
  modifiedAt: number;
  refused?: RefusedFile | undefined;
  /** What the system said of the file when it was read; undefined: it may have changed since without a trace. */
  signature?: string | undefined;
}

/** A write that follows another within the resolution of the system's times leaves no trace, ms. */
const UNSETTLED_MS = 2_000;

/** File names that may appear in messages; a file with another name appears in the log only. */
const PLAIN_NAME = /^[\w@.-]{1,128}$/;

export function createTrustedFolder<T extends object>(deps: TrustedFolderDeps<T>): TrustedFolder<T> {
  const { folder, log } = deps;
  let known = new Map<string, KnownFile<T>>();

  /** Once a second for each Editor: a file that has not changed is not opened. */
  const lookAt = async (name: string, owner: Stats): Promise<KnownFile<T> | undefined> => {
    const info = await stat(join(folder, name)).catch(() => undefined);
    const signature = info && signatureOf(info, owner);
    const before = known.get(name);
    const isUnchanged = signature !== undefined && before?.signature === signature;
    // What may be believed can change without the file.
    if (isUnchanged && before?.content && !deps.refuse?.(before.content)) return before;
    const read = await readOne(name, owner);
    // It could not be opened now: what was read before is of another state of the file.
    return read === before ? read : read && { ...read, signature };
  };

  const readOne = async (name: string, owner: Stats): Promise<KnownFile<T> | undefined> => {
    const before = known.get(name);
    const path = join(folder, name);
    let file: FileHandle | undefined;
    try {
      // Do not wait for a pipe that another program left there.
      file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
      const info = await file.stat();
      if (!info.isFile()) return undefined;
      const modifiedAt = info.mtimeMs;
      const why = problemOfRights({ ...info, folderUid: owner.uid }, process.getuid?.());
      // Its text is not read at all.
      if (why) return refuse(before, { path, editorId: idIn(name), why, fix: fixOf(why, path) }, modifiedAt);
      const text = info.size > MAX_BYTES ? "" : await file.readFile("utf8");
      const read = before?.text === text ? before.content : parse(deps.schema, text);
      const problem = typeof read === "object" ? deps.refuse?.(read) : undefined;
      if (problem) {
        const refused = { path, editorId: idIn(name), ...problem };
        return refuse(before, { ...refused, fix: `rm ${shellQuoted(path)}` }, modifiedAt);
      }
      if (before?.text === text) return { ...before, modifiedAt, refused: undefined };
      if (typeof read !== "string") return { text, content: read, modifiedAt };
      log.warn({ path, problem: read }, "endpoint file cannot be read; ignored until it changes");
      return { text, content: before?.content, modifiedAt };
    } catch (error) {
      if (!isGone(error)) log.debug({ name, err: error }, "endpoint file cannot be opened");
      return isGone(error) ? undefined : before;
    } finally {
      await file?.close();
    }
  };

  const refuse = (
    before: KnownFile<T> | undefined,
    refused: RefusedFile,
    modifiedAt: number,
  ): KnownFile<T> => {
    if (before?.refused?.why !== refused.why) log.warn({ ...refused }, diagnoseFile(refused).message);
    return { text: "", content: undefined, modifiedAt, refused };
  };

  return {
    async read() {
      let names: string[] = [];
      let owner: Stats | undefined;
      try {
        owner = await stat(folder);
        names = (await readdir(folder)).filter(deps.isFile);
      } catch (error) {
        // The folder does not exist before the first Editor with such a bridge has started.
        if (!isGone(error)) log.debug({ folder, err: error }, "endpoint folder cannot be read");
      }
      const files = new Map<string, KnownFile<T>>();
      for (const name of names) {
        const file = owner && (await lookAt(name, owner));
        if (file) files.set(name, file);
      }
      known = files;
      return [...files].flatMap(([name, { content, modifiedAt }]) =>
        content === undefined ? [] : [{ name, content, modifiedAt }],
      );
    },
    refused: () => [...known.values()].flatMap(({ refused }) => refused ?? []),
  };
}

function signatureOf(
  { dev, ino, size, mode, uid, mtimeMs, ctimeMs }: Stats,
  owner: Stats,
): string | undefined {
  const isSettled = Date.now() - Math.max(ctimeMs, mtimeMs) > UNSETTLED_MS;
  return isSettled ? [dev, ino, size, mode, uid, mtimeMs, ctimeMs, owner.uid].join() : undefined;
}

/** The content, or the problem with the text. */
function parse<T>(schema: z.ZodType<T>, text: string): T | string {
  try {
    const read = schema.safeParse(JSON.parse(text));
    return read.success
      ? read.data
      : read.error.issues.map((i) => `${i.path.join(".")}: ${i.message}`).join("; ");
  } catch {
    // Do not pass on the parser's message: it quotes the text, which may contain a token.
    return "not JSON";
  }
}

/** Whether text may appear in a message as it is. */
export function isPlainName(text: string): boolean {
  return PLAIN_NAME.test(text);
}

function idIn(name: string): string {
  const id = name.slice(0, -".json".length);
  return isPlainName(id) ? id : "an unknown Editor";
}

function fixOf(why: RefusedFile["why"], path: string): string {
  return why === "writable" ? `chmod 600 ${shellQuoted(path)}` : `rm ${shellQuoted(path)}`;
}

function isGone(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === "ENOENT" || code === "ENOTDIR";
}
