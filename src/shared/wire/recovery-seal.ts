/**
 * Record recovery (▲10 d): the metadata of a submit comes back from an Editor and would create a record, so it is
 * signed, together with everything that a record is rebuilt from. Only workers have the key; neither Editors nor the
 * store have it.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { type ListedOperation, RecoveryMetadata } from "./wire.js";

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
