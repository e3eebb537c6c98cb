/**
 * The store of operations in memory: the same chain pointers, versions, fences and lifetimes as
 * src/shared/store/scripts and operation-store.ts, and one `step` before each command, where others may come in between.
 */
import {
  isFinal,
  jobIdOf,
  mayHaveBegun,
  type OperationRecord,
} from "../../../src/shared/operation/operation.js";
import type { EditorState, Moment } from "../../../src/shared/operation/replay.js";
import type { Asker, Chain } from "../../../src/shared/store/operations/chain.js";
import type {
  Change,
  ChangeOptions,
  Operations,
  OwnerNonce,
} from "../../../src/shared/store/operations/operation-store.js";
import type { NotWritten } from "../../../src/shared/store/scripts/script.js";
import { countsAsChange } from "../../../src/shared/tools/tool.js";

interface Chained {
  version: number;
  pointers: Record<string, string>;
}

/** What Redis holds; plain values, so that an older copy can be put back. */
export interface StoreData {
  /** ▲13 Changes whenever the store may have lost something. */
  incarnation: string;
  /** By Editor: the incarnation in which everything that its ledger knows was imported. */
  imported: Record<string, string>;
  chains: Record<string, Chained>;
  /** Records are never changed in place, so nobody needs a copy of one. */
  documents: Record<string, { record: OperationRecord; endsAt?: number }>;
  arguments: Record<string, string>;
  results: Record<string, string>;
  /** Counted operations, by Editor, and by Editor and asker. */
  mutations: Record<string, number>;
  /** The owner's nonce, by Editor. */
  leases: Record<string, string>;
  /** BullMQ's waiting jobs, by Editor: job id and log_id. */
  jobs: Record<string, { id: string; logId: string }[]>;
}

export interface MemoryStore {
  data: StoreData;
  retentionMs: number;
  now(): number;
  /** Where an Editor stood at its last heartbeat. */
  markOf(editor: string): EditorState["mark"];
  onChange(logId: string): void;
  onCreate(record: OperationRecord): void;
}

export function createMemoryStore(now: () => number, retentionMs = 24 * 3_600_000): MemoryStore {
  return {
    data: {
      incarnation: "store 1",
      imported: {},
      chains: {},
      documents: {},
      arguments: {},
      results: {},
      mutations: {},
      leases: {},
      jobs: {},
    },
    retentionMs,
    now,
    markOf: () => undefined,
    onChange: () => undefined,
    onCreate: () => undefined,
  };
}

const askerOf = (editor: string, asker: string): string => `${editor} ${asker}`;

interface Write extends Change {
  kind: "create" | "restore" | "change";
  /** Of a change the record that was read, else the version of the chain. */
  expected: string | OperationRecord;
  args?: string;
  fence?: OwnerNonce;
  incarnation?: string | undefined;
}

/** The scripts: each is one indivisible step. */
function apply(store: MemoryStore, write: Write): "applied" | NotWritten {
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
  if (kind === "create" && fence === undefined) {
    data.jobs[editor] = [...(data.jobs[editor] ?? []), { id: jobIdOf(record), logId }];
    store.onCreate(record);
  }
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

export function readRecord(store: MemoryStore, logId: string): OperationRecord | undefined {
  const found = store.data.documents[logId];
  if (!found || (found.endsAt ?? Number.POSITIVE_INFINITY) <= store.now()) return undefined;
  return found.record;
}

export function allRecords(store: MemoryStore): OperationRecord[] {
  return Object.keys(store.data.documents).flatMap((logId) => readRecord(store, logId) ?? []);
}

/** The store as one process sees it: `step` resolves when its next command reaches the store. */
export function operationsOf(store: MemoryStore, step: () => Promise<void>): Operations {
  const soon = async <T>(read: () => T): Promise<T> => {
    await step();
    return read();
  };
  const find = (logId: string) => soon(() => readRecord(store, logId));
  /** What this process saw last: however old it is, a write tried on it first does no harm. */
  const seen = new Map<string, OperationRecord>();
  const look = async (logId: string): Promise<OperationRecord | undefined> => {
    const record = await find(logId);
    if (record) seen.set(logId, record);
    return record;
  };
  const versionOf = (hash: string): string => String(store.data.chains[hash]?.version ?? 0);
  const momentOf = (editors: readonly string[], { principal, caller }: Asker): Moment => ({
    now: store.now(),
    incarnation: store.data.incarnation,
    editors: [...new Set(editors)].map((id) => ({
      id,
      mutationSeq: store.data.mutations[id] ?? 0,
      callerMutationSeq: store.data.mutations[askerOf(id, caller?.id ?? principal)],
      mark: store.markOf(id),
    })),
  });
  const executionOf = (logId: string): OperationRecord | undefined => {
    const record = readRecord(store, logId);
    return record?.executedAs === undefined ? record : readRecord(store, record.executedAs);
  };

  return {
    find,
    readRecord: look,
    releaseHeld: async () => undefined,
    now: async () => store.now(),
    incarnation: () => soon(() => store.data.incarnation),
    lastIncarnation: () => soon(() => store.data.incarnation),
    noteJoined: (record, { principal, caller }) =>
      soon(() => {
        if (!countsAsChange(record)) return;
        for (const asker of [caller?.id ?? principal, principal]) {
          const name = askerOf(record.editor, asker);
          store.data.mutations[name] = Math.max(store.data.mutations[name] ?? 0, record.mutationSeq);
        }
      }),
    runs: async () => [],
    beginIncarnation: async () => undefined,
    importedIn: (editor) => soon(() => store.data.imported[editor]),
    noteImport: (editor, incarnation, fence) =>
      soon(() => {
        if (store.data.leases[editor] === fence) store.data.imported[editor] = incarnation;
      }),
    moment: (editors, asker) => soon(() => momentOf(editors, asker)),

    async chain(hash, asker, forceNew): Promise<Chain> {
      const { version, pointers, at, incarnation } = await soon(() => ({
        version: versionOf(hash),
        pointers: { ...store.data.chains[hash]?.pointers },
        at: store.now(),
        incarnation: store.data.incarnation,
      }));
      const named = Object.entries(pointers).filter(([name]) => !name.startsWith("forced:"));
      await step();
      const pointedAt = named.flatMap(([, logId]) => readRecord(store, logId) ?? []);
      const others = pointedAt.flatMap(
        ({ executedAs }) => (executedAs && readRecord(store, executedAs)) || [],
      );
      const forcedId = forceNew === undefined ? undefined : pointers[`forced:${forceNew}`];
      const forced = forcedId === undefined ? undefined : executionOf(forcedId);
      const records = [
        ...new Map([...pointedAt, ...others].map((record) => [record.logId, record])).values(),
      ];
      const editors = [...records, ...(forced ? [forced] : [])].map(({ editor }) => editor);
      return {
        ...momentOf(editors, asker),
        version,
        newest: pointers.newest ?? null,
        records,
        forced,
        now: at,
        incarnation,
      };
    },

    create: (record, args, version) =>
      soon(() => {
        const { incarnation } = record;
        const applied = apply(store, { kind: "create", record, expected: version, args, incarnation });
        const written = store.data.documents[record.logId]?.record;
        return applied === "applied" && written ? { kind: "created", record: written } : { kind: "conflict" };
      }),

    /** A lost record takes its place again, before whatever was made meanwhile. */
    restore: (lost, fence) =>
      soon(() => {
        const { data } = store;
        if (data.documents[lost.logId]) return false;
        const chain = data.chains[lost.hash];
        const newest = chain?.pointers.newest;
        const isNewest = newest === undefined || newest === lost.after;
        const entered = (chain?.version ?? 0) + 1;
        const at = { incarnation: data.incarnation, deliveredIn: data.incarnation };
        const record = { ...lost, ...at, entered, order: isNewest ? entered : 0 };
        const kind = isNewest ? "create" : "restore";
        return apply(store, { kind, record, expected: versionOf(lost.hash), fence }) === "applied";
      }),

    async change(logId, change, options) {
      const only: ChangeOptions = typeof options === "string" ? { fence: options } : (options ?? {});
      let remembered = seen.get(logId);
      for (;;) {
        const record = remembered ?? (await look(logId));
        if (!record) return { kind: "unknown" };
        const wanted = change(record, store.now());
        if (wanted) {
          const { inItsIncarnation, ...other } = only;
          const incarnation = inItsIncarnation ? record.deliveredIn : only.incarnation;
          const write: Write = { kind: "change", ...wanted, ...other, incarnation, expected: record };
          const applied = await soon(() => apply(store, write));
          const written = store.data.documents[logId]?.record;
          if (applied === "applied" && written) seen.set(logId, written);
          if (applied === "applied") return { kind: "applied", record: wanted.record };
          if (applied === "not_owner" || applied === "incarnation") return { kind: applied };
        } else if (!remembered) return { kind: "unchanged", record };
        remembered = undefined;
      }
    },

    tombstone: (logId) => soon(() => store.data.documents[logId]?.record.principal),
    argumentsOf: (logId) =>
      soon(() => {
        const text = store.data.arguments[logId];
        return text === undefined ? undefined : (JSON.parse(text) as Record<string, unknown>);
      }),
    resultBytes: async () => 0,
    argumentBytes: async () => 0,
    resultOf: (logId) => soon(() => store.data.results[logId]),
    storedResultOf: async () => undefined,
    live: async () => ({}),
    report: async () => undefined,
    listOf: (principal, limit) =>
      soon(() =>
        allRecords(store)
          .filter((record) => record.principal === principal)
          .reverse()
          .slice(0, limit),
      ),
    // CallAnswer to people only: nothing is decided by it.
    noteDuplicate: async () => undefined,
    duplicatesOf: async () => [],
    durationsOf: async () => [],
    openOf: (editor) =>
      soon(() => allRecords(store).filter((record) => record.editor === editor && !isFinal(record.state))),
  };
}
