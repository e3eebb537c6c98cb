/** Processor time of the processes that serve a call, from Linux's /proc. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** What a process is, by its command line; the first that fits. */
const PARTS: readonly [part: string, fits: RegExp][] = [
  ["Redis", /redis-server|valkey-server/],
  ["Editor", /bench\/editor-process/],
  ["pipe", /main\.js mcp\b/],
  ["broker", /main\.js broker\b/],
];

/** A clock tick of the kernel's counters, ms. */
const TICK_MS = 10;

/** ms by part, since each process began: of the processes that name one of these folders, or work in it. */
export function processorTimes(folders: readonly string[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const [environment, command, stat] = ["environ", "cmdline", "stat"].map((name) => textOf(pid, name));
    if (!command || !stat) continue;
    const said = [command, environment, workingFolderOf(pid)].join(" ");
    if (!folders.some((folder) => said.includes(folder))) continue;
    const [part] = PARTS.find(([, fits]) => fits.test(command.replaceAll("\0", " "))) ?? [];
    if (part === undefined) continue;
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    times.set(part, (times.get(part) ?? 0) + ticks * TICK_MS);
  }
  return times;
}

function workingFolderOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}

function textOf(pid: string, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return undefined;
  }
}
