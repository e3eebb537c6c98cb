/** What an owner does at hello: the fence, what the journal still holds, what the store has lost, what goes on. */

import { isFinal, type OperationRecord } from "../../../../src/shared/operation/operation.js";
import { rebuiltRecord } from "../../../../src/shared/operation/recover.js";
import { memoryOf, type ReportedLedger, stillHolds } from "../../../../src/shared/wire/ledger-checkpoint.js";
import { takenOver } from "../broker/pools.js";
import { changed, openRecords, restored } from "../broker/store.js";
import { type Hello, hello } from "../editor.js";
import type { Offer } from "../offer.js";
import { type Facts, TOOLS } from "../state/facts.js";
import { markOf } from "../state/mark.js";
import { started } from "../state/owner-state.js";
import {
  type EditorState,
  type Entry,
  editorOf,
  HASH,
  nonceOf,
  now,
  STORE,
  type State,
  type StoreState,
  type WorkerState,
  withEditor,
  withWorker,
} from "../state/state.js";
import type { Rules } from "../switches.js";

/** Says hello; refused for its epoch, the lease holder raises it (src/worker/editor/handshake.ts, src/worker/owner/owned-operations.ts). */
export function saysHello(state: State, worker: WorkerState, facts: Facts, rules: Rules, offer: Offer): void {
  const editor = editorOf(state, worker.editor);
  if (!editor.up || !worker.fence) return;
  const fresh = rules.off === "epochKept" ? { store: state.store, worker } : withFreshEpoch(state, worker);
  const { store } = fresh;
  const fence = fresh.worker.fence ?? worker.fence;
  const reported = hello(editor, fence, rules);
  if (reported.kind === "hello") {
    enters({ ...state, store }, fresh.worker, editor, reported, facts, rules, offer);
    return;
  }
  const isOwner = store.leases[editor.id] === fence.ownerNonce;
  if (!isOwner || rules.off === "noRaise") return;
  const epoch = Math.max(store.epochs[editor.id] ?? 0, reported.highestEpoch) + 1;
  offer("part", `${worker.name} is FENCED by ${editor.id} and raises the epoch to ${epoch}`, {
    store: { ...store, epochs: { ...store.epochs, [editor.id]: epoch } },
    ...withWorker(state, { ...worker, fence: { ...fence, epoch }, epochFrom: null }),
  });
}

/**
 * ▲13 What the Editor knows is imported under an epoch that no earlier connection has used: what such a connection left in a buffer
 * would be journalled behind the import.
 */
function withFreshEpoch({ store }: State, worker: WorkerState): { store: StoreState; worker: WorkerState } {
  const { editor, fence, importedIn, epochFrom } = worker;
  const isDue = importedIn !== store.incarnation && epochFrom !== null;
  if (!fence || !isDue || store.leases[editor] !== fence.ownerNonce) return { store, worker };
  const epoch = Math.max(store.epochs[editor] ?? 0, fence.epoch) + 1;
  const epochs = { ...store.epochs, [editor]: epoch };
  return {
    store: { ...store, epochs },
    worker: { ...worker, fence: { ...fence, epoch }, epochFrom: null },
  };
}

/** After hello: what was sent before is asked for again, without waiting for its job (`resume` in owned-operations.ts). */
function enters(
  state: State,
  worker: WorkerState,
  editor: EditorState,
  reported: Extract<Hello, { kind: "hello" }>,
  facts: Facts,
  rules: Rules,
  offer: Offer,
): void {
  const store = afterHello(state, worker, editor, facts, rules);
  const connection = worker.connections + 1;
  const seat = { worker: worker.name, life: worker.life, connection };
  const sent = openRecords(store, editor.id).filter(
    ({ state: at }) => at === "dispatched" || at === "running",
  );
  const resumed = sent.filter(({ logId }) => !worker.works.some((work) => work.logId === logId));
  const works = [...worker.works, ...resumed.map(({ logId }) => started({ logId, job: null }))];
  const ended = editor.ledger.entries.filter(({ outcome, acknowledged }) => outcome && !acknowledged);
  const stored = ended.filter(({ id }) => isFinal(store.records[id]?.state ?? "queued")).map(({ id }) => id);
  const acks = facts.acknowledges ? [...new Set([...worker.acks, ...stored])] : [];
  const importedIn = store.incarnation;
  const epochFrom = worker.epochFrom ?? connection;
  const link = { connection, session: editor.session, ledgerId: editor.ledger.ledgerId };
  offer(
    "part",
    `${worker.name} says hello to ${editor.id} (epoch ${worker.fence?.epoch}, session ${editor.session})`,
    {
      store,
      ...withWorker(state, { ...worker, link, connections: connection, epochFrom, importedIn, works, acks }),
      ...withEditor(state, { ...editor, ledger: reported.ledger, seat }),
    },
  );
}

/** ▲10 (c), (d): a lost ledger is noticed, a lost record comes back, and what was seen of the journal is stored. */
function afterHello(
  state: State,
  worker: WorkerState,
  editor: EditorState,
  facts: Facts,
  { off }: Rules,
): StoreState {
  const { store } = state;
  const { id } = editor;
  const reported = toldBy(editor);
  // Written under the fence; what was seen of the journal is not.
  const isOwner = store.leases[id] === nonceOf(worker);
  const isLost = isOwner && off !== "lossUnnoticed" && !stillHolds(store.ledgers[id], reported);
  const marked = isLost ? openRecords(store, id).reduce(withLedgerLost, store) : store;
  const known = rebuilt(state, worker, marked, facts);
  return {
    ...known,
    ledgers: { ...known.ledgers, [id]: memoryOf(reported) },
    marks: { ...known.marks, [id]: markOf(editor) },
  };
}

/** What the Editor knows and the store has lost: at each hello what is open or not acknowledged, and ▲13 once in each incarnation everything. */
export function rebuilt(state: State, worker: WorkerState, store: StoreState, facts: Facts): StoreState {
  const editor = editorOf(state, worker.editor);
  const { id } = editor;
  if (store.leases[id] !== nonceOf(worker)) return store;
  const tools = [TOOLS[facts.tool]];
  const around = { storeIds: [STORE], editor: id, session: `s${editor.session}`, tools, now: now(state) };
  const isImport = store.imported[id] !== store.incarnation;
  const reported = editor.ledger.entries.filter((entry) => isImport || isListed(entry));
  const known = reported.reduce((at, entry) => {
    if (!entry.submitted || at.records[entry.id]) return at;
    const listed = { operationId: entry.id, state: entry.state, hash: HASH, ...entry.submitted };
    const record = rebuiltRecord(listed, around);
    return record ? restored(at, record) : at;
  }, store);
  const own = isImport && facts.isPool ? takenOver(known, id, editor.ledger.entries) : known;
  return { ...own, imported: { ...own.imported, [id]: own.incarnation } };
}

const isListed = ({ state, outcome, acknowledged }: Entry): boolean =>
  state === "accepted" || state === "running" || (outcome !== undefined && !acknowledged);

const withLedgerLost = (store: StoreState, { logId }: OperationRecord): StoreState =>
  changed(store, logId, (record) =>
    record.sentIn === undefined || record.ledgerLost
      ? undefined
      : { record: { ...record, ledgerLost: true } },
  ).store;

/** What hello and heartbeats say of the journal. */
function toldBy({ session, ledger }: EditorState): ReportedLedger {
  const { ledgerId, seq, previous } = ledger;
  const before = previous && { editorSessionId: `s${previous.session}`, ledgerSeq: previous.seq };
  return {
    ledgerId,
    editorSessionId: `s${session}`,
    ledgerSeq: seq,
    ...(before ? { previousSession: before } : {}),
  };
}

/** A heartbeat: the store learns how far the journal is. */
export function hearsHeartbeat(state: State, worker: WorkerState, facts: Facts, offer: Offer): void {
  const editor = editorOf(state, worker.editor);
  const seen = state.store.ledgers[editor.id];
  if (!facts.heartbeats || seen?.ledgerSeq === editor.ledger.seq) return;
  const ledgers = { ...state.store.ledgers, [editor.id]: memoryOf(toldBy(editor)) };
  const marks = { ...state.store.marks, [editor.id]: markOf(editor) };
  offer("part", `${worker.name} hears a heartbeat of ${editor.id}`, {
    store: { ...state.store, ledgers, marks },
  });
}
