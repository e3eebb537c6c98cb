/** The scripts that write operations, in memory: each is one indivisible step (src/shared/store/scripts). */
import {
  countsAsChange,
  isFinal,
  mayHaveBegun,
  type OperationRecord,
} from "../../../src/shared/operation/operation.js";
import type { NotWritten } from "../../../src/shared/store/operations/limits.js";
import type { Change, OwnerNonce } from "../../../src/shared/store/operations/record.js";
import type { MemoryStore, StoreData } from "./store.js";

export const askerOf = (editor: string, asker: string): string => `${editor} ${asker}`;

export interface Write extends Change {
  kind: "create" | "restore" | "change";
  /** Of a change the record that was read, else the version of the chain. */
  expected: string | OperationRecord;
  args?: string;
  fence?: OwnerNonce;
  incarnation?: string | undefined;
}

export function apply(store: MemoryStore, write: Write): "applied" | NotWritten {
  const { data } = store;
  const { kind, record, result, expected, fence } = write;
  const { hash, logId, editor } = record;
  if (write.incarnation !== undefined && write.incarnation !== data.incarnation) return "incarnation";
  const before = kind === "change" ? data.documents[logId]?.record : String(data.chains[hash]?.version ?? 0);
  if (before !== expected) return "conflict";
  if (fence !== undefined && data.leases[editor] !== fence) return "not_owner";
  const chain = data.chains[hash] ?? { version: 0, pointers: {} };
  data.chains[hash] = chain;
  const pointTo = (name: string, isNewest: boolean): void => {
    if (isNewest || chain.pointers[name] === undefined) chain.pointers[name] = logId;
  };
  let mutationSeq = data.documents[logId]?.record.mutationSeq ?? 0;
  if (kind !== "change") {
    mutationSeq = counted(data, record);
    if (write.args !== undefined) data.arguments[logId] = write.args;
    for (const name of ["newest", `at:${editor}`]) pointTo(name, kind === "create");
    if (record.supersedes !== undefined) pointTo(`forced:${record.supersedes}`, kind === "create");
  }
  const isOpenThere = record.rebuilt === true && !isFinal(record.state);
  if (mayHaveBegun(record)) pointTo(`began:${editor}`, !record.rebuilt || record.order > 0);
  else if (isOpenThere) pointTo(`began:${editor}`, false);
  const endsAt =
    data.documents[logId]?.endsAt ?? (isFinal(record.state) ? store.now() + store.retentionMs : undefined);
  data.documents[logId] = {
    record: { ...record, mutationSeq },
    ...(endsAt === undefined ? {} : { endsAt }),
  };
  if (result !== undefined) data.results[logId] = result.pieces.join("");
  chain.version += 1;
  if (kind === "create" && fence === undefined) store.onCreate(record);
  store.onChange(logId);
  return "applied";
}

/** ▲5 The Editor's count with this operation. */
function counted({ mutations }: StoreData, record: OperationRecord): number {
  const { editor, principal, createdBy } = record;
  const seq = (mutations[editor] ?? 0) + (countsAsChange(record) ? 1 : 0);
  if (!countsAsChange(record)) return seq;
  mutations[editor] = seq;
  for (const asker of [createdBy.caller ?? principal, principal]) mutations[askerOf(editor, asker)] = seq;
  return seq;
}
