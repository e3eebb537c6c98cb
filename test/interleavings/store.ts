/**
 * The store of operations in memory: the same chain pointers, versions, fences and lifetimes as
 * src/shared/redis/apply.ts and operations.ts, and one `step` before each command, where others may come in between.
 */
import { isFinal, type OperationRecord } from "../../src/shared/operation.js";
import type { Applied } from "../../src/shared/redis/apply.js";
import type { Chain, Change, Operations } from "../../src/shared/redis/operations.js";

interface Chained {
  version: number;
  pointers: Record<string, string>;
}

/** What Redis holds; plain values, so that an older copy can be put back. */
export interface StoreData {
  chains: Record<string, Chained>;
  /** Records are never changed in place, so nobody needs a copy of one. */
  documents: Record<string, { record: OperationRecord; endsAt?: number }>;
  arguments: Record<string, string>;
  results: Record<string, string>;
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
  onChange(logId: string): void;
  onCreate(record: OperationRecord): void;
}

export function createMemoryStore(now: () => number, retentionMs = 24 * 3_600_000): MemoryStore {
  return {
    data: { chains: {}, documents: {}, arguments: {}, results: {}, mutations: {}, leases: {}, jobs: {} },
    retentionMs,
    now,
    onChange: () => undefined,
    onCreate: () => undefined,
  };
}

/** The script of apply.ts: one indivisible step. */
function apply(
  store: MemoryStore,
  change: Change,
  expected: string | OperationRecord,
  create?: string,
  fence?: string,
): Applied["kind"] {
  const { data } = store;
  const { record, result } = change;
  const { hash, logId, editor, effect } = record;
  const before =
    create === undefined ? data.documents[logId]?.record : String(data.chains[hash]?.version ?? 0);
  if (before !== expected) return "conflict";
  if (fence !== undefined && data.leases[editor] !== fence) return "fenced";
  const chain = data.chains[hash] ?? { version: 0, pointers: {} };
  data.chains[hash] = chain;
  let mutationSeq = data.documents[logId]?.record.mutationSeq ?? 0;
  if (create !== undefined) {
    mutationSeq = (data.mutations[editor] ?? 0) + (effect === "read_only" ? 0 : 1);
    data.mutations[editor] = mutationSeq;
    data.arguments[logId] = create;
    chain.pointers.newest = logId;
    chain.pointers[`at:${editor}`] = logId;
    if (record.editorOpen) chain.pointers.open = logId;
    if (record.supersedes !== undefined) chain.pointers[`forced:${record.supersedes}`] = logId;
  }
  const endsAt =
    data.documents[logId]?.endsAt ?? (isFinal(record.state) ? store.now() + store.retentionMs : undefined);
  data.documents[logId] = {
    record: { ...record, mutationSeq },
    ...(endsAt === undefined ? {} : { endsAt }),
  };
  if (result !== undefined) data.results[logId] = result.pieces.join("");
  chain.version += 1;
  if (create !== undefined) store.onCreate(record);
  store.onChange(logId);
  return "applied";
}

/** A lost record takes its place again, before whatever was made meanwhile (the twin of restore in operations.ts). */
function restore(store: MemoryStore, lost: OperationRecord, fence: string): boolean {
  const { data } = store;
  const { logId, hash, editor } = lost;
  if (data.leases[editor] !== fence || data.documents[logId]) return false;
  const chain = data.chains[hash] ?? { version: 0, pointers: {} };
  data.chains[hash] = chain;
  const newest = chain.pointers.newest;
  const isNewest = newest === undefined || newest === lost.after;
  const names = ["newest", `at:${editor}`];
  if (lost.editorOpen) names.push("open");
  if (lost.supersedes !== undefined) names.push(`forced:${lost.supersedes}`);
  for (const name of names) if (isNewest || chain.pointers[name] === undefined) chain.pointers[name] = logId;
  data.documents[logId] = { record: { ...lost, order: isNewest ? chain.version + 1 : 0 } };
  chain.version += 1;
  return true;
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

  return {
    find,
    look,
    now: async () => store.now(),

    async chain(hash, forceNew): Promise<Chain> {
      const { version, pointers, at } = await soon(() => ({
        version: versionOf(hash),
        pointers: { ...store.data.chains[hash]?.pointers },
        at: store.now(),
      }));
      const named = Object.entries(pointers).filter(
        ([name]) => name === "newest" || name === "open" || name.startsWith("at:"),
      );
      await step();
      const records = [...new Set(named.map(([, logId]) => logId))].flatMap(
        (logId) => readRecord(store, logId) ?? [],
      );
      const forcedId = forceNew === undefined ? undefined : pointers[`forced:${forceNew}`];
      const forced = forcedId === undefined ? undefined : readRecord(store, forcedId);
      return { version, newest: pointers.newest ?? null, records, forced, now: at };
    },

    create: (record, args, version) =>
      soon(() => {
        const applied = apply(store, { record }, version, args);
        return applied === "applied" ? { kind: "created", record } : { kind: "conflict" };
      }),

    restore: (lost, fence) => soon(() => restore(store, lost, fence)),

    async change(logId, change, fence) {
      let remembered = seen.get(logId);
      for (;;) {
        const record = remembered ?? (await look(logId));
        if (!record) return { kind: "unknown" };
        const wanted = change(record, store.now());
        if (wanted) {
          const applied = await soon(() => apply(store, wanted, record, undefined, fence));
          const written = store.data.documents[logId]?.record;
          if (applied === "applied" && written) seen.set(logId, written);
          if (applied === "applied") return { kind: "applied", record: wanted.record };
          if (applied === "fenced") return { kind: "fenced" };
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
    // Told to people only: nothing is decided by it.
    noteDuplicate: async () => undefined,
    duplicatesOf: async () => [],
    durationsOf: async () => [],
    openOf: (editor) =>
      soon(() => allRecords(store).filter((record) => record.editor === editor && !isFinal(record.state))),
  };
}
