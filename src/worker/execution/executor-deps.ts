/** What the life of an operation in its owner depends on: the Editor, the store, and the owner itself. */
import type { Evidence, OperationRecord } from "../../shared/operation/operation.js";
import type { OtherOperation, Refusal } from "../../shared/operation/recover.js";
import type { Operations } from "../../shared/store/operations/operation-store.js";
import type { StoredResult } from "../../shared/store/results/stored-result.js";
import type { RecoverySeal } from "../../shared/wire/recovery-seal.js";
import type { GetAnswer, Outcome, SubmitAnswer, SubmitParams } from "../../shared/wire/wire.js";
import type { RevokeAnswer } from "../editor/editor-calls.js";
import type { SameAs } from "../recovery/other-operation.js";

/** A submit without what the connection adds: fence and ledger. */
export type UnfencedSubmit = Pick<
  SubmitParams,
  "operationId" | "hash" | "after" | "origin" | "tool" | "arguments" | "argumentsHash" | "acceptedAt"
>;

/** The Editor as the process sees it. Every call rejects `lost` errors when the connection ends before the answer. */
export interface EditorPort {
  /** Resolves when the Editor can be asked; rejects when the signal aborts. */
  ready(signal: AbortSignal): Promise<void>;
  /** The session that would be asked now; undefined while there is none. */
  session(): string | undefined;
  submit(params: UnfencedSubmit): Promise<SubmitAnswer>;
  get(operationId: string): Promise<GetAnswer>;
  revoke(operationId: string): Promise<RevokeAnswer>;
  /** The outcome's result as it is stored, also where it did not fit into a frame. */
  result(operationId: string, outcome: Outcome): Promise<StoredResult | undefined>;
  /** The Editor's own error answer, if this error is one; undefined: ask again when it is ready. */
  refusal(error: unknown): Refusal | undefined;
  /** False only if it is certain that not a byte of the request left. */
  wasSent(error: unknown): boolean;
  /** The Editor's answer that it quits: it took nothing of what was asked. */
  isLeaving(error: unknown): boolean;
  /** Listens for the end of an operation; `outcome` rejects when the connection ends first. */
  follow(operationId: string): { outcome: Promise<Outcome>; stop(): void };
  mark(): OperationRecord["editorMark"];
}

export interface ExecutorDeps {
  /** The Editor that this owner owns. */
  editorId: string;
  storeId: string;
  seal: Pick<RecoverySeal, "sign">;
  operations: Pick<Operations, "find" | "look" | "change" | "restore" | "argumentsOf" | "now">;
  editor: EditorPort;
  /** The owner's nonce: writes are refused once another owner holds the lease: fence (▲11). */
  fence: string;
  /** Chain check (▲10 b): what the store knows of the operation that the Editor named in place of this one. */
  otherOperation(record: OperationRecord, answer: SameAs, session: string): Promise<OtherOperation>;
  /** Runs or resumes another operation of this Editor. If a run of it is under way already, shares that run. */
  processShared(logId: string): Promise<ExecutorResult>;
  /** Store incarnation (▲13): the one in which everything that the Editor knows was imported. */
  importedIn(): string;
  /** Store incarnation (▲13): the store has lost something since; imports again, before anything more is claimed. */
  importAgain(): Promise<void>;
  /** Durable acknowledgement (▲14): the outcome is stored; once that is durable, the Editor may forget it. */
  acknowledge(logId: string): void;
  /** The record asks for a cancellation that the Editor has not heard of. */
  passOnCancel(record: OperationRecord): void;
  /** What is known of how an outcome became unknown. */
  evidence(record: OperationRecord): Promise<Evidence>;
  /** Resolves after a while, at once when the signal aborts. */
  pause(signal: AbortSignal): Promise<void>;
  /** The results in the store have reached their quota: reports that, and resolves when to try again; else as `pause`. */
  awaitResultQuota(signal: AbortSignal): Promise<void>;
  warn(values: Record<string, unknown>, message: string): void;
}

export type ExecutorResult =
  /** Nothing is left to do. */
  | "settled"
  /** Not a job to run: no record, no dispatch (▲1). */
  | "refused"
  /** Another owner goes on. */
  | "handed_over"
  /** Its principal has as many running as it may; to be asked for again. */
  | "held";

/** `try_again`: something has changed meanwhile that the next attempt will see. */
export type AttemptResult = ExecutorResult | "try_again";
