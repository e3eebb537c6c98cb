/**
 * The last known catalogues: a folder beside the note of the known Editors, which outlives the store and the retention.
 * While the store does not know an Editor, its tools are listed from there, and calls for it are accepted (▲4).
 */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { lstat, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { isChangedByOthers, makeOwnFolder, replaceDurably } from "../../shared/machine/private-folder.js";
import type { Notifier } from "../../shared/store/connect.js";
import type { Availability, AwayEditor, Editors } from "../../shared/store/editors/editors.js";
import type { Log } from "../../shared/telemetry.js";
import { readTools, TOOL_LIMITS, type ToolLimits } from "../../shared/tools/call-rules.js";
import { describedAs } from "../../shared/tools/tool.js";
import { excessOf } from "../../shared/wire/rpc.js";
import { PlainBridge } from "../../shared/wire/wire.js";

// The file of one Editor's last known catalogue. Whatever it says goes through the limits of a catalogue from an Editor,
// and effects are decided again: the file makes no tool repeatable that the broker would not.

/** As long as in an Editor's hello. */
const Name = z.string().min(1).max(1_000);
const Path = z.string().max(32_767);

const LastCatalog = z.object({
  profile: z.object({
    editorId: Name,
    projectName: Name,
    projectPath: Path,
    unityVersion: z.string().max(1_000),
    pid: z.number(),
    process: z.object({ machine: Name, pid: z.number(), mark: z.string().max(1_000).optional() }).optional(),
    plain: z.literal(true).optional(),
    bridge: PlainBridge.optional().catch(undefined),
    labels: z.array(z.string().max(1_000)).max(1_000).optional(),
    editorSessionId: z.string().max(1_000),
    generation: z.number(),
    assetCounter: z.number(),
  }),
  /** ms since the epoch, store clock. */
  lastSeenAt: z.number(),
  ended: z.object({ editorSessionId: z.string().max(1_000), at: z.number() }).optional(),
  /** Each is validated separately (call-rules.ts). */
  tools: z.array(z.unknown()),
});

/** Many times the values of a catalogue within its limits; as many as in a frame of an Editor. */
const MOST_VALUES = 1_000_000;

/** An id may hold anything, and be longer than a file's name. */
export function fileNameOf(editorId: string): string {
  return `${createHash("sha256").update(editorId).digest("hex").slice(0, 32)}.json`;
}

function isFileName(name: string): boolean {
  return /^[0-9a-f]{32}\.json$/.test(name);
}

function textOf({ tools, ...editor }: AwayEditor): string {
  return JSON.stringify({ ...editor, tools: tools.map(describedAs) });
}

/** Throws the reason if the file is of no use. */
function parseCatalog(name: string, text: Buffer, limits: ToolLimits): AwayEditor {
  if (excessOf(text, MOST_VALUES)) throw new Error(`more than ${MOST_VALUES} JSON values`);
  const { profile, ended, lastSeenAt, tools } = LastCatalog.parse(JSON.parse(text.toString("utf8")));
  const { process, plain, bridge, labels, ...known } = profile;
  if (fileNameOf(known.editorId) !== name) throw new Error("it is the file of another Editor");
  const read = readTools(tools, limits);
  if (read.tools.length === 0) throw new Error(read.reasons[0] ?? "no tools");
  return {
    profile: {
      ...known,
      ...(process ? { process } : {}),
      ...(labels ? { labels } : {}),
      ...(plain ? { plain } : {}),
      ...(bridge ? { bridge } : {}),
    },
    lastSeenAt,
    ...(ended ? { ended } : {}),
    tools: read.tools,
  };
}

/** A catalogue is written again after this long even if only the time is new, ms. */
const TIME_COUNTS_MS = 60_000;

/** Whether the text says the same: a reload, or an imported asset, is no reason to write the file. */
function saysTheSame(before: string, after: string): boolean {
  const [one, other] = [comparable(before), comparable(after)];
  if (!one || !other) return false;
  return isDeepStrictEqual(one.lasting, other.lasting) && other.lastSeenAt - one.lastSeenAt < TIME_COUNTS_MS;
}

function comparable(text: string): { lasting: unknown; lastSeenAt: number } | undefined {
  try {
    const { lastSeenAt, profile, ...others } = LastCatalog.parse(JSON.parse(text));
    const { generation: _, assetCounter: __, ...lasting } = profile;
    return { lasting: { ...others, profile: lasting }, lastSeenAt };
  } catch {
    return undefined;
  }
}

export interface LastCatalogs {
  /** The most recently seen last, each project once. A file of no use is left out, and logged once. Never throws. */
  all(): Promise<readonly AwayEditor[]>;
  /**
   * Throws if it cannot be written. `isStill`: asked right before, so that a note which began before the Editor was forgotten does
   * not bring it back.
   */
  note(editor: AwayEditor, isStill?: () => Promise<boolean>): Promise<void>;
  drop(editorId: string): Promise<void>;
}

export interface LastCatalogsOptions {
  tools: ToolLimits;
  /** Most files; the least recently seen leave. */
  files: number;
  /** A larger file is neither written nor read. */
  fileBytes: number;
  allBytes: number;
  /** A project that nobody has opened for this long is no longer listed, ms. */
  keptMs: number;
}

export const LAST_CATALOGS: LastCatalogsOptions = {
  tools: TOOL_LIMITS,
  files: 50,
  fileBytes: 4_000_000,
  allBytes: 16_000_000,
  keptMs: 30 * 24 * 3_600_000,
};

/** Where nothing can be noted. */
export const NO_CATALOGS: LastCatalogs = { all: async () => [], note: async () => {}, drop: async () => {} };

/** A file system's clock may tick this seldom, ms: a folder that changed just now may change again unnoticed. */
const TICK_MS = 1_000;
/** What a process that was killed while it wrote has left, ms. */
const DRAFT_MS = 3_600_000;

interface CatalogFile {
  name: string;
  bytes: number;
  changedAt: number;
}

/** `noteFile`: the file of the known Editors; the folder lies beside it. Without it there are none. */
export function createLastCatalogs(
  { noteFile, log }: { noteFile: string | undefined; log: Log },
  given: Partial<LastCatalogsOptions> = {},
): LastCatalogs {
  if (noteFile === undefined) return NO_CATALOGS;
  const folder = `${noteFile.replace(/\.json$/, "")}.catalogs`;
  const options = { ...LAST_CATALOGS, ...given };
  let known: { stamp: string; catalogs: Promise<AwayEditor[]> } | undefined;
  /** By the file's name. */
  const ignored = new Map<string, string>();

  const ignore = (name: string, reason: string): void => {
    if (ignored.get(name) === reason) return;
    ignored.set(name, reason);
    log.warn({ file: join(folder, name), reason }, "a last known catalogue is ignored");
  };

  const list = async (): Promise<CatalogFile[]> => {
    const found: CatalogFile[] = [];
    for (const name of await readdir(folder)) {
      const file = await lstat(join(folder, name)).catch(() => undefined);
      if (!file) continue;
      // Nobody but this user, or root, decides what is offered here.
      if (isFileName(name) && (!file.isFile() || isChangedByOthers(file))) {
        ignore(name, "it is not a file of this user alone");
      } else if (isFileName(name) && file.size > options.fileBytes) {
        ignore(name, `it has more than ${options.fileBytes} bytes`);
      } else if (file.isFile()) found.push({ name, bytes: file.size, changedAt: file.mtimeMs });
    }
    return found.sort((a, b) => b.changedAt - a.changedAt);
  };

  const readOne = async ({ name }: CatalogFile): Promise<AwayEditor[]> => {
    try {
      const catalog = parseCatalog(name, await readFile(join(folder, name)), options.tools);
      ignored.delete(name);
      return [catalog];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") ignore(name, (error as Error).message);
      return [];
    }
  };

  const readAll = async (): Promise<AwayEditor[]> => {
    const catalogs: AwayEditor[] = [];
    for (const found of keptOf(await list(), options)) catalogs.push(...(await readOne(found)));
    return catalogs.sort((a, b) => a.lastSeenAt - b.lastSeenAt);
  };

  /** Read again only when a file in the folder came, went or was replaced: each call asks. */
  const read = async (): Promise<AwayEditor[]> => {
    // Synchronous, as of the note of the known Editors.
    const found = statSync(folder, { throwIfNoEntry: false });
    if (!found) return [];
    // The rights belong to it: they change with ctime.
    const stamp = `${found.ino} ${found.mtimeMs} ${found.ctimeMs}`;
    if (known?.stamp === stamp) return known.catalogs;
    if (isChangedByOthers(found)) {
      ignore("", "others may write to this folder");
      return [];
    }
    const catalogs = readAll();
    known = Date.now() - found.mtimeMs > TICK_MS ? { stamp, catalogs } : undefined;
    return catalogs;
  };

  const removeOld = async (): Promise<void> => {
    const found = await list();
    const kept = new Set(keptOf(found, options));
    for (const each of found) {
      const isOver = isFileName(each.name) ? !kept.has(each) : Date.now() - each.changedAt > DRAFT_MS;
      if (isOver) await rm(join(folder, each.name), { force: true });
    }
  };

  return {
    async all() {
      try {
        const since = Date.now() - options.keptMs;
        return oneOfEachProject((await read()).filter(({ lastSeenAt }) => lastSeenAt >= since));
      } catch (error) {
        known = undefined;
        ignore("", (error as Error).message);
        return [];
      }
    },

    async note(editor, isStill = async () => true) {
      const name = fileNameOf(editor.profile.editorId);
      const file = join(folder, name);
      const text = textOf(editor);
      if (Buffer.byteLength(text) > options.fileBytes) {
        ignore(name, `it has more than ${options.fileBytes} bytes`);
        // The one from before is not the Editor's last.
        await rm(file, { force: true });
        return;
      }
      if (saysTheSame(await readFile(file, "utf8").catch(() => ""), text)) return;
      makeOwnFolder(folder);
      const isReplaced = await replaceDurably(file, text, isStill).catch((error: NodeJS.ErrnoException) => {
        // What was to replace it is gone: the Editor was dropped meanwhile.
        if (error.code !== "ENOENT") throw error;
        return false;
      });
      if (isReplaced) await removeOld();
    },

    async drop(editorId) {
      const name = fileNameOf(editorId);
      // First what would take the file's place.
      const there = await readdir(folder).catch(() => []);
      for (const each of there)
        if (each.startsWith(`${name}.`)) await rm(join(folder, each), { force: true });
      await rm(join(folder, name), { force: true });
    },
  };
}

/** Those of projects that the store does not know: it may know a project under another id, of a renamed machine. */
export function unknownTo(
  stored: readonly Pick<Availability, "id" | "profile">[],
  catalogs: readonly AwayEditor[],
): AwayEditor[] {
  const ids = new Set(stored.map(({ id }) => id));
  const paths = new Set(stored.map(({ profile }) => profile?.projectPath));
  return catalogs.filter(({ profile }) => !ids.has(profile.editorId) && !paths.has(profile.projectPath));
}

/** `found`: the newest first. */
function keptOf(found: readonly CatalogFile[], options: LastCatalogsOptions): CatalogFile[] {
  const kept: CatalogFile[] = [];
  let bytes = 0;
  for (const each of found.filter(({ name }) => isFileName(name)).slice(0, options.files)) {
    bytes += each.bytes;
    if (bytes > options.allBytes || Date.now() - each.changedAt > options.keptMs) break;
    kept.push(each);
  }
  return kept;
}

/** A project whose machine was renamed is noted under both ids: the older one never comes back. */
function oneOfEachProject(catalogs: readonly AwayEditor[]): AwayEditor[] {
  const newest = new Map(catalogs.map((catalog) => [catalog.profile.projectPath, catalog]));
  return catalogs.filter((catalog) => newest.get(catalog.profile.projectPath) === catalog);
}

/** Notes the catalogue of each Editor that the store knows, whenever it may have changed. */
export interface CatalogNotes {
  /** Resolves when everything that was reported before is noted. */
  close(): Promise<void>;
}

export function createCatalogNotes(deps: {
  editors: Pick<Editors, "ids" | "find" | "tools">;
  notifier: Pick<Notifier, "on">;
  catalogs: Pick<LastCatalogs, "note">;
  log: Log;
}): CatalogNotes {
  const { editors, catalogs, log } = deps;
  const due = new Set<string>();
  let isClosed = false;
  let working: Promise<void> | undefined;

  const noteOne = async (editor: string): Promise<void> => {
    const [known, tools] = await Promise.all([editors.find(editor), editors.tools(editor)]);
    // One that is being introduced, or was forgotten: its last catalogue stays noted.
    if (!known || tools.length === 0) return;
    const { profile, lastSeenAt, ended } = known;
    const isStill = async (): Promise<boolean> => (await editors.find(editor)) !== undefined;
    await catalogs.note({ profile, lastSeenAt, ...(ended ? { ended } : {}), tools }, isStill);
  };

  /** An Editor that is reported again meanwhile comes again, at the end. */
  const work = async (): Promise<void> => {
    for (const editor of due) {
      due.delete(editor);
      try {
        await noteOne(editor);
      } catch (error) {
        log.warn({ editor, error: (error as Error).message }, "the Editor's tools cannot be noted");
        // The store may be away: each further Editor would hold up the end of the process.
        if (isClosed) due.clear();
      }
    }
  };

  const note = (editor: string): void => {
    due.add(editor);
    working ??= work().finally(() => {
      working = undefined;
    });
  };

  const noteAll = (): Promise<void> =>
    editors.ids().then(
      (ids) => ids.forEach(note),
      (error: Error) =>
        log.debug({ error: error.message }, "the Editors' tools are noted with the next change"),
    );

  let listing = noteAll();
  const stop = deps.notifier.on("editors", note, () => {
    listing = noteAll();
  });

  return {
    async close() {
      isClosed = true;
      stop();
      await listing;
      await working;
    },
  };
}
