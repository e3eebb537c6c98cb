/** Reads the folder where running Editors write their endpoint files (docs/reference/protocol.md, "Transport"). */
import type { RefusedFile } from "../../shared/editors/refused-endpoint.js";
import type { Log } from "../../shared/telemetry.js";
import { EndpointFile } from "../../shared/wire/wire.js";
import { createTrustedFolder, isPlainName, type TrustedFile } from "./trusted-folder.js";

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

/** The host names that mean this machine. */
export const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);

export function createEndpointFolder({
  folder,
  log,
  isAlive = processLives,
  isNamed = () => false,
}: EndpointFolderDeps): EndpointFolder {
  const files = createTrustedFolder({
    folder,
    log,
    isFile: (name) => name.endsWith(".json"),
    schema: EndpointFile,
    refuse({ host, port }) {
      if (LOOPBACK.has(host) || isNamed(host)) return undefined;
      return { why: "another_host", address: isPlainName(host) ? `${host}:${port}` : undefined };
    },
  });
  return { read: async () => living(await files.read(), isAlive), refused: files.refused };
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

/**
 * One file for each Editor whose process is not gone, the newest first: a worker that serves them in this order reaches a true Editor before
 * files that were left behind. Of several files of one Editor that of its own name counts, then the newest.
 */
function living(files: TrustedFile<EndpointFile>[], isAlive: (pid: number) => boolean): EndpointFile[] {
  const found = new Map<string, EndpointFile>();
  const isOwn = ({ name, content }: TrustedFile<EndpointFile>): number =>
    Number(name === `${content.editorId}.json`);
  for (const { content } of files.sort((a, b) => isOwn(b) - isOwn(a) || b.modifiedAt - a.modifiedAt)) {
    const isGone = LOOPBACK.has(content.host) && !isAlive(content.pid);
    if (!isGone && !found.has(content.editorId)) found.set(content.editorId, content);
  }
  return [...found.values()];
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
