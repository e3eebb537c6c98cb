/** What the life of an operation in its owner depends on: the Editor, the store, and the owner itself. */
import type { Evidence, OperationRecord } from "../shared/operation.js";
import type { OriginSeal } from "../shared/origin-seal.js";
import type { OtherOperation, Refusal } from "../shared/recover.js";
import type { Operations } from "../shared/redis/operations.js";
import type { StoredResult } from "../shared/redis/stored-result.js";
import type { GetAnswer, Outcome, SubmitAnswer, SubmitParams } from "../shared/wire.js";
import type { RevokeAnswer } from "./editor-calls.js";
import type { SameAs } from "./other-operation.js";

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

export interface ProcessDeps {
  /** The Editor that this owner owns. */
  editorId: string;
  storeId: string;
  seal: Pick<OriginSeal, "sign">;
  operations: Pick<Operations, "find" | "look" | "change" | "restore" | "argumentsOf" | "now">;
  editor: EditorPort;
  /** The owner's nonce: writes are refused once another owner holds the lease (▲11). */
  fence: string;
  /** ▲10 (b) What the store knows of the operation that the Editor named in place of this one. */
  otherOperation(record: OperationRecord, answer: SameAs, session: string): Promise<OtherOperation>;
  /** Runs or resumes another operation of this Editor, as one piece of work with whoever does so already. */
  alsoProcess(logId: string): Promise<Processed>;
  /** ▲13 The incarnation of the store in which everything that the Editor knows was imported. */
  importedIn(): string;
  /** ▲13 The store has lost something since: imports again, before anything more is claimed. */
  importAgain(): Promise<void>;
  /** ▲14 The outcome is stored: the Editor may be told so, once it is durable. */
  acknowledge(logId: string): void;
  /** The record asks for a cancellation that the Editor has not heard of. */
  passOnCancel(record: OperationRecord): void;
  /** What tells of an unknown outcome how it may have come to it. */
  evidence(record: OperationRecord): Promise<Evidence>;
  /** Resolves after a while, at once when the signal aborts. */
  pause(signal: AbortSignal): Promise<void>;
  /** The store has no room for a result: tells it, and resolves when it may be tried again; else as `pause`. */
  roomAgain(signal: AbortSignal): Promise<void>;
  warn(values: Record<string, unknown>, message: string): void;
}

/** `settled`: nothing is left to do. `refused`: not a job to run (▲1). `handed_over`: another owner goes on.
 *  `held`: its principal has as many running as it may; to be asked for again. */
export type Processed = "settled" | "refused" | "handed_over" | "held";
