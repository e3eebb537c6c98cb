/** Reads the folder where running Editors write their endpoint files (docs/protocol.md, "Transport"). */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../shared/log.js";
import { EndpointFile } from "../shared/wire.js";

export interface EndpointFolder {
  /** One endpoint for each living Editor; a missing folder has none. Never rejects; not to be called concurrently. */
  read(): Promise<EndpointFile[]>;
}

export interface EndpointFolderDeps {
  folder: string;
  log: Log;
  /** Whether a process of this machine lives. */
  isAlive?(pid: number): boolean;
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
}

export function createEndpointFolder({
  folder,
  log,
  isAlive = processLives,
}: EndpointFolderDeps): EndpointFolder {
  let known = new Map<string, KnownFile>();

  const readOne = async (name: string): Promise<KnownFile | undefined> => {
    const before = known.get(name);
    try {
      const path = join(folder, name);
      const info = await stat(path);
      if (!info.isFile()) return undefined;
      const modifiedAt = info.mtimeMs;
      const text = info.size > MAX_BYTES ? "" : await readFile(path, "utf8");
      if (before?.text === text) return { ...before, modifiedAt };
      const read = parse(text);
      if (typeof read !== "string") return { text, endpoint: read, modifiedAt };
      log.warn({ path, problem: read }, "endpoint file cannot be read; ignored until it changes");
      return { text, endpoint: before?.endpoint, modifiedAt };
    } catch (error) {
      if (!isGone(error)) log.debug({ name, err: error }, "endpoint file cannot be opened");
      return isGone(error) ? undefined : before;
    }
  };

  return {
    async read() {
      let names: string[];
      try {
        names = (await readdir(folder)).filter((name) => name.endsWith(".json"));
      } catch (error) {
        // Not there before the first Editor with a bridge has started.
        if (!isGone(error)) log.debug({ folder, err: error }, "endpoint folder cannot be read");
        names = [];
      }
      const files = new Map<string, KnownFile>();
      for (const name of names) {
        const file = await readOne(name);
        if (file) files.set(name, file);
      }
      known = files;
      return living(files.values(), isAlive);
    },
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
