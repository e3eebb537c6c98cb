/** The evidence kept for an unknown outcome: the Editor's last signs of life, and the end of its own log. */

import { basename, dirname, extname, join } from "node:path";
import type { Evidence, OperationRecord } from "../../shared/operation/operation.js";
import { head } from "../../shared/printable.js";
import { LOOPBACK } from "../discovery/endpoint-folder.js";
import type { EditorLink } from "../editor/editor-link.js";
import type { HeartbeatRecorder } from "./heartbeat.js";
import { type LogPlaces, openLog } from "./log-places.js";

// The end of an Editor's own log, its last lines before it fell silent.

/** More would not fit into an answer. */
const LINES = 20;
const LINE_LENGTH = 300;
const BYTES = 8 * 1024;

/**
 * Resolves the last lines, or undefined if there is no such file that may be read (log-places.ts). `ended`: of the previous Editor process,
 * whose log Unity keeps as `<name>-prev<ext>` when it starts again.
 */
export async function endOfLog(
  logFile: string,
  ended: boolean,
  places: LogPlaces,
  projectPath: string | undefined,
): Promise<string[] | undefined> {
  const lastLines = (file: string) => linesOf(file, places, projectPath);
  const extension = extname(logFile);
  const previous = join(dirname(logFile), `${basename(logFile, extension)}-prev${extension}`);
  const lines = (ended ? await lastLines(previous) : undefined) ?? (await lastLines(logFile));
  return lines?.length === 0 ? undefined : lines;
}

async function linesOf(
  file: string,
  places: LogPlaces,
  projectPath: string | undefined,
): Promise<string[] | undefined> {
  const handle = await openLog(file, places, projectPath);
  if (!handle) return undefined;
  try {
    const { size } = await handle.stat();
    const from = Math.max(0, size - BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(BYTES), 0, BYTES, from);
    const lines = buffer.toString("utf8", 0, bytesRead).split(/\r?\n/);
    // The first one may be incomplete.
    return lines
      .slice(from > 0 ? 1 : 0)
      .filter((line) => line.trim() !== "")
      .slice(-LINES)
      .map((line) => head(line, LINE_LENGTH));
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}

export function createEvidence(deps: {
  link: Pick<EditorLink, "hello">;
  heartbeat: Pick<HeartbeatRecorder, "lastSigns">;
  host: string;
  /** From the endpoint file, because hello would be the Editor's own claim. */
  projectPath(): string | undefined;
  logPlaces: LogPlaces;
}): (record: OperationRecord) => Promise<Evidence> {
  return async (record) => {
    const { logFile, editorSessionId } = deps.link.hello ?? {};
    const signs = deps.heartbeat.lastSigns(record);
    // The log of an Editor on another machine is not here.
    if (logFile === undefined || !LOOPBACK.has(deps.host)) return signs;
    const ended = record.sentIn !== editorSessionId;
    const editorLog = await endOfLog(logFile, ended, deps.logPlaces, deps.projectPath());
    return editorLog ? { ...signs, editorLog } : signs;
  };
}
