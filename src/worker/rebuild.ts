/** ▲10 (d) At each hello: what the Editor knows and the store has forgotten gets its record back. */
import type { Log } from "../shared/log.js";
import { rebuiltRecord } from "../shared/origin.js";
import type { Operations } from "../shared/redis/operations.js";
import type { Store } from "../shared/redis/store.js";
import type { HelloResult } from "../shared/wire.js";
import type { EditorCalls } from "./editor-calls.js";

/** Afterwards each is an operation like any other that was sent: followed, collected, found by its log_id. */
export async function rebuildRecords(
  deps: { store: Store; editorId: string; storeIds: readonly string[]; log: Log },
  hello: HelloResult,
  calls: Pick<EditorCalls, "list">,
  fence: string,
): Promise<void> {
  const { operations, editors } = deps.store;
  const told = [...hello.open.map(({ operationId }) => operationId), ...hello.unacknowledged];
  const forgotten = await forgottenBy(operations, told);
  if (forgotten.size === 0) return;
  const [tools, now, list] = await Promise.all([
    editors.tools(deps.editorId),
    operations.now(),
    calls.list(),
  ]);
  const around = {
    storeIds: deps.storeIds,
    editor: deps.editorId,
    session: hello.editorSessionId,
    tools,
    now,
  };
  for (const listed of list.operations.filter(({ operationId }) => forgotten.has(operationId))) {
    const record = rebuiltRecord(listed, around);
    if (!record) continue;
    const restored = await operations.restore(record, fence);
    if (restored)
      deps.log.warn({ logId: record.logId }, "the store had lost an operation; the Editor told it");
  }
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
