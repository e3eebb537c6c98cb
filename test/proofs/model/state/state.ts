/**
 * The whole system at one moment, as plain values that are never changed in place.
 *
 * Small enough that every state can be visited: one hash, a few requests, one or two workers and Editors. Everything
 * that a step of the real parts reads or writes is here; nothing else is.
 */
import type { Fence } from "../../../../src/shared/operation/decide.js";
import type { Asking, EditorMark, OperationRecord } from "../../../../src/shared/operation/operation.js";
import type { EditorReply } from "../../../../src/shared/operation/recover.js";
import type { LedgerCheckpoint } from "../../../../src/shared/wire/ledger-checkpoint.js";
import type { LedgerState, Outcome, RecoveryMetadata } from "../../../../src/shared/wire/wire.js";
import type { Bounds } from "../bounds.js";

export const HASH = "h";
export const STORE = "store";
const LABEL = "android";
/** Every Editor is in it. */
export const LABELS: readonly string[] = [LABEL];
export const POOL = `pool:${LABEL}`;
export const HOUR = 3_600_000;
/** The store's clock at hour 0, ms. */
const EPOCH = 1_000_000_000;

export interface State {
  /** The clock, in hours: most stories need one. */
  hour: number;
  caller: CallerState;
  requests: readonly Request[];
  store: StoreState;
  /** Grows with each write of a record, as the chain's own: a decision is carried out only if it is still the same. */
  version: number;
  /** What a fault may bring back: the store as it was when it was last durable, or saved. */
  copy: StoreState | null;
  copyVersion: number;
  workers: readonly WorkerState[];
  frames: readonly Frame[];
  editors: readonly EditorState[];
  /** The first Editor's ledger, as somebody saved it. */
  ledgerCopy: Ledger | null;
  history: History;
  left: Bounds;
}

export interface CallerState {
  /** How often it went on in another session. */
  session: number;
  lastId: number;
  /** How often it changed something else in the Editor. */
  changes: number;
  intents: readonly Intent[];
  /** Answers on their way to a caller that still waits. */
  replies: readonly Reply[];
}

/** One decision that a call be executed; every request sent for it belongs to it. */
export interface Intent {
  /** Somebody else's, who names the last Editor. */
  isOthers: boolean;
  /** The log_id that `force_new` names. */
  force: string | null;
  /** Its caller has read how it ended, or does not want it any more. */
  over: boolean;
  isEscaped?: true;
  logId: string | null;
  /** Those changes, and the mutations that were accepted, when it was intended. */
  changes: number;
  mutations: number;
}

export interface Reply {
  request: number;
  intent: number;
  logId: string;
  /** It never began, so the intent still stands. */
  isNothing: boolean;
  /** Its request had been open for 10 s. */
  isSlow: boolean;
}

/** What a `create` was decided on. */
export interface Plan {
  version: number;
  incarnation: string;
  editor: string;
  pool?: string;
  editorOpen: boolean;
  after: string | null;
  supersedes?: string;
  askers?: Record<string, Asking>;
}

export interface Request {
  id: number;
  /** A proxy sent it a second time. */
  isDouble: boolean;
  intent: number;
  /** The session that it is sent in. */
  caller: string;
  asks: "call" | "name" | "cancel";
  /** The log_id of `force_new`, or of get_operation_result. */
  names: string | null;
  /** The request that a cancellation gives up, and whether it names a timeout. */
  cancels: { id: number; isTimeout: boolean } | null;
  /** The Editor that the call names. */
  target: string | null;
  /** Its caller still waits for the answer. */
  open: boolean;
  /** The gateway knows that nobody does. */
  isDropped: boolean;
  /** 10 s have passed since it was sent; `unread`: before the gateway had read it. */
  slow: "no" | "unread" | "yes";
  /** How its operation answers it. */
  relation: "created" | "joined" | "replayed" | "read" | null;
  /** `telling`: the delivery is noted, the answer not written; `noting`: the other way round; `reset`: it cannot have been read. */
  at: "network" | "creating" | "waiting" | "telling" | "noting" | "reset";
  /** Its connection was reset as it was answered. */
  isReset?: true;
  plan?: Plan;
  logId?: string;
}

export interface Job {
  id: string;
  logId: string;
  editor: string;
}

export interface StoreState {
  incarnation: string;
  /** By Editor: the incarnation in which everything that its ledger holds was imported. */
  imported: Readonly<Record<string, string>>;
  /** How many records have entered: grows as the version of the chain does. */
  entered: number;
  records: Readonly<Record<string, OperationRecord>>;
  /** By log_id: the operation whose outcome is stored. */
  results: Readonly<Record<string, string>>;
  newest: string | null;
  /** Of each Editor the newest, and the newest that it began. */
  at: Readonly<Record<string, string>>;
  began: Readonly<Record<string, string>>;
  /** By the log_id that force_new named. */
  forced: Readonly<Record<string, string>>;
  mutations: number;
  /** That count at the last such operation of each caller. */
  own: Readonly<Record<string, number>>;
  /** By Editor: where it stands, as it last said. */
  marks: Readonly<Record<string, EditorMark>>;
  jobs: readonly Job[];
  /** Ids of finished jobs; kept only where an id may be used again (schedule P). */
  doneJobs: readonly string[];
  /** By Editor: the owner's nonce and the highest epoch. */
  leases: Readonly<Record<string, string>>;
  epochs: Readonly<Record<string, number>>;
  /** By Editor: what was seen of its journal. */
  ledgers: Readonly<Record<string, LedgerCheckpoint>>;
}

/** One operation on its way through an owner: claim → ask → follow → settle. */
export interface Work {
  logId: string;
  /** It came with this job, which goes back if the owner ends. */
  job: Job | null;
  /** `other`: another operation answers for it, and its end is waited for. */
  at: "start" | "claimed" | "ask" | "asked" | "answered" | "following" | "other";
  /** The Editor session that this attempt began with. */
  session: number;
  /** Claimed in this attempt, not adopted. */
  isFresh: boolean;
  asks: "submit" | "get" | "revoke";
  /** What is to be revoked, and what follows when it is. */
  revokes: { id: string; then: "interrupted" | "sent again" } | null;
  after: string | null;
  /** As this attempt knows it. */
  record: OperationRecord | null;
  found: EditorReply | null;
  /** Answers that only led to another question. */
  questions: number;
}

export interface WorkerState {
  name: string;
  /** Grows with each start and each lease: with the name, the owner's nonce. */
  life: number;
  editor: string;
  /** It believes to hold the lease. */
  fence: Fence | null;
  /** It believes to be connected. */
  link: { connection: number; session: number; ledgerId: string } | null;
  connections: number;
  /** The first connection that said hello with the present epoch. */
  epochFrom: number | null;
  /** ▲13 The incarnation in which it imported what the Editor knows; nothing is claimed in another. */
  importedIn: string | null;
  works: readonly Work[];
  /** Stored outcomes that the Editor has no acknowledgement of. */
  acks: readonly string[];
}

/** A request on its way to an Editor, or in its socket's buffer, even if a process has died meanwhile. */
export interface Frame {
  editor: string;
  /** Of the Editor's process that holds the socket. */
  session: number;
  worker: string;
  life: number;
  connection: number;
  asks: "submit" | "get" | "revoke";
  /** The operation that is asked about … */
  id: string;
  /** … for this one of the store. */
  logId: string;
  after: string | null;
  acceptedAt: number;
  origin: RecoveryMetadata | null;
  fence: Fence;
  ledgerId: string;
}

export interface Entry {
  id: string;
  state: LedgerState;
  /** As submitted; absent when it was revoked before. */
  submitted?: { after: string | null; acceptedAt: number; origin: RecoveryMetadata };
  outcome?: Outcome;
  acknowledged: boolean;
}

export interface Ledger {
  ledgerId: string;
  /** Durable entries. */
  seq: number;
  fence: Fence | null;
  /** The process that writes it, and the one before with its last entry. */
  session: number;
  previous: { session: number; seq: number } | null;
  entries: readonly Entry[];
}

export interface EditorState {
  id: string;
  up: boolean;
  session: number;
  /** Domain reloads, and changes of assets. */
  generation: number;
  assets: number;
  /** A compilation has announced a reload that is still to come. */
  reloads: boolean;
  ledger: Ledger;
  /** The worker that said hello last. */
  seat: { worker: string; life: number; connection: number } | null;
}

/** What the judge remembers; no part of the system reads it. */
export interface History {
  /** op1, op2 … in the order of creation: for which intent, in which hour, after how many executions and changes. */
  made: readonly { intent: number; hour: number; begun: number; changes: number }[];
  /** Executions in order: the operation, the Editor, and the changes that it has seen. */
  begun: readonly { id: string; editor: string; changes: number }[];
  /** The first hour in which a final outcome was written to a caller that waited, or was about to be. */
  toldAt: Readonly<Record<string, number>>;
  /** Who asked for the outcome of an operation, and for which intent. */
  asked: readonly { id: string; caller: string; intent: number }[];
  /** Who has read the outcome of an operation, as the gateway knows. */
  read: readonly { id: string; caller: string }[];
  /** Who has cancelled its request for an operation on purpose. */
  escaped: readonly { id: string; caller: string }[];
  /** Each answer with an outcome that was written: to which request, and the last one sent by then. */
  reported: readonly { id: string; intent: number; request: number; lastId: number }[];
  /** The Editor or the store changed otherwise, so that what is repeatable may run again. */
  isShaken: boolean;
  incarnations: number;
  storeWentBack: boolean;
  ledgerWentBack: boolean;
  /** What just went wrong; such a state is not explored further. */
  fault: string | null;
}

export const now = ({ hour }: Pick<State, "hour">): number => EPOCH + hour * HOUR;

/** The list with the one that fits replaced. */
export function replaced<T>(list: readonly T[], old: T, by: T): readonly T[] {
  return list.map((one) => (one === old ? by : one));
}

export function without<T>(list: readonly T[], old: T): readonly T[] {
  return list.filter((one) => one !== old);
}

export function editorOf(state: State, id: string): EditorState {
  const found = state.editors.find((editor) => editor.id === id);
  if (!found) throw new Error(`no Editor ${id}`);
  return found;
}

export const withEditor = (state: State, editor: EditorState): Pick<State, "editors"> => ({
  editors: state.editors.map((one) => (one.id === editor.id ? editor : one)),
});

export const withWorker = (state: State, worker: WorkerState): Pick<State, "workers"> => ({
  workers: state.workers.map((one) => (one.name === worker.name ? worker : one)),
});

export const nonceOf = (worker: Pick<WorkerState, "name" | "life">): string =>
  `${worker.name}.${worker.life}`;
