/** What a load must leave behind: as many executions as calls, none twice, nothing wrong, and memory that does not grow. */
import type { LoadReport } from "./load.js";

/** What a process may have in the last quarter, of what it had in the second: the mean of its resident memory … */
const MOST_GROWTH = 1.25;
/** … and what it holds after a collection of garbage, at the end, and when the second quarter began. */
const MOST_GROWTH_HELD = 1.15;
/** Processes whose memory is judged; that of Redis grows by what it keeps, and that of the Editors by their ledgers. */
const JUDGED = ["gateway", "worker"] as const;

export function wrongCounts({ counts, wrong }: LoadReport): string[] {
  const { sent } = counts;
  const found = wrong.slice(0, 10).map((what) => `wrong answer: ${what}`);
  if (wrong.length > found.length) found.push(`… and ${wrong.length - found.length} more`);
  for (const [what, count] of Object.entries(counts))
    if (count !== sent) found.push(`${sent} calls were sent, and ${what} are ${count}`);
  return found;
}

/** Means of the four quarters, MB. */
export function quarters({ samples }: LoadReport, name: string): number[] {
  return [0, 1, 2, 3].map((quarter) => {
    const from = Math.floor((quarter * samples.length) / 4);
    const part = samples.slice(from, Math.floor(((quarter + 1) * samples.length) / 4));
    return part.reduce((total, { memory }) => total + (memory[name] ?? Number.NaN), 0) / part.length;
  });
}

export const growthOf = (report: LoadReport, name: string): number => {
  const [, second = Number.NaN, , last = Number.NaN] = quarters(report, name);
  return last / second;
};

const heldGrowthOf = ({ held }: LoadReport, name: (typeof JUDGED)[number]): number =>
  (held.at(-1)?.[name].megabytes ?? Number.NaN) / (held[1]?.[name].megabytes ?? Number.NaN);

export function grown(report: LoadReport): string[] {
  return JUDGED.flatMap((name) => {
    const [resident, held] = [growthOf(report, name), heldGrowthOf(report, name)];
    const found: string[] = [];
    if (!(resident <= MOST_GROWTH))
      found.push(`the resident memory of the ${name} grew to ${resident.toFixed(2)} ×`);
    if (!(held <= MOST_GROWTH_HELD)) found.push(`what the ${name} holds grew to ${held.toFixed(2)} ×`);
    return found;
  });
}
