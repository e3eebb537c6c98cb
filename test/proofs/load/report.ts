/** What a run says, in columns. */
import { machineLine } from "../bench/measure/report.js";
import { growthOf, quarters } from "./judge.js";
import type { Idle, LoadReport } from "./load.js";
import type { Held } from "./stage.js";
import type { RedisCounts } from "./watch.js";

export function printed(report: LoadReport): string {
  const { machine, options, counts, latencies, lateMs, tookSeconds, samples } = report;
  const { editors, sessions, perSecond, seconds } = options;
  const [first, last] = [samples[0], samples.at(-1)];
  const processes = Object.keys(last?.memory ?? {});
  const wall = ((last?.at ?? 0) - (first?.at ?? 0)) / 1_000;
  return [
    machineLine(machine),
    `${editors} Editors, ${sessions} sessions, ${perSecond} calls a second for ${seconds} s; over after ${tookSeconds.toFixed(1)} s; load at the end ${report.loadAtEnd.toFixed(1)}`,
    Object.entries(counts)
      .map(([what, count]) => `${what} ${count}`)
      .join(", "),
    `latency, ms: ${latencies.map(([share, ms]) => `p${share * 100} ${ms.toFixed(1)}`).join(", ")}; sent late (p99): ${lateMs.toFixed(1)}`,
    "",
    "under load: memory of the quarters, MB; last / second; processor, ms a second; ms a call",
    ...processes.map((name) => {
      const used = (last?.processorMs[name] ?? 0) - (first?.processorMs[name] ?? 0);
      return `  ${name}: ${quarters(report, name)
        .map((mean) => mean.toFixed(1))
        .join(
          ", ",
        )}; ${growthOf(report, name).toFixed(3)}; ${(used / wall).toFixed(0)}; ${(used / counts.sent).toFixed(2)}`;
    }),
    ...PROCESSES.map(
      (name) => `  ${name} holds: ${report.held.map((held) => heldText(held[name])).join("; ")}`,
    ),
    "",
    ...PROCESSES.map(
      (name) =>
        `${name}, idle: ${heldText(report.heldEmpty[name])}; with the Editors ${heldText(report.heldIdle[name])}`,
    ),
    ...idleLines("no Editor", report.empty),
    ...idleLines(`${editors} Editors, idle`, report.idle),
    `Redis, from the sessions to the end: ${report.connected.keys} to ${report.end.keys} keys, ${megabytes(report.connected)} to ${megabytes(report.end)}`,
    `commands of a call: ${perCall(report)}`,
  ].join("\n");
}

const PROCESSES = ["gateway", "worker"] as const;

const heldText = ({ megabytes, timers, sockets }: Held): string =>
  `${megabytes.toFixed(1)} MB, ${timers} timers, ${sockets} sockets`;

const megabytes = ({ bytes }: RedisCounts): string => `${(bytes / 1e6).toFixed(2)} MB`;

/** The ten most frequent; those that only idle Editors need are among them. */
function perCall({ connected, end, counts }: LoadReport): string {
  return Object.entries(end.byCommand)
    .map(([name, count]): [string, number] => [
      name,
      (count - (connected.byCommand[name] ?? 0)) / counts.sent,
    ])
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, 10)
    .map(([name, count]) => `${name} ${count.toFixed(1)}`)
    .join(", ");
}

function idleLines(what: string, { redis, memory, perSecond, processorMs }: Idle): string[] {
  const numbers = (of: Record<string, number>): string =>
    Object.entries(of)
      .map(([name, value]) => `${name} ${value.toFixed(1)}`)
      .join(", ");
  return [
    `${what}: Redis ${redis.connections} connections, ${redis.keys} keys, ${megabytes(redis)}`,
    `  a second: ${numbers(perSecond)}; processor, ms: ${numbers(processorMs)}`,
    `  memory, MB: ${numbers(memory)}`,
  ];
}
