/** The log on a terminal: lines for people; programs get JSON. */
import { printableLine } from "../shared/printable.js";

/** pino's numbers. */
const LEVELS: Record<number, string> = { 20: "debug", 30: "info", 40: "warn", 50: "error" };

/** `line`: as pino writes it. Other text stays unchanged. */
export function readableLine(line: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  const { level, time, pid: _pid, hostname: _hostname, msg, ...values } = entry;
  const at = new Date(Number(time)).toISOString().slice(11, 19);
  const fields = Object.entries(values).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const severity = (LEVELS[Number(level)] ?? String(level)).padEnd(5);
  return `${printableLine([`${at} ${severity} ${String(msg)}`, ...fields].join("  "))}\n`;
}
