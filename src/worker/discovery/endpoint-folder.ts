/** Reads the folder where running Editors write their endpoint files (docs/reference/protocol.md, "Transport"). */
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { diagnoseFile, problemOfRights, type RefusedFile } from "../../shared/editors/refused-endpoint.js";
import type { Log } from "../../shared/log.js";
import { quoted } from "../../shared/machine/private-folder.js";
import { EndpointFile } from "../../shared/wire/wire.js";

export interface EndpointFolder {
  /** One endpoint for each living Editor; a missing folder has none. Never rejects; not to be called concurrently. */
  read(): Promise<EndpointFile[]>;
  /** Files that were not believed at the last read: not this user's alone, or of another machine. */
  refused(): RefusedFile[];
}

export interface EndpointFolderDeps {
  folder: string;
  log: Pick<Log, "debug" | "warn">;
  /** Whether a process of this machine lives. */
  isAlive?(pid: number): boolean;
  /** Whether the configuration names this host: only then a file may name another than this machine. */
  isNamed?(host: string): boolean;
}

/** An endpoint file is a few hundred bytes; what is longer is something else and read as empty. */
const MAX_BYTES = 64 * 1024;
/** The names under which a process of this machine is called. */
export const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

interface KnownFile {
  /** A problem is logged once for each text. */
  text: string;
  /** What it last said; kept while a rewrite is half done. */
  endpoint: EndpointFile | undefined;
  modifiedAt: number;
  refused?: RefusedFile | undefined;
}

/** What may stand in a sentence for people; a file of another name is only in the log. */
const PLAIN_NAME = /^[\w@.-]{1,128}$/;

export function createEndpointFolder({
  folder,
  log,
  isAlive = processLives,
  isNamed = () => false,
}: EndpointFolderDeps): EndpointFolder {
  let known = new Map<string, KnownFile>();

  const readOne = async (name: string, owner: Stats): Promise<KnownFile | undefined> => {
    const before = known.get(name);
    const path = join(folder, name);
    let file: FileHandle | undefined;
    try {
      // A pipe that somebody left there must not be waited for.
      file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
      const info = await file.stat();
      if (!info.isFile()) return undefined;
      const modifiedAt = info.mtimeMs;
      const why = problemOfRights({ ...info, folderUid: owner.uid }, process.getuid?.());
      // Its text is not even looked at.
      if (why) return refuse(before, { path, editorId: idIn(name), why, fix: fixOf(why, path) }, modifiedAt);
      const text = info.size > MAX_BYTES ? "" : await file.readFile("utf8");
      const read = before?.text === text ? before.endpoint : parse(text);
      if (read && typeof read !== "string" && !LOOPBACK.has(read.host) && !isNamed(read.host)) {
        const address = PLAIN_NAME.test(read.host) ? `${read.host}:${read.port}` : undefined;
        const refused = { path, editorId: idIn(name), why: "another_host" as const, address };
        return refuse(before, { ...refused, fix: `rm ${quoted(path)}` }, modifiedAt);
      }
      if (before?.text === text) return { ...before, modifiedAt, refused: undefined };
      if (typeof read !== "string") return { text, endpoint: read, modifiedAt };
      log.warn({ path, problem: read }, "endpoint file cannot be read; ignored until it changes");
      return { text, endpoint: before?.endpoint, modifiedAt };
    } catch (error) {
      if (!isGone(error)) log.debug({ name, err: error }, "endpoint file cannot be opened");
      return isGone(error) ? undefined : before;
    } finally {
      await file?.close();
    }
  };

  const refuse = (before: KnownFile | undefined, refused: RefusedFile, modifiedAt: number): KnownFile => {
    if (before?.refused?.why !== refused.why) log.warn({ ...refused }, diagnoseFile(refused).message);
    return { text: "", endpoint: undefined, modifiedAt, refused };
  };

  return {
    async read() {
      let names: string[] = [];
      let owner: Stats | undefined;
      try {
        owner = await stat(folder);
        names = (await readdir(folder)).filter((name) => name.endsWith(".json"));
      } catch (error) {
        // Not there before the first Editor with a bridge has started.
        if (!isGone(error)) log.debug({ folder, err: error }, "endpoint folder cannot be read");
      }
      const files = new Map<string, KnownFile>();
      for (const name of names) {
        const file = owner && (await readOne(name, owner));
        if (file) files.set(name, file);
      }
      known = files;
      return living(files.values(), isAlive);
    },
    refused: () => [...known.values()].flatMap(({ refused }) => refused ?? []),
  };
}

/** Answers the ids of the living Editors in the folder; may be called concurrently. Problems are its worker's to report. */
export function runningEditors(folder: string, log: Log): () => Promise<string[]> {
  const debug: Log["debug"] = (values, message) => log.debug(values, message);
  const files = createEndpointFolder({ folder, log: { debug, warn: debug } });
  let reading: Promise<string[]> | undefined;
  const read = async (): Promise<string[]> => (await files.read()).map(({ editorId }) => editorId);
  return () => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
}

/** Of several files of one Editor the newest counts; a local Editor whose process is gone has left a stale file. */
function living(files: Iterable<KnownFile>, isAlive: (pid: number) => boolean): EndpointFile[] {
  const found = new Map<string, EndpointFile>();
  for (const { endpoint } of [...files].sort((a, b) => a.modifiedAt - b.modifiedAt)) {
    if (!endpoint) continue;
    if (LOOPBACK.has(endpoint.host) && !isAlive(endpoint.pid)) continue;
    found.set(endpoint.editorId, endpoint);
  }
  return [...found.values()];
}

/** The endpoint, or what is wrong with the text. */
function parse(text: string): EndpointFile | string {
  try {
    const read = EndpointFile.safeParse(JSON.parse(text));
    return read.success
      ? read.data
      : read.error.issues.map((i) => `${i.path.join(".")}: ${i.message}`).join("; ");
  } catch {
    // Not the parser's words: they quote the text, and the text holds a token.
    return "not JSON";
  }
}

function idIn(name: string): string {
  const id = name.slice(0, -".json".length);
  return PLAIN_NAME.test(id) ? id : "an unknown Editor";
}

function fixOf(why: RefusedFile["why"], path: string): string {
  return why === "writable" ? `chmod 600 ${quoted(path)}` : `rm ${quoted(path)}`;
}

function isGone(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === "ENOENT" || code === "ENOTDIR";
}

function processLives(pid: number): boolean {
  // 0 and below mean process groups to kill(2).
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === "EPERM";
  }
}
