/** ▲10 (d) What travels with a submit so that a store which lost an operation can be told of it by the Editor. */
import type { OperationRecord } from "./operation.js";
import { effectOfTool, type Tool } from "./tool.js";
import { type ListedOperation, Origin } from "./wire.js";

/** Read back by `rebuiltRecord`; nothing in between looks into it. */
export function originOf(record: OperationRecord, storeId: string): Origin {
  const { principal, tool, fingerprint, keyed, editorOpen, supersedes, createdBy } = record;
  return {
    principal,
    tool,
    fingerprint,
    storeId,
    keyed,
    editorOpen,
    ...(supersedes === undefined ? {} : { supersedes }),
    caller: createdBy.caller,
    requestId: createdBy.requestId,
  };
}

/**
 * The record of an operation that only the Editor still knows, as of the moment after it was sent. Undefined where it
 * is not ours to tell: made by a plain client, or in another store than these (undefined: in any). `storeIds`: this
 * store's, and the one that it had before it was emptied.
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
  const read = Origin.safeParse(listed.origin);
  if (!read.success) return undefined;
  const isOurs = around.storeIds === undefined || around.storeIds.includes(read.data.storeId ?? "");
  if (!isOurs || listed.hash === undefined) return undefined;
  const { principal, tool, fingerprint, keyed, editorOpen, supersedes, caller, requestId } = read.data;
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
    editorOpen: editorOpen ?? false,
    after: listed.after ?? null,
    ...(supersedes === undefined ? {} : { supersedes }),
    order: 0,
    mutationSeq: 0,
    state: "dispatched",
    acceptedAt: listed.acceptedAt ?? around.now,
    dispatchedAt: listed.acceptedAt ?? around.now,
    createdBy: { caller: caller ?? null, requestId: requestId ?? null },
    sentIn: around.session,
    rebuilt: true,
    deliveries: {},
  };
}
