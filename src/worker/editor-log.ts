/** The end of an Editor's own log: what it said last before it fell silent. */
import { open } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";

/** More helps nobody and would not fit into an answer. */
const LINES = 20;
const LINE_LENGTH = 300;
const BYTES = 8 * 1024;

/**
 * Resolves the last lines, or undefined where there is no such file. `ended`: of the Editor process before this one,
 * whose log Unity keeps as `<name>-prev<ext>` when it starts again.
 */
export async function endOfLog(logFile: string, ended: boolean): Promise<string[] | undefined> {
  const extension = extname(logFile);
  const previous = join(dirname(logFile), `${basename(logFile, extension)}-prev${extension}`);
  const lines = (ended ? await lastLines(previous) : undefined) ?? (await lastLines(logFile));
  return lines?.length === 0 ? undefined : lines;
}

async function lastLines(file: string): Promise<string[] | undefined> {
  const handle = await open(file).catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { size } = await handle.stat();
    const from = Math.max(0, size - BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(BYTES), 0, BYTES, from);
    const lines = buffer.toString("utf8", 0, bytesRead).split(/\r?\n/);
    // The first may be half a line.
    return lines
      .slice(from > 0 ? 1 : 0)
      .filter((line) => line.trim() !== "")
      .slice(-LINES)
      .map((line) => line.slice(0, LINE_LENGTH));
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}
