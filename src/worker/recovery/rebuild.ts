/** Record recovery (▲10 d) in each store incarnation (▲13): restores records that the store has lost from the Editor's ledger. */
import { markAsSent, type OperationRecord } from "../../shared/operation/operation.js";
import { type RecoverySeal, rebuiltRecord } from "../../shared/operation/recover.js";
import type { Operations } from "../../shared/store/operations/operation-store.js";
import type { Change } from "../../shared/store/operations/record.js";
import type { Store } from "../../shared/store/store.js";
import type { Log } from "../../shared/telemetry.js";
import type { HelloResult } from "../../shared/wire/wire.js";
import type { EditorCalls } from "../editor/editor-calls.js";

export interface RebuildDeps {
  store: Store;
  editorId: string;
  storeIds: readonly string[];
  /** The Editor reports that a restored operation runs: a listener from before the loss would not receive that again. */
  onRunning(logId: string): void;
  log: Log;
  seal: Pick<RecoverySeal, "isSigned">;
  /** That of the fence (▲11). */
  epoch: {
    /** Only the last connection has said hello with it. */
    isFresh(): boolean;
    /** Takes a new one, for the next hello. */
    renew(): Promise<unknown>;
  };
}

/** The import was not begun: it needs another connection, for which the epoch has been raised. */
export class EpochInUse extends Error {
  override readonly name = "EpochInUse";
}

/** More than a ledger has open; the next hello handles the rest. */
const MOST_NAMED = 10_000;

/**
 * At each hello restores what the Editor has open or unacknowledged; once in each incarnation of the store everything
 * in its ledger, because acknowledged operations may be lost then too. Afterwards each is an operation like any other
 * sent one: followed, collected, found by its log_id. Resolves the incarnation in which this happened; rejects with EpochInUse.
 */
export async function rebuildRecords(
  deps: RebuildDeps,
  hello: HelloResult,
  calls: Pick<EditorCalls, "list" | "get">,
  fence: string,
): Promise<string> {
  const { operations, editors } = deps.store;
  // Read before the import: losses during it belong to the next incarnation.
  const incarnation = await operations.incarnation();
  const isImport = (await operations.importedIn(deps.editorId)) !== incarnation;
  if (hello.plain) {
    // It has no ledger, so there is nothing to import: sent.log records what was sent.
    const wasSent = async (logId: string): Promise<boolean> => (await calls.get(logId)).state !== "unknown";
    if (isImport) await followSent(deps, wasSent, { fence, incarnation });
    if (isImport) await operations.noteImport(deps.editorId, incarnation, fence);
    return incarnation;
  }
  // Store incarnation (▲13): what an earlier connection of this owner left in a socket's buffer would be journalled behind the
  // import, by when another Editor of its pool may run it. Below the epoch of this hello it is refused.
  if (isImport && !deps.epoch.isFresh()) {
    await deps.epoch.renew();
    throw new EpochInUse("the store has lost something: imports what the Editor knows under a new epoch");
  }
  const named = [...hello.open.map(({ operationId }) => operationId), ...hello.unacknowledged].slice(
    0,
    MOST_NAMED,
  );
  if (isImport || (await forgottenBy(operations, named)).size > 0) {
    const [tools, now, all] = await Promise.all([
      editors.tools(deps.editorId),
      operations.now(),
      calls.list(),
    ]);
    const around = { ...deps, editor: deps.editorId, session: hello.editorSessionId, tools, now };
    const lost = await forgottenBy(operations, isImport ? all.map(({ operationId }) => operationId) : named);
    // Trusting the Editor alone would let it put a record into anybody's list.
    const signed = all.filter(deps.seal.isSigned);
    const records = signed.flatMap((listed) =>
      lost.has(listed.operationId) ? (rebuiltRecord(listed, around) ?? []) : [],
    );
    const isRunning = (logId: string): boolean =>
      signed.some(({ operationId, state }) => operationId === logId && state === "running");
    const afterOf = new Map(signed.map(({ operationId, after }) => [operationId, after ?? null]));
    // The newest first: calls find the first one of a hash on this Editor.
    for (const record of records.toSorted((a, b) => b.acceptedAt - a.acceptedAt)) {
      const known = { before: beforeIt(record, afterOf), labels: hello.labels };
      if (await operations.restore(record, fence, known)) {
        deps.log.warn({ log_id: record.logId }, "the store had lost an operation; the Editor knew it");
        if (isRunning(record.logId)) deps.onRunning(record.logId);
      }
    }
    const listed = new Set(all.map(({ operationId }) => operationId));
    if (isImport) await followSent(deps, (logId) => listed.has(logId), { fence, incarnation });
  }
  if (isImport) await operations.noteImport(deps.editorId, incarnation, fence);
  return incarnation;
}

/** The operations that entered the chain of its hash before it: those in the ledger, then the last one that it names. */
function beforeIt(
  { after }: OperationRecord,
  afterOf: ReadonlyMap<string, string | null>,
): ReadonlySet<string> {
  const before = new Set<string>();
  for (let at = after; at !== null && !before.has(at); at = afterOf.get(at) ?? null) before.add(at);
  return before;
}

/** What an import writes it writes under the fence, in the incarnation that it is for. */
interface Only {
  fence: string;
  incarnation: string;
}

/**
 * Operations that the store shows in the queue although the Editor knows that they were sent are followed like sent ones, so that
 * neither a cancellation nor expiry ends them as never begun. So are those of a pool (▲13), wherever
 * the store shows them.
 */
async function followSent(
  deps: RebuildDeps,
  wasSent: (logId: string) => boolean | Promise<boolean>,
  only: Only,
): Promise<void> {
  const { store, editorId } = deps;
  const openIn = async (queues: readonly string[]): Promise<OperationRecord[]> =>
    (await Promise.all(queues.map((queue) => store.operations.openOf(queue)))).flat();
  // The pools come last: an Editor's pool may have one back while these are read, and no Editor takes one from before the loss.
  const ofEditors = await openIn([...new Set([editorId, ...(await store.editors.ids())])]);
  const open = [...ofEditors, ...(await openIn(await store.pools.ids()))];
  for (const waiting of open) {
    const { logId, editor, pool } = waiting;
    if ((editor === editorId || pool !== undefined) && markAsSent(waiting) && (await wasSent(logId)))
      await followAsSent(deps, logId, only);
  }
}

/** The janitor may give it back to its pool between two writes: then it is taken from there again. */
async function followAsSent({ store, editorId, log }: RebuildDeps, logId: string, only: Only): Promise<void> {
  const { operations } = store;
  const place = (record: OperationRecord): string | undefined =>
    record.pool !== undefined && markAsSent(record) ? editorId : undefined;
  const change = (record: OperationRecord): Change | undefined => {
    const sent = record.editor === editorId ? markAsSent(record) : undefined;
    return sent && { record: sent };
  };
  for (;;) {
    const moved = await operations.move(logId, place, only);
    if (moved === "not_owner" || moved === "incarnation") return;
    const changed = await operations.change(logId, change, { ...only, wasSent: true });
    if (changed.kind === "applied")
      log.warn({ log_id: logId }, "the store had lost the fact that the operation was sent");
    if (changed.kind !== "unchanged" || place(changed.record) === undefined) return;
  }
}

/** Leaves out those whose retention ended: their outcomes could be read for all that time. */
async function forgottenBy(operations: Operations, logIds: readonly string[]): Promise<Set<string>> {
  const known = await Promise.all(
    logIds.map(
      async (id) =>
        (await operations.find(id)) !== undefined || (await operations.tombstone(id)) !== undefined,
    ),
  );
  return new Set(logIds.filter((_id, index) => !known[index]));
}
