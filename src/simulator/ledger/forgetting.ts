/**
 * Which operations a ledger lets go of; pure. The C# bridge has its twin, and both read test/golden/forgetting.json.
 *
 * Only what the broker needs no more: acknowledged ends, and what was revoked or found not_started, each after the
 * retention and while too many are known, oldest first. The latest unrevoked one of a hash stays for `same_as` as long
 * as another of its hash stays; then it leaves too. Whatever leaves raises the forget horizon above its acceptance, so
 * that its id is RETIRED from then on.
 */
import type { LedgerOperation } from "./journal-entry.js";

export interface ForgetLimits {
  /** After this time (ms) … */
  forgetAfterMs: number;
  /** … and only while more than this many operations are known. */
  keepOperations: number;
}

export interface Forgotten {
  operationIds: string[];
  /** ms on the store's clock. */
  horizon: number;
}

/** `operations` in the order of the ledger. Undefined when nothing leaves. */
export function forgettable(
  operations: readonly LedgerOperation[],
  at: { now: number; horizon: number },
  limits: ForgetLimits,
): Forgotten | undefined {
  const chains = chainsOf(operations);
  const operationIds: string[] = [];
  let horizon = at.horizon;
  for (const operation of operations) {
    if (operations.length - operationIds.length <= limits.keepOperations) break;
    if ((operation.acknowledgedAt ?? Number.POSITIVE_INFINITY) > at.now - limits.forgetAfterMs) continue;
    const { operationId, acceptedAt, acknowledgedAt = 0 } = operation;
    // Revoked before it was ever submitted, nobody knows when it was accepted: before that revocation. It waits for the
    // horizon of others, by as much time as the two clocks may be apart.
    if (acceptedAt === undefined && at.horizon < acknowledgedAt + limits.forgetAfterMs) continue;
    const chain = operation.hash === undefined ? undefined : chains.get(operation.hash);
    if (chain?.at(-1) === operationId && chain.length > 1) continue;
    if (chain?.includes(operationId)) chain.splice(chain.indexOf(operationId), 1);
    operationIds.push(operationId);
    horizon = Math.max(horizon, (acceptedAt ?? 0) + 1);
  }
  return operationIds.length === 0 ? undefined : { operationIds, horizon };
}

/** The unrevoked ids of each hash, oldest first. */
function chainsOf(operations: readonly LedgerOperation[]): Map<string, string[]> {
  const chains = new Map<string, string[]>();
  for (const { operationId, hash, state, readOnly } of operations) {
    if (readOnly || hash === undefined || state === "revoked") continue;
    const chain = chains.get(hash);
    if (chain) chain.push(operationId);
    else chains.set(hash, [operationId]);
  }
  return chains;
}
