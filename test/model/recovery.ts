/** The real `recover`, and what it becomes when one of its rules is off. */
import type { OperationRecord } from "../../src/shared/operation.js";
import { type Found, type Recovery, recover } from "../../src/shared/recover.js";
import { HOUR, now, type State, type StoreState } from "./state.js";
import type { Rules } from "./switches.js";
import type { Turn } from "./turn.js";

/** What src/worker/ancestors.ts finds, without waiting; test/model.test.ts holds the two against each other. */
export function ancestorsIn(store: Pick<StoreState, "records">, { after }: OperationRecord): string[] {
  const found: string[] = [];
  for (let at = after; at !== null && found.length < 12; ) {
    const before: OperationRecord | undefined = store.records[at];
    at = before?.after ?? null;
    found.push(...[before?.executedAs, at].filter((id) => typeof id === "string"));
  }
  return found;
}

export type Verdict = Recovery | { kind: "never_started" };

export function recovered(
  { state, work, rules: { off } }: Turn,
  record: OperationRecord,
  found: Found,
): Verdict {
  const isSameAs = "answer" in found && found.answer.state === "same_as";
  const around = {
    session: `s${work.session}`,
    ancestors: isSameAs ? ancestorsOf(state, record, found, off) : [],
    now: now(state),
    retentionMs: 24 * HOUR,
  };
  const recovery = recover(asKnown(record, off), found, around);
  const isUnknown = "answer" in found && found.answer.state === "unknown";
  if (!isUnknown) return recovery;
  if (off === "unknownNeverStarted") return { kind: "never_started" };
  if (off === "sentInIgnored" && !("type" in recovery)) return { kind: "resubmit" };
  if (off === "noRevoke" && recovery.kind === "revoke") return { kind: "interrupt", why: "unknown" };
  return recovery;
}

function asKnown(record: OperationRecord, off: Rules["off"]): OperationRecord {
  const { supersedes: _supersedes, ...plain } = record;
  if (off === "forcedTakesOld") return plain;
  if (off !== "lossUnnoticed") return record;
  const { ledgerLost: _ledgerLost, ...found } = record;
  return record.state === "running" ? { ...found, state: "dispatched" } : found;
}

function ancestorsOf(state: State, record: OperationRecord, found: Found, off: Rules["off"]): string[] {
  const isTreatedAlike = off === "forcedTakesOld" && record.supersedes !== undefined;
  if (off === "noAncestors" || isTreatedAlike) return [];
  if (off !== "everythingIsAncestor") return ancestorsIn(state.store, record);
  return "answer" in found && "operationId" in found.answer ? [String(found.answer.operationId)] : [];
}
