/**
 * ▲10 (d) What travels with a submit comes back from an Editor, and would make a record: so it is signed, together with all
 * that a record is rebuilt from. The key is the workers' own; neither Editors nor the store have it.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { type ListedOperation, Origin } from "./wire.js";

/** What a submit says beside the origin, and the Editor says again. */
export type Submitted = Pick<ListedOperation, "operationId" | "hash" | "after" | "acceptedAt">;

export interface OriginSeal {
  sign(origin: Origin, submitted: Submitted): Origin;
  /** Whether a worker with this key submitted exactly that to this Editor. */
  isSigned(listed: Submitted & { origin?: unknown }): boolean;
}

/** Of the operations of one Editor. */
export function createOriginSeal(key: Buffer, editorId: string): OriginSeal {
  const signatureOf = (origin: Origin, submitted: Submitted): string => {
    const { operationId, hash, after, acceptedAt } = submitted;
    const { principal, tool, fingerprint, storeId, keyed, editorOpen, supersedes, caller, requestId } =
      origin;
    // In this order for ever; JSON keeps a number apart from a text, and null from both.
    const signed = [
      ...["unity-job-broker origin 1", editorId, operationId, hash, after, acceptedAt],
      ...[principal, tool, fingerprint, storeId, keyed, editorOpen, supersedes, caller, requestId],
    ];
    const text = JSON.stringify(signed.map((value) => value ?? null));
    return createHmac("sha256", key).update(text).digest("base64url");
  };

  return {
    sign: (origin, submitted) => ({ ...origin, signature: signatureOf(origin, submitted) }),
    isSigned({ origin, ...submitted }) {
      const read = Origin.safeParse(origin);
      if (!read.success || read.data.signature === undefined) return false;
      const expected = Buffer.from(signatureOf(read.data, submitted));
      const given = Buffer.from(read.data.signature);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}
