/** The dependencies of the executor: the Editor, the store, and the owner itself. */

import type { Evidence, OperationRecord } from "../../shared/operation/operation.js";
import type { OtherOperation, RecoverySeal, Refusal, SameAs } from "../../shared/operation/recover.js";
import type { Operations } from "../../shared/store/operations/operation-store.js";
import type { StoredResult } from "../../shared/store/operations/record.js";
import type { Log } from "../../shared/telemetry.js";
import type { Lane } from "../../shared/tools/tool.js";
import type { GetAnswer, Outcome, SubmitAnswer, SubmitParams } from "../../shared/wire/wire.js";
import type { RevokeAnswer } from "../editor/editor-calls.js";

/** A submit without fence and ledger, which the connection adds. */
export type UnfencedSubmit = Pick<
  SubmitParams,
  | "operationId"
  | "hash"
  | "after"
  | "origin"
  | "tool"
  | "arguments"
  | "argumentsHash"
  | "acceptedAt"
  | "traceparent"
  | "tracestate"
>;

/** The Editor as the executor sees it. Every call rejects if the connection ends before the answer. */
export interface EditorPort {
  /** Resolves once the Editor can be asked; rejects when the signal aborts. */
  ready(signal: AbortSignal): Promise<void>;
  /** The session that answers now; undefined while there is none. */
  session(): string | undefined;
  submit(params: UnfencedSubmit): Promise<SubmitAnswer>;
  get(operationId: string): Promise<GetAnswer>;
  revoke(operationId: string): Promise<RevokeAnswer>;
  /** The outcome's result in its stored form, even if it did not fit into a frame. */
  result(operationId: string, outcome: Outcome): Promise<StoredResult | undefined>;
  /** The Editor's own error answer, if this error is one; undefined: ask again once it is ready. */
  refusal(error: unknown): Refusal | undefined;
  /** False only if certainly no byte of the request left. */
  wasSent(error: unknown): boolean;
  /** Did the Editor answer that it is quitting? Then it did nothing of what was asked. */
  isLeaving(error: unknown): boolean;
  /** Listens for the end of an operation; `outcome` rejects if the connection ends first. */
  follow(operationId: string): { outcome: Promise<Outcome>; stop(): void };
  mark(): OperationRecord["editorMark"];
}

export interface ExecutorDeps {
  /** The Editor that this owner owns. */
  editorId: string;
  storeId(): string;
  seal: Pick<RecoverySeal, "sign">;
  operations: Pick<
    Operations,
    "find" | "argumentsOf" | "claim" | "change" | "restore" | "now" | "incarnation"
  >;
  editor: EditorPort;
  /** The owner's nonce: writes are refused once another owner holds the lease: fence (▲11). */
  fence: string;
  /** Chain check (▲10 b): what the store knows of the operation that the Editor named in place of this one. */
  otherOperation(record: OperationRecord, answer: SameAs, session: string): Promise<OtherOperation>;
  /** Runs or resumes another operation of this Editor; shares a run that is already under way. */
  processShared(logId: string): Promise<ExecutorResult>;
  /** Whether the Editor's lane is paused. */
  isPaused(lane: Lane): Promise<boolean>;
  /** Store incarnation (▲13): the incarnation in which all that the Editor knows was imported. */
  importedIn(): string;
  /** Store incarnation (▲13): the store has lost something since; imports again before anything more is claimed. */
  importAgain(): Promise<void>;
  /** Durable acknowledgement (▲14): the outcome is stored; once it is durable, the Editor may forget it. */
  acknowledge(logId: string): void;
  /** Was a cancellation of it announced, perhaps before the Editor knew the operation? */
  wasCancelAnnounced(logId: string): boolean;
  /** The record requests a cancellation that the Editor has not received. */
  passOnCancel(record: OperationRecord): void;
  /** The evidence for an outcome that became unknown. */
  evidence(record: OperationRecord): Promise<Evidence>;
  /** Resolves after a pause, or at once when the signal aborts. */
  pause(signal: AbortSignal): Promise<void>;
  /** The results in the store have reached their quota: reports that, and resolves when to try again; else as `pause`. */
  awaitResultQuota(signal: AbortSignal): Promise<void>;
  log: Pick<Log, "debug" | "warn">;
}

export type ExecutorResult =
  /** Nothing is left to do. */
  | "settled"
  /** The same, and the operation has failed or was interrupted. */
  | "failed"
  /** This job must not run: no record, no dispatch (▲1). */
  | "refused"
  /** Another owner continues, or this one once the lane is resumed. */
  | "handed_over"
  /** Its principal's limit on running operations is reached; try again later. */
  | "held";

/** `try_again`: something changed meanwhile, which the next attempt will see. */
export type AttemptResult = ExecutorResult | "try_again";
