/** What a write changes, under which conditions, and what became of it. */
import type { OperationRecord } from "../../operation/operation.js";
import type { StoredResult } from "../results/stored-result.js";

export interface Change {
  record: OperationRecord;
  result?: StoredResult | undefined;
}

/** The owner's nonce: a write is refused once another owner holds the lease (▲11). */
export type OwnerNonce = string | undefined;

export interface ChangeOptions {
  fence?: OwnerNonce;
  /** Store incarnation (▲13): write only in this incarnation of the store. */
  incarnation?: string | undefined;
  /** The Editor has it already: it needs no place among its principal's running operations. */
  wasSent?: boolean;
}

export type Changed =
  | { kind: "applied"; record: OperationRecord }
  | { kind: "unchanged"; record: OperationRecord }
  | { kind: "unknown" }
  | { kind: "not_owner" }
  /** Its principal's limit on running operations is reached: ask again. */
  | { kind: "held" }
  /** Store incarnation (▲13): the store may have lost something since: import the Editor's ledger first. */
  | { kind: "incarnation" }
  /** There is no room for its result (limits.ts): ask again. */
  | { kind: "full" };

export type Created =
  | { kind: "created"; record: OperationRecord }
  | { kind: "conflict" | "too_many" | "queue_full" | "full" };
