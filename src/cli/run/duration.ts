/** Durations as people write them: 90s, 10m, 2h, 1h30m. */
import { UsageError } from "../command.js";

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

/** ms. Throws a UsageError that names the option. */
export function durationIn(option: string, text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)([smh])/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text)
    throw new UsageError(`${option} ${text} is not a duration such as 90s, 10m or 2h`);
  return parts.reduce((ms, [, count, unit = ""]) => ms + Number(count) * (SECONDS[unit] ?? 0) * 1000, 0);
}

/** To the second: 5s, 1m 05s, 2h 00m. */
export function spoken(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (part: number): string => String(part).padStart(2, "0");
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h ${two(Math.floor((seconds % 3600) / 60))}m`;
}
