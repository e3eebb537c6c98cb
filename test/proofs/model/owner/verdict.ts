/** What an owner does with an answer: the real `recover`, and `applyRecovery` of src/worker/execution/executor.ts. */
import { isFinal, type OperationRecord } from "../../../../src/shared/operation/operation.js";
import type { EditorReply, Recovery } from "../../../../src/shared/operation/recover.js";
import {
  started as begun,
  refusedOutcome,
  unknownOutcome,
} from "../../../../src/worker/execution/outcome.js";
import { changeOf } from "../broker/claims.js";
import { givenBackRevoked } from "../broker/pools.js";
import { now, type StoreState, type Work } from "../state/state.js";
import { waitsFor } from "./other.js";
import { recovered, type Verdict, withOther } from "./recovery.js";
import { ends, goesOn, handsOver, type Move, settles, type Turn, written } from "./turn.js";

/** In the real process it is 12. */
const MAX_QUESTIONS = 4;

export function actsOnAnswer(turn: Turn): Move | undefined {
  const { state, work, rules } = turn;
  const { logId, record, found } = work;
  const at = now(state);
  if (!record || !found) return undefined;
  const unknown = unknownOutcome({ why: "" }, at);
  if (work.questions >= MAX_QUESTIONS) return settles(turn, record, unknown, "gives up asking");
  if (work.asks === "revoke") {
    if (work.revokes?.then === "sent again") return resends(turn, { kind: "resubmit" });
    const isRevoked = "answer" in found && found.answer.state === "revoked";
    if (isRevoked && rules.off === "revokedGoesBack")
      return ends(turn, `gives ${logId} back to its pool`, givenBackRevoked(state.store, record));
    if (isRevoked) return settles(turn, record, unknown, "calls the outcome unknown");
    return asksAgain(turn, record, work.after, state.store, `will ask for ${logId} again, since it began`);
  }
  const known = withOther(turn, record, found);
  const verdict = recovered(known, record, found);
  const move = carriesOut(known, record, found, verdict);
  // What was restored is written first, under the same fence.
  return move && { ...move, changes: { store: known.state.store, ...move.changes } };
}

function carriesOut(turn: Turn, record: OperationRecord, found: EditorReply, verdict: Verdict): Move {
  const { state, work } = turn;
  const { logId } = work;
  const at = now(state);
  const unknown = unknownOutcome({ why: "" }, at);
  switch (verdict.kind) {
    case "settle":
      return settles(turn, record, verdict.outcome, "hears how it ended");
    case "fail":
      return settles(turn, record, refusedOutcome(verdict, at), "is refused");
    case "interrupt":
      if (turn.rules.off === "revokedGoesBack")
        return ends(turn, `gives ${logId} back to its pool`, givenBackRevoked(state.store, record));
      return settles(turn, record, unknown, "calls the outcome unknown");
    case "revoke":
      return revokes(turn, logId, "interrupted");
    case "attach":
      return attaches(turn, found, verdict);
    case "resubmit":
      if (verdict.instead !== undefined) return revokes(turn, verdict.instead, "sent again");
      return resends(turn, verdict);
    case "never_started": {
      const expired = { state: "expired", error: { code: "EXPIRED", type: "expired", message: "" } } as const;
      const change = written(turn, (latest) => ({ record: { ...latest, ...expired } }));
      return ends(turn, `says that ${logId} never started`, change.store);
    }
  }
}

function revokes(turn: Turn, id: string, then: "interrupted" | "sent again"): Move {
  const after: Work = { ...turn.work, at: "ask", asks: "revoke", revokes: { id, then }, found: null };
  return goesOn(turn, `wants ${id} revoked`, after);
}

function attaches(
  turn: Turn,
  found: EditorReply,
  { executedAs }: Extract<Recovery, { kind: "attach" }>,
): Move {
  const { state, work } = turn;
  const { logId } = work;
  if (executedAs === undefined) {
    const isRunning = "answer" in found && found.answer.state === "running";
    const { store } = written(turn, (latest) => (isRunning ? begun(latest, now(state)) : undefined));
    const following: Work = { ...work, at: "following", found: null, questions: 0 };
    return goesOn(turn, `follows ${logId}`, following, { store });
  }
  const change = written(turn, ({ startedAt: _none, ...latest }) => ({ record: { ...latest, executedAs } }));
  if (!("record" in change)) return handsOver(turn, `may not write ${logId}: ${change.kind}`);
  return waitsFor(turn, executedAs, change.store);
}

function resends(turn: Turn, { after, returned }: Extract<Recovery, { kind: "resubmit" }>): Move {
  const { state, work } = turn;
  const { logId, session } = work;
  const resent = changeOf(turn.worker, (claims) =>
    claims.resend({ logId } as OperationRecord, `s${session}`, returned ?? false),
  );
  const change = written(turn, (latest) => resent(latest, now(state)));
  if (!("record" in change)) return handsOver(turn, `may not write ${logId}: ${change.kind}`);
  const { record, store } = change;
  if (isFinal(record.state)) return ends(turn, `finds ${logId} ${record.state}`, store);
  const says = `will ask for ${logId} again${after === undefined ? "" : `, after ${after}`}`;
  return asksAgain(turn, record, after ?? work.after, store, says);
}

function asksAgain(
  turn: Turn,
  record: OperationRecord,
  after: string | null,
  store: StoreState,
  says: string,
): Move {
  const { work } = turn;
  const questions = work.questions + 1;
  const again: Work = {
    ...work,
    at: "ask",
    asks: "submit",
    revokes: null,
    record,
    after,
    found: null,
    questions,
  };
  return goesOn(turn, says, again, { store });
}
