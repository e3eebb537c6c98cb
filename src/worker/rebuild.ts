/** ▲10 (d) ▲13 What the Editor knows and the store has forgotten gets its record back. */
import type { Log } from "../shared/log.js";
import { rebuiltRecord } from "../shared/origin.js";
import type { Operations } from "../shared/redis/operations.js";
import type { Store } from "../shared/redis/store.js";
import type { HelloResult } from "../shared/wire.js";
import type { EditorCalls } from "./editor-calls.js";

export interface RebuildDeps {
  store: Store;
  editorId: string;
  storeIds: readonly string[];
  log: Log;
}

/**
 * At each hello what the Editor has open or not acknowledged; once in each incarnation of the store everything that its
 * ledger holds, because then also what was acknowledged may be lost. Afterwards each is an operation like any other
 * that was sent: followed, collected, found by its log_id. Resolves the incarnation in which it was done.
 */
export async function rebuildRecords(
  deps: RebuildDeps,
  hello: HelloResult,
  calls: Pick<EditorCalls, "list">,
  fence: string,
): Promise<string> {
  const { operations, editors } = deps.store;
  // Before the look: what is lost while it looks belongs to the next incarnation.
  const incarnation = await operations.incarnation();
  const isImport = (await operations.importedIn(deps.editorId)) !== incarnation;
  if (hello.plain) {
    // It has no ledger: there is nothing to import.
    if (isImport) await operations.noteImport(deps.editorId, incarnation, fence);
    return incarnation;
  }
  const told = [...hello.open.map(({ operationId }) => operationId), ...hello.unacknowledged];
  if (isImport || (await forgottenBy(operations, told)).size > 0) {
    const [tools, now, list] = await Promise.all([
      editors.tools(deps.editorId),
      operations.now(),
      calls.list(),
    ]);
    const around = { ...deps, editor: deps.editorId, session: hello.editorSessionId, tools, now };
    const lost = await forgottenBy(
      operations,
      isImport ? list.operations.map(({ operationId }) => operationId) : told,
    );
    const records = list.operations.flatMap((listed) =>
      lost.has(listed.operationId) ? (rebuiltRecord(listed, around) ?? []) : [],
    );
    // The newest first: the first one of a hash is what calls find on this Editor.
    for (const record of records.toSorted((a, b) => b.acceptedAt - a.acceptedAt)) {
      if (await operations.restore(record, fence)) {
        deps.log.warn({ logId: record.logId }, "the store had lost an operation; the Editor told it");
      }
    }
  }
  if (isImport) await operations.noteImport(deps.editorId, incarnation, fence);
  return incarnation;
}

/** Without those whose retention ended: they were told long ago. */
async function forgottenBy(operations: Operations, told: readonly string[]): Promise<Set<string>> {
  const known = await Promise.all(
    told.map(
      async (id) =>
        (await operations.find(id)) !== undefined || (await operations.tombstone(id)) !== undefined,
    ),
  );
  return new Set(told.filter((_id, index) => !known[index]));
}
