/** The table of a run, and the story of what went wrong. */
import { openHttpClient } from "../../../harness/processes/process-clients.js";
import { countsOf, markdownTable } from "../../engine/report.js";
import type { ChaosIntent } from "../intent.js";
import type { ChaosWorld } from "../world.js";
import { whyInterrupted } from "./interruptions.js";
import type { ChaosViolation } from "./verdict.js";

export function table(world: ChaosWorld, executions: number, violations: number): string {
  const { intents, counts } = world.account;
  const faults = world.events.all();
  const last = intents.map((intent) => ({ intent, outcome: intent.outcomes.at(-1) }));
  const ends = countsOf(
    last.map(({ outcome }) => {
      const { status, error_code, error_type } = outcome?.reported ?? { status: "never told" };
      return error_code === "EDITOR_REFUSED" ? `refused: ${error_type}` : (error_code ?? status);
    }),
  );
  const interrupted = countsOf(
    last.flatMap(({ intent, outcome }) => {
      if (outcome?.reported.error_code !== "OUTCOME_UNKNOWN") return [];
      return [whyInterrupted(world, intent, outcome.reported, outcome.at) ?? "unexplained"];
    }),
  );
  return markdownTable(
    ["", ""],
    [
      ["operations", intents.length],
      ["calls sent", counts.calls],
      ["… that nobody answered", counts.unanswered],
      ["joined", counts.joined],
      ["replayed", counts.replayed],
      ["executions", executions],
      ...ends.map(([end, count]) => [`ended: ${end}`, count]),
      ...interrupted.map(([why, count]) => [`interrupted: ${why}`, count]),
      ["violations", violations],
      ["faults", faults.length],
      ...countsOf(faults.map(({ kind }) => kind)).map(([kind, count]) => [`- ${kind}`, count]),
    ],
  );
}

interface Line {
  at: number;
  text: string;
}

const BEFORE_MS = 1_000;

/** Everything that is known of one operation that went wrong, in the order of time. */
export async function story(world: ChaosWorld, { what, intent, others }: ChaosViolation): Promise<string> {
  if (!intent) return what;
  const intents = [intent, ...(others?.intents ?? [])];
  const executions = new Set([
    ...(others?.operationIds ?? []),
    ...intents.flatMap(({ logIds, outcomes }) => [
      ...logIds,
      ...outcomes.flatMap(({ reported }) => reported.log_id ?? []),
    ]),
  ]);
  const lines = intents.flatMap(reported);
  for (const logId of executions) {
    for (const { at, event } of world.witness.story(logId))
      lines.push({ at, text: `${logId.slice(0, 8)} ${event}` });
    for (const line of await timeline(world, logId)) lines.push(line);
  }
  const last = Math.max(...intents.flatMap((one) => [one.askedAt, ...one.outcomes.map(({ at }) => at)]));
  for (const { kind, target, at, until, detail } of world.events.around(
    intent.editor.name,
    intent.askedAt - BEFORE_MS,
    intent.outcomes.length > 0 ? last + BEFORE_MS : Date.now(),
  )) {
    lines.push({ at, text: `FAULT ${kind}, ${target} ${detail ?? ""} for ${(until ?? at) - at} ms` });
  }
  const inOrder = lines
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, text }) => `  ${new Date(at).toISOString().slice(11, 23)} ${text}`);
  return [`intent ${intent.number}: ${what}`, ...inOrder].join("\n");
}

/** What was asked, and what was answered for good. */
function reported(intent: ChaosIntent): Line[] {
  const { number, tool, args, editor, supersedes, askedAt, outcomes, setbacks } = intent;
  const again = supersedes === undefined ? "" : `, to run ${supersedes.slice(0, 8)} once more`;
  return [
    { at: askedAt, text: `intent ${number}: ${tool} ${JSON.stringify(args)} of ${editor.name}${again}` },
    ...setbacks.map(({ at, what }) => ({ at, text: `intent ${number} goes on after ${what}` })),
    ...outcomes.map(
      ({ at, reported: { status, error_code = "", error_type = "", log_id = "", error = "" } }) => ({
        at,
        text: `intent ${number} gets: ${status} ${error_code} ${error_type} ${log_id} ${error}`,
      }),
    ),
  ];
}

/** What the broker itself tells of it. */
async function timeline(world: ChaosWorld, logId: string): Promise<Line[]> {
  try {
    const gateway = world.gateways[0];
    const client = await openHttpClient(gateway?.url ?? (() => ""));
    const reported = await client.call("explain_operation", { log_id: logId });
    await client.close();
    const entries = (reported.timeline ?? []) as { at: string; event: string; detail?: string }[];
    return entries.map(({ at, event, detail }) => ({
      at: Date.parse(at),
      text: `${logId.slice(0, 8)} (broker) ${event} ${detail ?? ""}`,
    }));
  } catch (error) {
    return [{ at: Date.now(), text: `${logId}: not explained: ${(error as Error).message}` }];
  }
}
