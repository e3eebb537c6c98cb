/** What the Editors executed, held against what was intended, and whether everybody was answered the same. */
import type { CallAnswer } from "../../../harness/processes/process-clients.js";
import { grouped } from "../grouped.js";
import type { Intent } from "../intents.js";
import type { Began } from "./answers.js";

/** By an Editor's own account. */
export interface Execution extends Began {
  /** As the Editor names it. */
  id: string;
  editor: string;
}

export interface Violation<I extends Intent = Intent> {
  what: string;
  intent: I | undefined;
  /** Whose stories belong to it, beside what its callers were answered. */
  others?: { intents: readonly I[]; operationIds: readonly string[] };
}

/** Invariant 1: no operation twice, and no call more often than it was intended; `exactly`: nor less often. */
export function misexecuted<I extends Intent>(
  executions: readonly Execution[],
  intents: readonly I[],
  { exactly = false } = {},
): Violation<I>[] {
  const intentsOf = grouped(intents, ({ label }) => label);
  const runsOf = grouped(executions, ({ call }) => call);
  const twice = [...grouped(executions, ({ id }) => id)].flatMap(([id, all]): Violation<I>[] => {
    const intent = intentsOf.get(all[0]?.call ?? "")?.[0];
    return all.length > 1 ? [{ what: `${id} was executed ${all.length} times`, intent }] : [];
  });
  const miscounted = [...new Set([...intentsOf.keys(), ...runsOf.keys()])].flatMap((call): Violation<I>[] => {
    const intended = intentsOf.get(call) ?? [];
    const runs = runsOf.get(call) ?? [];
    const most = mostRunsOf(intended);
    if (exactly ? runs.length === most : runs.length <= most) return [];
    const ids = runs.map(({ id, editor }) => `${id} in ${editor}`).join(", ");
    return [
      {
        what: `${call} was intended ${intended.length} time(s) and executed ${runs.length} time(s): ${ids}`,
        intent: intended[0],
        others: { intents: intended.slice(1), operationIds: runs.map(({ id }) => id) },
      },
    ];
  });
  return [...twice, ...miscounted];
}

/** What is repeatable may run for each call that was sent for it. */
function mostRunsOf(intended: readonly Intent[]): number {
  if (!intended[0]?.isRepeatable) return intended.length;
  return intended.reduce((sum, { sent }) => sum + sent, 0);
}

/**
 * Everybody who asked for an intent was answered the same; each run of what is repeatable has an outcome of its own.
 * `nameOf` tells outcomes apart; undefined: not this one.
 */
export function disagreement(
  { label, isRepeatable, outcomes }: Intent,
  nameOf: (reported: CallAnswer) => string | undefined,
): string | undefined {
  const runs = grouped(outcomes, ({ reported }) => (isRepeatable ? (reported.log_id ?? "") : ""));
  for (const run of runs.values()) {
    const names = new Set(run.map(({ reported }) => nameOf(reported)));
    names.delete(undefined);
    if (names.size > 1) return `${label} was answered ${[...names].join(" and ")}`;
  }
  return undefined;
}
