/** The real `recover`, and what it becomes when one of its rules is off. */
import type { OperationRecord } from "../../../../src/shared/operation/operation.js";
import {
  type EditorReply,
  type OtherOperation,
  type Recovery,
  rebuiltRecord,
  recover,
} from "../../../../src/shared/operation/recover.js";
import { momentOf, restored } from "../broker/store.js";
import { TOOLS } from "../state/facts.js";
import { HASH, nonceOf, now, STORE } from "../state/state.js";
import type { Rules } from "../switches.js";
import type { Turn } from "./turn.js";

export type Verdict = Recovery | { kind: "never_started" };

/** ▲10 (b) The operation that the Editor names is restored where the store had lost it (src/worker/recovery/other-operation.ts). */
export function withOther(turn: Turn, record: OperationRecord, found: EditorReply): Turn {
  const { state, worker, work, facts } = turn;
  const { store } = state;
  const named = sameAsIn(found);
  if (!named || store.leases[worker.editor] !== nonceOf(worker)) return turn;
  const { operationId, stateThere, after, acceptedAt, origin } = named;
  const listed = { operationId, state: stateThere, hash: HASH, after, origin, acceptedAt };
  const around = {
    storeIds: [STORE],
    editor: worker.editor,
    session: `s${work.session}`,
    tools: [TOOLS[facts.tool]],
    now: now(state),
  };
  const lost = rebuiltRecord(listed, around);
  if (lost?.principal !== record.principal) return turn;
  return { ...turn, state: { ...state, store: restored(store, lost) } };
}

function sameAsIn(found: EditorReply) {
  return "answer" in found && found.answer.state === "same_as" && "stateThere" in found.answer
    ? found.answer
    : undefined;
}

export function recovered(turn: Turn, record: OperationRecord, found: EditorReply): Verdict {
  const { work, rules } = turn;
  const { off } = rules;
  const named = sameAsIn(found);
  const around = {
    session: `s${work.session}`,
    incarnation: (rules.off === "poolsForgetLosses" ? record.incarnation : turn.worker.importedIn) ?? "",
    other: named && otherOperation(turn, record, String(named.operationId)),
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

const LAST = 1_000_000;

function otherOperation(
  { state, rules: { off } }: Turn,
  record: OperationRecord,
  logId: string,
): OtherOperation {
  const moment = momentOf(state, record.createdBy.caller ?? "");
  const other = state.store.records[logId];
  if (!other) return { ...moment, record: other, isOver: false };
  switch (off) {
    case "knownIsOlder":
      return { ...moment, record: { ...other, entered: 0 }, isOver: false };
    case "forcedTakesOld":
      return {
        ...moment,
        record: record.supersedes === logId ? { ...other, entered: LAST } : other,
        isOver: false,
      };
    case "forcedSubmitsAgain":
      return { ...moment, record: record.supersedes ? { ...other, entered: 0 } : other, isOver: false };
    case "lostOutcomesAreFresh": {
      const { rebuilt: _restored, ...fresh } = other;
      return { ...moment, record: { ...fresh, mutationSeq: state.store.mutations }, isOver: false };
    }
    default:
      return { ...moment, record: other, isOver: false };
  }
}
