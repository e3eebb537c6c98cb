/** Operations in the store: snapshots to decide on, and the compare-and-set writes that carry decisions out. */
import type { Redis } from "ioredis";
import { isFinal, type OperationRecord } from "../operation.js";
import type { Progress } from "../wire.js";
import { type Applied, defineApply } from "./apply.js";
import { channels, keys } from "./keys.js";

/** A hash's chain at one moment: any later write to one of its operations changes `version`. */
export interface Chain {
  version: string;
  newest: string | null;
  /** The newest of all, of each Editor, and of those with an open target, without those whose retention ended. */
  records: OperationRecord[];
  /** Made by an earlier call with the same force_new. */
  forced: OperationRecord | undefined;
  now: number;
}

/** What is shown of an operation while it runs. */
export interface Live {
  progress?: Pick<Progress, "progress" | "total" | "message" | "seq">;
  partialResult?: unknown;
}

export interface Change {
  record: OperationRecord;
  result?: unknown;
}

/** The owner's nonce: a write is refused once another owner holds the lease (▲11). */
export type Fence = string | undefined;

export type Changed =
  | { kind: "applied"; record: OperationRecord }
  | { kind: "unchanged"; record: OperationRecord }
  | { kind: "unknown" }
  | { kind: "fenced" };

export interface Operations {
  chain(hash: string, forceNew?: string): Promise<Chain>;
  /** Writes a new record if the chain is still at `version`. */
  create(record: OperationRecord, args: string, version: string): Promise<Applied>;
  /**
   * Reads, asks `change` what to write (undefined: nothing), writes if nothing of the hash changed meanwhile, else
   * asks again. `change` must be pure.
   */
  change(
    logId: string,
    change: (record: OperationRecord, now: number) => Change | undefined,
    fence?: Fence,
  ): Promise<Changed>;
  find(logId: string): Promise<OperationRecord | undefined>;
  /** The principal of an operation whose retention ended, while its tombstone stands. */
  tombstone(logId: string): Promise<string | undefined>;
  argumentsOf(logId: string): Promise<Record<string, unknown> | undefined>;
  /** The stored result as JSON text; undefined when there is none. */
  resultOf(logId: string): Promise<string | undefined>;
  live(logId: string): Promise<Live>;
  report(logId: string, live: Live): Promise<void>;
  /** Newest first. */
  listOf(principal: string, limit: number): Promise<OperationRecord[]>;
  openOf(editor: string): Promise<OperationRecord[]>;
  now(): Promise<number>;
}

/** More than any process has under way; one that is forgotten costs a round trip. */
const REMEMBERED_HASHES = 1_000;

export function createOperations(redis: Redis, options: { retentionMs: number }): Operations {
  const apply = defineApply(redis);
  /** An operation's hash never changes: who knows it asks for the chain and the record at once. */
  const hashes = createRecent<string>(REMEMBERED_HASHES);

  const write = (
    kind: "create" | "change",
    { record, result }: Change,
    version: string,
    extra: { args?: string; fence?: Fence },
  ): Promise<Applied> => {
    const { logId, editor } = record;
    return apply(
      [
        keys.chain(record.hash),
        keys.operation(logId),
        keys.arguments(logId),
        keys.result(logId),
        keys.live(logId),
        keys.tombstone(logId),
        keys.principal(record.principal),
        keys.open(editor),
        keys.mutations(editor),
        keys.lease(editor),
      ],
      [
        version,
        JSON.stringify(record),
        logId,
        kind,
        String(record.acceptedAt),
        isFinal(record.state) ? "final" : "open",
        String(options.retentionMs),
        extra.fence ?? "",
        channels.changed,
        extra.args ?? "",
        result === undefined ? "" : JSON.stringify(result),
        editor,
        record.editorOpen ? "open" : "explicit",
        record.supersedes ?? "",
        record.effect === "read_only" ? "" : "mutating",
        record.principal,
      ],
    );
  };

  const find = async (logId: string): Promise<OperationRecord | undefined> => {
    const record = parse(await redis.hmget(keys.operation(logId), "doc", "mutationSeq"));
    if (record) hashes.set(logId, record.hash);
    return record;
  };

  const findAll = async (logIds: string[]): Promise<OperationRecord[]> =>
    (await Promise.all(logIds.map(find))).filter((record) => record !== undefined);

  const now = async (): Promise<number> => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  };

  return {
    find,
    now,

    async chain(hash, forceNew) {
      const [fields, at] = await Promise.all([redis.hgetall(keys.chain(hash)), now()]);
      const pointers = Object.entries(fields)
        .filter(([name]) => name === "newest" || name === "open" || name.startsWith("at:"))
        .map(([, logId]) => logId);
      const forcedId = forceNew === undefined ? undefined : fields[`forced:${forceNew}`];
      const [records, forced] = await Promise.all([
        findAll([...new Set(pointers)]),
        forcedId === undefined ? undefined : find(forcedId),
      ]);
      return { version: fields.version ?? "0", newest: fields.newest ?? null, records, forced, now: at };
    },

    create(record, args, version) {
      hashes.set(record.logId, record.hash);
      return write("create", { record }, version, { args });
    },

    async change(logId, change, fence) {
      for (;;) {
        const hash = hashes.get(logId) ?? (await find(logId))?.hash;
        if (hash === undefined) return { kind: "unknown" };
        // Executed in this order: a record read before the version could be older than it.
        const [version, record, at] = await Promise.all([
          redis.hget(keys.chain(hash), "version"),
          find(logId),
          now(),
        ]);
        if (!record) return { kind: "unknown" };
        const wanted = change(record, at);
        if (!wanted) return { kind: "unchanged", record };
        const applied = await write("change", wanted, version ?? "0", { fence });
        if (applied === "applied") return { kind: "applied", record: wanted.record };
        if (applied === "fenced") return { kind: "fenced" };
      }
    },

    async tombstone(logId) {
      return (await redis.get(keys.tombstone(logId))) ?? undefined;
    },

    async argumentsOf(logId) {
      const text = await redis.get(keys.arguments(logId));
      return text === null ? undefined : (JSON.parse(text) as Record<string, unknown>);
    },

    async resultOf(logId) {
      return (await redis.get(keys.result(logId))) ?? undefined;
    },

    async live(logId) {
      const [progress, partial] = await redis.hmget(keys.live(logId), "progress", "partial");
      return {
        ...(progress ? { progress: JSON.parse(progress) as NonNullable<Live["progress"]> } : {}),
        ...(partial ? { partialResult: JSON.parse(partial) as unknown } : {}),
      };
    },

    async report(logId, live) {
      const fields: Record<string, string> = {};
      if (live.progress) fields.progress = JSON.stringify(live.progress);
      if (live.partialResult !== undefined) fields.partial = JSON.stringify(live.partialResult);
      if (Object.keys(fields).length === 0) return;
      // A safety net where the end of the operation never comes; the end sets the retention.
      const forgottenMs = 3 * options.retentionMs;
      await redis
        .multi()
        .hset(keys.live(logId), fields)
        .pexpire(keys.live(logId), forgottenMs)
        .publish(channels.changed, logId)
        .exec();
    },

    async listOf(principal, limit) {
      return findAll(await redis.zrevrange(keys.principal(principal), 0, limit - 1));
    },

    async openOf(editor) {
      return findAll(await redis.zrange(keys.open(editor), 0, "-1"));
    },
  };
}

function parse([doc, mutationSeq]: (string | null)[]): OperationRecord | undefined {
  if (!doc) return undefined;
  return { ...(JSON.parse(doc) as OperationRecord), mutationSeq: Number(mutationSeq ?? 0) };
}

/** Keeps the values that were set last. */
function createRecent<T>(size: number): {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
} {
  const values = new Map<string, T>();
  return {
    get: (key) => values.get(key),
    set(key, value) {
      values.delete(key);
      values.set(key, value);
      if (values.size > size) values.delete(values.keys().next().value ?? "");
    },
  };
}
