/** What the system says that a process holds in memory. */
import { readFileSync } from "node:fs";

export interface Memory {
  /** MB, as for the others. What other processes map too counts in full. */
  resident: number;
  /** What others map too counts by its share. */
  proportional: number;
  /** What would be free if it ended. */
  own: number;
}

/** Linux only: undefined elsewhere. */
export function memoryOf(pid: number): Memory | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  } catch {
    return undefined;
  }
  const of = (field: string): number =>
    (Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)?.[1]) * 1_024) / 1e6;
  return { resident: of("Rss"), proportional: of("Pss"), own: of("Private_Clean") + of("Private_Dirty") };
}
