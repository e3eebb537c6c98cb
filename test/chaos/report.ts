/** The table of a run, and the story of what went wrong. */
import type { CallTally } from "./caller.js";
import { whyInterrupted } from "./interruptions.js";
import type { Execution, Violation } from "./verdict.js";
import type { Wish } from "./wish.js";
import type { ChaosWorld } from "./world.js";

export interface Counts {
  faults: Map<string, number>;
  operations: number;
  executions: number;
  calls: CallTally;
  /** By how it was told to end. */
  ends: Map<string, number>;
  interrupted: Map<string, number>;
}

export function countsOf(
  world: ChaosWorld,
  wishes: readonly Wish[],
  executions: readonly Execution[],
  calls: CallTally,
): Counts {
  const ends = new Map<string, number>();
  const interrupted = new Map<string, number>();
  const add = (counts: Map<string, number>, name: string): void =>
    void counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const wish of wishes) {
    const last = wish.told.at(-1);
    const { status, error_code, error_type } = last?.told ?? { status: "never told" };
    add(ends, error_code === "EDITOR_REFUSED" ? `refused: ${error_type}` : (error_code ?? status));
    if (last && error_code === "OUTCOME_UNKNOWN")
      add(interrupted, whyInterrupted(world, wish, last.told, last.at) ?? "unexplained");
  }
  const faults = world.events.counts();
  return { faults, operations: wishes.length, executions: executions.length, calls, ends, interrupted };
}

export function table(counts: Counts, violations: readonly Violation[]): string {
  const { calls } = counts;
  const faults = [...counts.faults].toSorted(([a], [b]) => a.localeCompare(b));
  const total = faults.reduce((sum, [, count]) => sum + count, 0);
  const rows: [string, number][] = [
    ["operations", counts.operations],
    ["calls sent", calls.calls],
    ["… that nobody answered", calls.unanswered],
    ["joined", calls.joined],
    ["replayed", calls.replayed],
    ["executions", counts.executions],
    ...[...counts.ends].toSorted().map(([end, count]): [string, number] => [`ended: ${end}`, count]),
    ...[...counts.interrupted]
      .toSorted()
      .map(([why, count]): [string, number] => [`interrupted: ${why}`, count]),
    ["violations", violations.length],
    ["faults", total],
    ...faults.map(([kind, count]): [string, number] => [`- ${kind}`, count]),
  ];
  return ["| | |", "|---|---:|", ...rows.map(([name, count]) => `| ${name} | ${count} |`)].join("\n");
}

interface Line {
  at: number;
  text: string;
}

const BEFORE_MS = 1_000;

/** Everything that is known of one operation that went wrong, in the order of time. */
export async function story(world: ChaosWorld, { what, wish, others }: Violation): Promise<string> {
  if (!wish) return what;
  const wishes = [wish, ...(others?.wishes ?? [])];
  const executions = new Set([
    ...(others?.operationIds ?? []),
    ...wishes.flatMap(({ logIds, told }) => [...logIds, ...told.flatMap((one) => one.told.log_id ?? [])]),
  ]);
  const lines = wishes.flatMap(told);
  for (const logId of executions) {
    for (const { at, event } of world.witness.story(logId))
      lines.push({ at, text: `${logId.slice(0, 8)} ${event}` });
    for (const line of await timeline(world, logId)) lines.push(line);
  }
  const last = Math.max(...wishes.flatMap((one) => [one.askedAt, ...one.told.map(({ at }) => at)]));
  for (const { kind, target, at, until, detail } of world.events.around(
    wish.editor.name,
    wish.askedAt - BEFORE_MS,
    wish.told.length > 0 ? last + BEFORE_MS : Date.now(),
  )) {
    lines.push({ at, text: `FAULT ${kind}, ${target} ${detail ?? ""} for ${(until ?? at) - at} ms` });
  }
  const inOrder = lines
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, text }) => `  ${new Date(at).toISOString().slice(11, 23)} ${text}`);
  return [`wish ${wish.number}: ${what}`, ...inOrder].join("\n");
}

/** What was asked, and what was answered for good. */
function told({ number, tool, args, editor, supersedes, askedAt, told: answers }: Wish): Line[] {
  const again = supersedes === undefined ? "" : `, to run ${supersedes.slice(0, 8)} once more`;
  return [
    { at: askedAt, text: `wish ${number}: ${tool} ${JSON.stringify(args)} of ${editor.name}${again}` },
    ...answers.map(({ at, told: { status, error_code = "", error_type = "", log_id = "", error = "" } }) => ({
      at,
      text: `wish ${number} is told: ${status} ${error_code} ${error_type} ${log_id} ${error}`,
    })),
  ];
}

/** What the broker itself tells of it. */
async function timeline(world: ChaosWorld, logId: string): Promise<Line[]> {
  const { openHttpClient } = await import("../harness/process-clients.js");
  try {
    const gateway = world.gateways[0];
    const client = await openHttpClient(() => (gateway ? world.urlOf(gateway) : ""));
    const told = await client.call("explain_operation", { log_id: logId });
    await client.close();
    const entries = (told.timeline ?? []) as { at: string; event: string; detail?: string }[];
    return entries.map(({ at, event, detail }) => ({
      at: Date.parse(at),
      text: `${logId.slice(0, 8)} (broker) ${event} ${detail ?? ""}`,
    }));
  } catch (error) {
    return [{ at: Date.now(), text: `${logId}: not explained: ${(error as Error).message}` }];
  }
}
