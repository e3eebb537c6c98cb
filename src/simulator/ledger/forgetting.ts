/**
 * Which operations a ledger forgets; pure. The C# bridge has a twin of this, and both read test/golden/forgetting.json.
 *
 * Only operations that the broker no longer needs: acknowledged, revoked or not_started ones, each after the
 * retention and while too many are known, the oldest first. The latest unrevoked one of a hash stays for `same_as` as long
 * as another of its hash stays; then it goes too. Each forgotten one raises the forget horizon above its acceptance, so
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

/** `operations` in the order of the ledger. Undefined if nothing is forgotten. */
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
    // If it was revoked before it was ever submitted, it was accepted at an unknown time before that. It waits for the
    // horizon of others, by the most that the two clocks may differ.
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
