/**
 * The store of operations in memory: the same chain pointers, versions, fences and lifetimes as
 * src/shared/store/scripts and operation-store.ts, and one `step` before each command, where others may come in between.
 */
import type { EditorState, Moment } from "../../../src/shared/operation/again.js";
import { countsAsChange, isFinal, type OperationRecord } from "../../../src/shared/operation/operation.js";
import type { Operations } from "../../../src/shared/store/operations/operation-store.js";
import type { Asker, Chain, ChangeOptions } from "../../../src/shared/store/operations/record.js";
import { addJob, claim, type Queue } from "./queue.js";
import { apply, askerOf, type Write } from "./scripts.js";

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
  /** BullMQ's, by Editor. */
  queues: Record<string, Queue>;
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
      queues: {},
    },
    retentionMs,
    now,
    markOf: () => undefined,
    onChange: () => undefined,
    onCreate: () => undefined,
  };
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
export function operationsOf(
  store: MemoryStore,
  step: () => Promise<void>,
  isReplyLost: () => boolean = () => false,
): Operations {
  const soon = async <T>(read: () => T): Promise<T> => {
    await step();
    return read();
  };
  const find = (logId: string) => soon(() => readRecord(store, logId));
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
    move: async () => "stays" as const,
    async claim(jobId, claimant) {
      const claimed = await soon(() => claim(store, jobId, claimant));
      await step();
      if (claimed && isReplyLost()) throw new Error("the store did not answer");
      return claimed;
    },
    now: async () => store.now(),
    recentNow: async () => store.now(),
    stateOf: async (logId) => (await find(logId))?.state,
    async findWithResult(logId) {
      const record = await find(logId);
      return record && { record, piece: undefined };
    },
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

    async create(record, args, version) {
      const { incarnation } = record;
      const write: Write = { kind: "create", record, expected: version, args, incarnation };
      const applied = await soon(() => apply(store, write));
      const written = readRecord(store, record.logId);
      await step();
      // The reply was lost with its connection, and the script sent again: it finds another version.
      if (applied !== "applied" || !written || isReplyLost()) return { kind: "conflict" };
      addJob(store.data, written);
      return { kind: "created", record: written };
    },

    /** A lost record takes its place again, before whatever was made meanwhile. */
    restore: (lost, fence) =>
      soon(() => {
        const { data } = store;
        if (data.documents[lost.logId]) return false;
        const chain = data.chains[lost.hash];
        const newest = chain?.pointers.newest;
        const isNewest = newest === undefined || newest === lost.after;
        const entered = (chain?.version ?? 0) + 1;
        const { incarnation } = data;
        const record = { ...lost, incarnation, entered, order: isNewest ? entered : 0 };
        const kind = isNewest ? "create" : "restore";
        return apply(store, { kind, record, expected: versionOf(lost.hash), fence }) === "applied";
      }),

    async change(operation, change, options) {
      const logId = typeof operation === "string" ? operation : operation.logId;
      const only: ChangeOptions = typeof options === "string" ? { fence: options } : (options ?? {});
      for (;;) {
        const record = await find(logId);
        if (!record) return { kind: "unknown" };
        const wanted = change(record, store.now());
        if (!wanted) return { kind: "unchanged", record };
        const write: Write = { kind: "change", ...wanted, ...only, expected: record };
        const applied = await soon(() => apply(store, write));
        await step();
        if (applied === "applied" && only.fence !== undefined && isReplyLost())
          throw new Error("the store did not answer");
        if (applied === "applied") return { kind: "applied", record: wanted.record };
        if (applied === "not_owner" || applied === "incarnation") return { kind: applied };
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
    keptFor: async () => undefined,
    reportsOf: async () => ({}),
    partialOf: async () => undefined,
    report: async () => undefined,
    addLines: async () => undefined,
    linesAfter: async () => ({ lines: [], next: 0 }),
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
    relist: async () => undefined,
    openOf: (editor) =>
      soon(() => allRecords(store).filter((record) => record.editor === editor && !isFinal(record.state))),
  };
}
