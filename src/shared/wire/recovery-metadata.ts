/**
 * Record recovery (▲10 d): the metadata sent with a submit, from which a store that lost the operation can restore it.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import type { OperationRecord } from "../operation/operation.js";
import { effectOfTool, type Tool } from "../tools/tool.js";
import { type ListedOperation, RecoveryMetadata } from "./wire.js";

/** `rebuiltRecord` reads it back; nothing else interprets it. */
export function recoveryMetadataOf(record: OperationRecord, storeId: string): RecoveryMetadata {
  const { principal, tool, fingerprint, keyed, editorOpen, pool, supersedes, createdBy } = record;
  return {
    principal,
    tool,
    fingerprint,
    storeId,
    keyed,
    editorOpen,
    ...(pool === undefined ? {} : { pool }),
    ...(supersedes === undefined ? {} : { supersedes }),
    caller: createdBy.caller,
    requestId: createdBy.requestId,
  };
}

/**
 * The record of an operation that only the Editor still knows, in its state just after it was sent. Undefined if it is not
 * ours: made by a plain client, or in a store other than these (undefined: any store). `storeIds`: this store's id, and
 * its id before it was emptied.
 */
export function rebuiltRecord(
  listed: ListedOperation,
  around: {
    storeIds: readonly string[] | undefined;
    editor: string;
    session: string;
    tools: readonly Tool[];
    now: number;
  },
): OperationRecord | undefined {
  const read = RecoveryMetadata.safeParse(listed.origin);
  if (!read.success) return undefined;
  const isOurs = around.storeIds === undefined || around.storeIds.includes(read.data.storeId ?? "");
  if (!isOurs || listed.hash === undefined) return undefined;
  const { principal, tool, fingerprint, keyed, editorOpen, pool, supersedes, caller, requestId } = read.data;
  const known = around.tools.find(({ name }) => name === tool);
  return {
    logId: listed.operationId,
    hash: listed.hash,
    fingerprint,
    principal,
    tool,
    effect: known?.effect ?? effectOfTool(tool),
    lane: known?.lane ?? "main",
    cancellable: known?.cancellable ?? false,
    keyed: keyed ?? false,
    editor: around.editor,
    ...(pool === undefined ? {} : { pool }),
    editorOpen: editorOpen ?? false,
    after: listed.after ?? null,
    ...(supersedes === undefined ? {} : { supersedes }),
    // Given when it is restored.
    order: 0,
    entered: 0,
    incarnation: "",
    mutationSeq: 0,
    state: "dispatched",
    acceptedAt: listed.acceptedAt ?? around.now,
    dispatchedAt: listed.acceptedAt ?? around.now,
    createdBy: { caller: caller ?? null, requestId: requestId ?? null },
    sentIn: around.session,
    rebuilt: true,
  };
}

// Record recovery (▲10 d): the metadata of a submit comes back from an Editor and would create a record, so it is
// signed, together with everything that a record is rebuilt from. Only workers have the key; neither Editors nor the
// store have it.

/** The part of a submit beside the origin that the Editor repeats. */
export type Submitted = Pick<ListedOperation, "operationId" | "hash" | "after" | "acceptedAt">;

export interface RecoverySeal {
  sign(origin: RecoveryMetadata, submitted: Submitted): RecoveryMetadata;
  /** Whether a worker with this key submitted exactly this to this Editor. */
  isSigned(listed: Submitted & { origin?: unknown }): boolean;
}

/** Seals the operations of one Editor. */
export function createRecoverySeal(key: Buffer, editorId: string): RecoverySeal {
  const signatureOf = (origin: RecoveryMetadata, submitted: Submitted): string => {
    const { operationId, hash, after, acceptedAt } = submitted;
    const { principal, tool, fingerprint, storeId, keyed, editorOpen, supersedes, caller, requestId, pool } =
      origin;
    // This order must never change. JSON keeps numbers, texts and null distinct.
    const signed = [
      ...["unity-job-broker origin 1", editorId, operationId, hash, after, acceptedAt],
      ...[principal, tool, fingerprint, storeId, keyed, editorOpen, supersedes, caller, requestId],
      // As it was signed before there were pools.
      ...(pool === undefined ? [] : [pool]),
    ];
    const text = JSON.stringify(signed.map((value) => value ?? null));
    return createHmac("sha256", key).update(text).digest("base64url");
  };

  return {
    sign: (origin, submitted) => ({ ...origin, signature: signatureOf(origin, submitted) }),
    isSigned({ origin, ...submitted }) {
      const read = RecoveryMetadata.safeParse(origin);
      if (!read.success || read.data.signature === undefined) return false;
      const expected = Buffer.from(signatureOf(read.data, submitted));
      const given = Buffer.from(read.data.signature);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}
