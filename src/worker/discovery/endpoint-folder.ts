/** Reads the folder where running Editors write their endpoint files (docs/reference/protocol.md, "Transport"). */
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { diagnoseFile, problemOfRights, type RefusedFile } from "../../shared/editors/refused-endpoint.js";
import type { Log } from "../../shared/log.js";
import { shellQuoted } from "../../shared/machine/private-folder.js";
import { EndpointFile } from "../../shared/wire/wire.js";

export interface EndpointFolder {
  /** One endpoint for each living Editor; none if the folder is missing. Never rejects; must not be called concurrently. */
  read(): Promise<EndpointFile[]>;
  /** Files that were not trusted at the last read: other users may write them, or they name another machine. */
  refused(): RefusedFile[];
}

export interface EndpointFolderDeps {
  folder: string;
  log: Pick<Log, "debug" | "warn">;
  /** Is this process of this machine alive? */
  isAlive?(pid: number): boolean;
  /** Does the configuration name this host? Only then may a file name a machine other than this one. */
  isNamed?(host: string): boolean;
}

/** An endpoint file has a few hundred bytes; a longer file is something else and is read as empty. */
const MAX_BYTES = 64 * 1024;
/** The host names that mean this machine. */
export const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

interface KnownFile {
  /** Each problem is logged once. */
  text: string;
  /** Its last valid content; kept while a rewrite is half done. */
  endpoint: EndpointFile | undefined;
  modifiedAt: number;
  refused?: RefusedFile | undefined;
}

/** File names that may appear in messages; a file with another name appears in the log only. */
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
      // Do not wait for a pipe that another program left there.
      file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
      const info = await file.stat();
      if (!info.isFile()) return undefined;
      const modifiedAt = info.mtimeMs;
      const why = problemOfRights({ ...info, folderUid: owner.uid }, process.getuid?.());
      // Its text is not read at all.
      if (why) return refuse(before, { path, editorId: idIn(name), why, fix: fixOf(why, path) }, modifiedAt);
      const text = info.size > MAX_BYTES ? "" : await file.readFile("utf8");
      const read = before?.text === text ? before.endpoint : parse(text);
      if (read && typeof read !== "string" && !LOOPBACK.has(read.host) && !isNamed(read.host)) {
        const address = PLAIN_NAME.test(read.host) ? `${read.host}:${read.port}` : undefined;
        const refused = { path, editorId: idIn(name), why: "another_host" as const, address };
        return refuse(before, { ...refused, fix: `rm ${shellQuoted(path)}` }, modifiedAt);
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
        // The folder does not exist before the first Editor with a bridge has started.
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

/** Answers the ids of the living Editors in the folder; may be called concurrently. The worker reports problems. */
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

/** Of several files of one Editor the newest counts; the file of a local Editor whose process is gone is stale. */
function living(files: Iterable<KnownFile>, isAlive: (pid: number) => boolean): EndpointFile[] {
  const found = new Map<string, EndpointFile>();
  for (const { endpoint } of [...files].sort((a, b) => a.modifiedAt - b.modifiedAt)) {
    if (!endpoint) continue;
    if (LOOPBACK.has(endpoint.host) && !isAlive(endpoint.pid)) continue;
    found.set(endpoint.editorId, endpoint);
  }
  return [...found.values()];
}

/** The endpoint, or the problem with the text. */
function parse(text: string): EndpointFile | string {
  try {
    const read = EndpointFile.safeParse(JSON.parse(text));
    return read.success
      ? read.data
      : read.error.issues.map((i) => `${i.path.join(".")}: ${i.message}`).join("; ");
  } catch {
    // Do not pass on the parser's message: it quotes the text, which contains a token.
    return "not JSON";
  }
}

function idIn(name: string): string {
  const id = name.slice(0, -".json".length);
  return PLAIN_NAME.test(id) ? id : "an unknown Editor";
}

function fixOf(why: RefusedFile["why"], path: string): string {
  return why === "writable" ? `chmod 600 ${shellQuoted(path)}` : `rm ${shellQuoted(path)}`;
}

function isGone(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === "ENOENT" || code === "ENOTDIR";
}

function processLives(pid: number): boolean {
  // To kill(2), 0 and negative ids mean process groups.
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === "EPERM";
  }
}
