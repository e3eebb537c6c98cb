/** One operation in its owner, step by step as in src/worker/execution/executor.ts and conversation.ts: claim → ask → follow → settle. */
import { isFinal, isWaiting, type OperationRecord } from "../../../../src/shared/operation/operation.js";
import { recoveryMetadataOf } from "../../../../src/shared/operation/recover.js";
import { mustNotBeSent } from "../../../../src/worker/execution/executor.js";
import { started as begun } from "../../../../src/worker/execution/outcome.js";
import { changeOf } from "../broker/claims.js";
import { openRecords } from "../broker/store.js";
import type { Offer } from "../offer.js";
import { disconnected, isSeated, started } from "../state/owner-state.js";
import { editorOf, type Frame, now, STORE, type Work, withEditor, withWorker } from "../state/state.js";
import { rebuilt } from "./hello.js";
import { takesOutcome, waitsFor } from "./other.js";
import { ends, goesOn, handsOver, type Move, settles, type Turn, written } from "./turn.js";
import { actsOnAnswer } from "./verdict.js";

export function pipelineSteps(turn: Turn, offer: Offer): void {
  const move = moveOf(turn);
  if (!move) return;
  offer("part", `${turn.worker.name} ${move.says}`, move.changes);
}

function moveOf(turn: Turn): Move | undefined {
  switch (turn.work.at) {
    case "start":
      return claims(turn);
    case "claimed":
    case "ask":
      return asks(turn);
    case "answered":
      return actsOnAnswer(turn);
    case "following":
      return follows(turn);
    case "other":
      return takesOutcome(turn);
    case "asked":
      return undefined;
  }
}

function claims(turn: Turn): Move | undefined {
  const { state, worker, work, rules } = turn;
  const { logId } = work;
  const known = state.store.records[logId];
  const isChecked = rules.off !== "noClaimChecks";
  if (!known || known.editor !== worker.editor) {
    return ends(turn, `refuses the job of ${logId}: it is not to be run here`, state.store);
  }
  if (isChecked && isFinal(known.state)) {
    const isSent = known.sentIn !== undefined && known.executedAs === undefined;
    return ends(turn, `finds ${logId} ${known.state}`, state.store, isSent ? logId : undefined);
  }
  if (known.executedAs !== undefined) return waitsFor(turn, known.executedAs, state.store);
  if (!worker.link) return undefined;
  const { session } = worker.link;
  const claimed = changeOf(believing(turn, known), (of) => of.claim(logId, `s${session}`));
  const change = written(
    turn,
    (latest) => {
      const found = isChecked ? latest : { ...latest, state: "queued" as const };
      return claimed(found, now(state));
    },
    { incarnation: worker.importedIn },
  );
  if (change.kind === "incarnation") return importsAgain(turn);
  if (!("record" in change)) return handsOver(turn, `may not claim ${logId}: ${change.kind}`);
  const { record } = change;
  const isFresh = change.kind === "applied";
  if (isWaiting(record.state))
    return ends(turn, `refuses the job of ${logId}: it waits for its pool`, change.store);
  // Nothing was written, which would have told.
  if (known.pool !== undefined && !isFresh && worker.importedIn !== state.store.incarnation)
    return importsAgain(turn);
  const after: Work = { ...work, at: "claimed", session, isFresh, record, after: record.after };
  const says = `${isFresh ? "claims" : "adopts"} ${logId} in session ${session}`;
  return goesOn(turn, says, after, { store: change.store });
}

/** Without that rule an owner takes an operation from before a loss for one of the present. */
const believing = ({ worker, rules }: Turn, { incarnation }: OperationRecord): Turn["worker"] =>
  rules.off === "poolsForgetLosses" ? { ...worker, importedIn: incarnation ?? null } : worker;

/** Between the claim and the socket the Editor's session is looked at once more, later not. */
function asks(turn: Turn): Move | undefined {
  const { state, worker, work, rules } = turn;
  const { logId, record, session, isFresh } = work;
  const unsent = changeOf(worker, (of) => of.giveBack(logId, { wasSent: false }));
  const { link } = worker;
  if (!record) return undefined;
  if (!link || (work.at === "claimed" && link.session !== session)) {
    const { store } = written(turn, (latest) => (isFresh ? unsent(latest, now(state)) : undefined));
    const says = `could not send ${logId}${isFresh ? " and takes the claim back" : ""}`;
    return goesOn(turn, says, started(work), { store });
  }
  const { importedIn } = believing(turn, record);
  const maySubmit = record.sentIn === `s${session}` && !mustNotBeSent(record, importedIn ?? "");
  const asked = work.revokes ? "revoke" : maySubmit ? "submit" : "get";
  const id = work.revokes?.id ?? logId;
  const after = rules.off === "afterAtSending" ? newestBeside(turn) : work.after;
  const says = asked === "submit" ? `submits ${id} (after ${after ?? "none"})` : `asks to ${asked} ${id}`;
  const waiting: Work = { ...work, at: "asked", asks: asked };
  if (!isSeated(state, worker)) return goesOn(turn, `${says} into a dead connection`, waiting);
  const frame = frameOf(turn, asked, id, asked === "submit" ? after : null);
  return goesOn(turn, says, waiting, { frames: [...state.frames, ...frame] });
}

function newestBeside({ state, work }: Turn): string | null {
  const others = Object.values(state.store.records).filter(({ logId }) => logId !== work.logId);
  return others.sort((a, b) => b.order - a.order)[0]?.logId ?? null;
}

function frameOf({ worker, work }: Turn, asks: Frame["asks"], id: string, after: string | null): Frame[] {
  const { fence, link, name, life, editor } = worker;
  if (!fence || !link || !work.record) return [];
  const from = { worker: name, life, connection: link.connection, fence, ledgerId: link.ledgerId };
  const { logId, record } = work;
  const { acceptedAt } = record;
  const origin = asks === "submit" ? recoveryMetadataOf(record, STORE) : null;
  return [{ editor, session: link.session, ...from, asks, id, logId, after, acceptedAt, origin }];
}

/** Hears `running` and `finished`, for as long as its connection is the Editor's. */
function follows(turn: Turn): Move | undefined {
  const { state, worker, work } = turn;
  if (!isSeated(state, worker) || !work.record) return undefined;
  const id = work.logId;
  const entry = editorOf(state, worker.editor).ledger.entries.find((one) => one.id === id);
  if (entry?.outcome) return settles(turn, work.record, entry.outcome, `hears the end of ${id}`);
  if (entry?.state !== "running") return undefined;
  const change = written(turn, (latest) => begun(latest, now(state)));
  return change.kind === "applied"
    ? { says: `hears that ${id} runs`, changes: { store: change.store } }
    : undefined;
}

/** ▲13 The store may have lost something since the Editor's operations were imported: a claim finds that, and each heartbeat. */
export function importsAgain({ state, worker, facts, rules }: Omit<Turn, "work">): Move {
  if (worker.link?.connection !== worker.epochFrom && rules.off !== "epochKept") {
    const says = "finds the store changed, and says hello again, with an epoch that it has not used yet";
    const unseated = withEditor(state, { ...editorOf(state, worker.editor), seat: null });
    return { says, changes: { ...unseated, ...withWorker(state, disconnected(worker)) } };
  }
  const says = `finds the store changed, and imports what ${worker.editor} knows`;
  const store = rebuilt(state, worker, state.store, facts);
  const sent = openRecords(store, worker.editor).filter(
    ({ state: at }) => at === "dispatched" || at === "running",
  );
  const more = sent.filter(({ logId }) => !worker.works.some((one) => one.logId === logId));
  const works = [...worker.works, ...more.map(({ logId }) => started({ logId, job: null }))];
  return {
    says,
    changes: { store, ...withWorker(state, { ...worker, works, importedIn: store.incarnation }) },
  };
}
