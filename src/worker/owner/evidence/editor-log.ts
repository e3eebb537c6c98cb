/** The end of an Editor's own log, its last lines before it fell silent. */
import { basename, dirname, extname, join } from "node:path";
import { head } from "../../../shared/shortened-text.js";
import { type LogPlaces, openLog } from "./log-places.js";

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
