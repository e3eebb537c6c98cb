/** ▲10 (b) An operation that another one answers for: `copyOutcomeOf` of src/worker/execution/outcome.ts. */
import { isFinal } from "../../../../src/shared/operation/operation.js";
import { answeredBy } from "../../../../src/worker/execution/outcome.js";
import { started } from "../state/owner-state.js";
import { replaced, type State, type Work, withWorker } from "../state/state.js";
import { ends, goesOn, handsOver, type Move, type Turn, written } from "./turn.js";

/** The other one is carried through as well, and this one takes its state. */
export function waitsFor(turn: Turn, executedAs: string, store: State["store"]): Move {
  const { state, worker, work } = turn;
  const waiting: Work = { ...work, at: "other", found: null, record: store.records[work.logId] ?? null };
  const isUnderWay = worker.works.some(({ logId }) => logId === executedAs);
  const also = isUnderWay ? [] : [started({ logId: executedAs, job: null })];
  const works = [...replaced(worker.works, work, waiting), ...also];
  const says = `takes the outcome of ${executedAs} for ${work.logId}`;
  return { says, changes: { store, ...withWorker(state, { ...worker, works }) } };
}

export function takesOutcome(turn: Turn): Move | undefined {
  const { state, worker, work } = turn;
  const { logId } = work;
  const executedAs = work.record?.executedAs ?? "";
  const isUnderWay = worker.works.some((one) => one.logId === executedAs);
  if (isUnderWay) return undefined;
  const other = state.store.records[executedAs];
  if (other && !isFinal(other.state)) return waitsFor(turn, executedAs, state.store);
  const change = written(turn, (record) => {
    if (isFinal(record.state)) return undefined;
    if (other) return answeredBy(record, other);
    // Lost with the store once more: the Editor is asked anew.
    const { executedAs: _lost, ...latest } = record;
    return { record: latest };
  });
  if (change.kind === "not_owner") return handsOver(turn, `may not store the end of ${logId}`);
  const isOver = !("record" in change) || isFinal(change.record.state);
  const says = `${logId} ends as ${executedAs} did`;
  return isOver ? ends(turn, says, change.store) : goesOn(turn, says, started(work), { store: change.store });
}
