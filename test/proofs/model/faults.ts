/** What goes wrong, each only as often as the scenario's bounds say. */
import { isFinal, jobIdOf } from "../../../src/shared/operation/operation.js";
import { type Fault, spend } from "./bounds.js";
import { copyOf, EMPTY_STORE } from "./broker/store.js";
import { nameOf } from "./caller.js";
import { ending } from "./editor.js";
import type { Offer } from "./offer.js";
import type { Facts } from "./state/facts.js";
import { markOf } from "./state/mark.js";
import { disconnected, isSeated, withoutLease, withoutOwnership } from "./state/owner-state.js";
import {
  type EditorState,
  type Frame,
  nonceOf,
  type State,
  type StoreState,
  type Work,
  type WorkerState,
  withEditor,
  withWorker,
} from "./state/state.js";

export function faultSteps(state: State, facts: Facts, offer: Offer): void {
  const { left } = state;
  const may = (fault: Fault): boolean => left[fault] > 0;
  const happens = (fault: Fault, says: string, changes: Partial<State>): void =>
    offer("fault", says, { ...changes, left: spend(left, fault) });

  if (may("doubles")) doubles(state, happens);
  if (may("hours")) happens("hours", "an hour passes", { hour: state.hour + 1 });
  if (may("delays")) delays(state, happens);
  if (may("edits")) edits(state, happens);
  if (may("gatewayCrashes")) gatewayCrashes(state, happens);
  if (may("handJobs")) handJobs(state, happens);
  if (may("mutations")) {
    const mutations = state.store.mutations + 1;
    const own = { ...state.store.own, [`session ${state.caller.session}`]: mutations };
    const store: StoreState = { ...state.store, mutations, own };
    const caller = { ...state.caller, changes: state.caller.changes + 1 };
    happens("mutations", "the caller changes something else in the Editor", { store, caller });
  }
  for (const worker of state.workers) {
    if (!worker.fence) continue;
    if (may("workerCrashes")) {
      const next = { ...state, ...withoutOwnership(state, worker) };
      happens("workerCrashes", `${worker.name} crashes`, { ...next, ...withWorker(next, reborn(worker)) });
    }
    if (may("hangs") && state.store.leases[worker.editor] === nonceOf(worker)) {
      const store = withoutLease(state.store, worker.editor);
      happens("hangs", `${worker.name} stands still until its lease has run out`, { store });
    }
    if (may("cuts") && isSeated(state, worker)) cuts(state, worker, happens);
  }
  for (const editor of state.editors) {
    if (editor.up) editorFaults(state, editor, may, happens);
  }
  storeFaults(state, facts, may, happens);
  ledgerFaults(state, facts, may, happens);
}

type Happens = (fault: Fault, says: string, changes: Partial<State>) => void;
type May = (fault: Fault) => boolean;

function doubles({ requests }: State, happens: Happens): void {
  for (const request of requests) {
    const isTwice = requests.some((one) => one.id === request.id && one.isDouble);
    if (request.at !== "network" || isTwice) continue;
    const copy = { ...request, isDouble: true, open: false };
    happens("doubles", `a proxy sends ${nameOf(request)} twice`, { requests: [...requests, copy] });
  }
}

/** A client that has been answered within 10 s, and does not read that, does not give up in silence (docs/proofs/model.md). */
function delays({ requests }: State, happens: Happens): void {
  const slower = requests.map((one) =>
    one.slow === "no" ? { ...one, slow: one.at === "network" ? ("unread" as const) : ("yes" as const) } : one,
  );
  if (requests.length > 0) happens("delays", "10 s pass", { requests: slower });
}

/** What changes while something runs there is not known to have changed. */
function edits(state: State, happens: Happens): void {
  const [editor] = state.editors;
  const isBusy = editor?.ledger.entries.some(({ outcome, state: at }) => !outcome && at !== "revoked");
  if (!editor?.up || isBusy || Object.values(state.store.records).some((record) => !isFinal(record.state)))
    return;
  const edited = { ...editor, assets: editor.assets + 1 };
  const marks = { ...state.store.marks, [editor.id]: markOf(edited) };
  happens("edits", `assets change in ${editor.id}, whose heartbeat says so`, {
    ...withEditor(state, edited),
    store: { ...state.store, marks },
    caller: { ...state.caller, changes: state.caller.changes + 1 },
  });
}

function gatewayCrashes({ requests }: State, happens: Happens): void {
  const kept = requests.filter(({ at }) => at === "network");
  if (kept.length < requests.length) happens("gatewayCrashes", "the gateway crashes", { requests: kept });
}

function handJobs({ store }: State, happens: Happens): void {
  for (const record of Object.values(store.records)) {
    if (store.jobs.some(({ logId }) => logId === record.logId)) continue;
    const job = { id: jobIdOf(record), logId: record.logId, editor: record.editor };
    const says = `somebody adds the job of ${record.logId} manually`;
    happens("handJobs", says, { store: { ...store, jobs: [...store.jobs, job] } });
  }
}

const isOf = (worker: WorkerState, frame: Frame): boolean =>
  frame.worker === worker.name && frame.life === worker.life && frame.connection === worker.link?.connection;

function cuts(state: State, worker: WorkerState, happens: Happens): void {
  const next = { ...state, ...withWorker(state, disconnected(worker)) };
  const editors = next.editors.map((one) => (one.id === worker.editor ? { ...one, seat: null } : one));
  const lost = state.frames.filter((frame) => !isOf(worker, frame));
  const isWithFrame = lost.length < state.frames.length;
  const how = isWithFrame ? "; what it sent stays in the Editor's socket buffer" : "";
  const { workers } = next;
  happens("cuts", `the connection of ${worker.name} breaks${how}`, { workers, editors });
  if (!isWithFrame) return;
  happens("cuts", `the connection of ${worker.name} breaks; what it sent is lost`, {
    workers,
    editors,
    frames: lost,
  });
}

function editorFaults(state: State, editor: EditorState, may: May, happens: Happens): void {
  const { ledger } = editor;
  const frames = state.frames.filter((frame) => frame.editor !== editor.id);
  const shaken = { history: { ...state.history, isShaken: true } };
  if (may("editorCrashes")) {
    const down: EditorState = { ...editor, up: false, seat: null };
    happens("editorCrashes", `${editor.id} crashes`, { ...shaken, frames, ...withEditor(state, down) });
    const flushed = ledger.entries.filter((entry) => entry.state !== "accepted");
    if (flushed.length < ledger.entries.length) {
      const lost = { ...down, ledger: { ...ledger, entries: flushed } };
      const says = `${editor.id} crashes; what it had accepted was not on the disk`;
      happens("editorCrashes", says, { ...shaken, frames, ...withEditor(state, lost) });
    }
  }
  if (may("reloads")) {
    const entries = ledger.entries.map((entry) =>
      entry.state === "running" ? ending(entry, "interrupted", state, editor) : entry,
    );
    const generation = editor.generation + 1;
    const reloaded = {
      ...editor,
      generation,
      reloads: false,
      seat: null,
      ledger: { ...ledger, entries, seq: ledger.seq + 1 },
    };
    happens("reloads", `${editor.id} reloads its scripts`, {
      ...shaken,
      frames,
      ...withEditor(state, reloaded),
    });
  }
  const [oldest, ...younger] = ledger.entries;
  if (may("retires") && oldest?.outcome && younger.length > 0) {
    const retired = { ...editor, ledger: { ...ledger, entries: younger } };
    happens("retires", `the retention of ${oldest.id} ends in ${editor.id}`, withEditor(state, retired));
  }
  if (!may("forgets")) return;
  for (const entry of ledger.entries) {
    if (!entry.acknowledged || !entry.outcome || entry.outcome.error) continue;
    const error = { type: "result_lost", message: "" };
    const after = { ...entry, outcome: { ...entry.outcome, error } };
    const entries = ledger.entries.map((one) => (one === entry ? after : one));
    const says = `${editor.id} drops the result of ${entry.id}, which was acknowledged`;
    happens("forgets", says, withEditor(state, { ...editor, ledger: { ...ledger, entries } }));
  }
}

function storeFaults(state: State, facts: Facts, may: May, happens: Happens): void {
  const { store, copy, history } = state;
  if (may("copies") && copy !== store)
    happens("copies", "the store is saved as it is", {
      copy: copyOf(state),
      copyVersion: state.version,
    });
  if (may("restarts")) restarts(state, happens);
  if (!may("rollbacks") || store === (copy ?? EMPTY_STORE)) return;
  const says = copy ? "the store goes back to what was saved" : "the store is flushed";
  const incarnations = history.incarnations + 1;
  const back = {
    store: { ...(copy ?? EMPTY_STORE), incarnation: `i${incarnations}` },
    version: state.copyVersion,
    history: { ...history, storeWentBack: true, isShaken: true, incarnations },
  };
  if (facts.rollback !== "power loss") {
    // The jobs that were under way are waiting in the copy; the owners go on with what they know.
    const workers = state.workers.map((worker) => ({ ...worker, works: worker.works.map(withoutJob) }));
    happens("rollbacks", says, { ...back, workers });
    return;
  }
  const workers = state.workers.map((worker) => (worker.fence ? reborn(worker) : worker));
  const editors = state.editors.map((editor) => ({ ...editor, seat: null }));
  happens("rollbacks", `${says}, and every owner ends`, { ...back, workers, editors });
}

/** ▲13 Another run id: nobody can know that nothing is lost. */
function restarts({ store, history }: State, happens: Happens): void {
  const incarnations = history.incarnations + 1;
  happens("restarts", "the store is started again, and has lost nothing", {
    store: { ...store, incarnation: `i${incarnations}` },
    history: { ...history, isShaken: true, incarnations },
  });
}

const withoutJob = (work: Work): Work => ({ ...work, job: null });

const reborn = (worker: WorkerState): WorkerState => ({
  ...worker,
  life: worker.life + 1,
  fence: null,
  link: null,
  epochFrom: null,
  importedIn: null,
  works: [],
  acks: [],
});

/**
 * A copy from between accepted (or not started) and running lets the operation run again where the store has heard neither that it runs
 * nor of anything later in that journal: no memory is left (docs/proofs/model.md).
 */
function isDefended({ store, ledgerCopy }: State, { id }: EditorState): boolean {
  const isBetween = ledgerCopy?.entries.some((entry) => {
    const known = store.records[entry.id]?.state ?? "queued";
    const mayBegin = entry.state === "accepted" || entry.state === "not_started";
    return mayBegin && known !== "running" && !isFinal(known);
  });
  return !isBetween || (store.ledgers[id]?.ledgerSeq ?? 0) > (ledgerCopy?.seq ?? 0);
}

function ledgerFaults(state: State, facts: Facts, may: May, happens: Happens): void {
  const [editor] = state.editors;
  if (!editor) return;
  const { ledger } = editor;
  const history = { ...state.history, ledgerWentBack: true };
  if (may("ledgerCopies") && state.ledgerCopy !== ledger) {
    happens("ledgerCopies", `the ledger of ${editor.id} is copied`, { ledgerCopy: ledger });
  }
  if (editor.up) return;
  const isPlayed = facts.isStrict || isDefended(state, editor);
  if (may("ledgerRollbacks") && isPlayed && state.ledgerCopy && state.ledgerCopy !== ledger) {
    const back = withEditor(state, { ...editor, ledger: state.ledgerCopy });
    happens("ledgerRollbacks", `the copy of ${editor.id}'s ledger is put back`, { ...back, history });
  }
  if (may("ledgerLosses")) {
    const fresh = {
      ledgerId: `${ledger.ledgerId}'`,
      seq: 1,
      fence: null,
      session: 0,
      previous: null,
      entries: [],
    };
    happens("ledgerLosses", `the ledger of ${editor.id} is deleted`, {
      ...withEditor(state, { ...editor, ledger: fresh }),
      history,
    });
  }
}
