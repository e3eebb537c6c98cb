/** Chain check (▲10 b): the operation that an Editor names with `same_as`, restored if the store had lost it. */
import type { OperationRecord } from "../../shared/operation/operation.js";
import {
  type OtherOperation,
  type RecoverySeal,
  rebuiltRecord,
  type SameAs,
} from "../../shared/operation/recover.js";
import type { Store } from "../../shared/store/store.js";

/** Handles the answer to `record`'s submit in this Editor session. Writes under the owner's fence. */
export async function otherOperation(
  deps: { store: Store; editorId: string; fence: string; seal: Pick<RecoverySeal, "isSigned"> },
  record: OperationRecord,
  answer: SameAs,
  session: string,
): Promise<OtherOperation> {
  const { operations, editors } = deps.store;
  const { operationId, stateThere, endedAt } = answer;
  const isStored = (await operations.find(operationId)) !== undefined;
  // Without a time of its end there, only the store's own memory says so.
  const isOver =
    !isStored &&
    (endedAt === undefined
      ? (await operations.tombstone(operationId)) !== undefined
      : endedAt + deps.store.retentionMs < Date.now());
  if (!isOver) {
    const [tools, now] = await Promise.all([editors.tools(deps.editorId), operations.now()]);
    const { after, acceptedAt, origin } = answer;
    const listed = { operationId, state: stateThere, hash: record.hash, after, origin, acceptedAt };
    const around = { storeIds: undefined, editor: deps.editorId, session, tools, now };
    const lost = deps.seal.isSigned(listed) ? rebuiltRecord(listed, around) : undefined;
    // Invariant 8: nobody gets the operation of another principal. Writes nothing if the store knows it.
    if (lost?.principal === record.principal) await operations.restore(lost, deps.fence);
  }
  const { principal, createdBy } = record;
  const caller = createdBy.caller === null ? null : { id: createdBy.caller, transport: "http" as const };
  const [moment, found] = await Promise.all([
    operations.moment([deps.editorId], { principal, caller }),
    operations.find(operationId),
  ]);
  return { ...moment, isOver, record: found?.principal === principal ? found : undefined };
}
