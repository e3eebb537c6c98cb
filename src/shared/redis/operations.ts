/** Operations in the store: snapshots to decide on, and the compare-and-set writes that carry decisions out. */
import type { Redis } from "ioredis";
import { isFinal, type OperationRecord, type State } from "../operation.js";
import { type Counts, countsOfChange, countsOfCreation } from "../tally.js";
import type { Duplicate } from "../timeline.js";
import type { Progress } from "../wire.js";
import { type Applied, defineApply } from "./apply.js";
import { CAPS, type Caps } from "./cap.js";
import { channels, keys } from "./keys.js";
import { queueName } from "./queue.js";
import { createSeen, type Sight } from "./seen.js";

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
  | { kind: "fenced" }
  /** Its principal has as many running as it may: ask again. */
  | { kind: "held" };

export type Created = { kind: "created"; record: OperationRecord } | { kind: "conflict" | "too_many" };

export interface Operations {
  chain(hash: string, forceNew?: string): Promise<Chain>;
  /** Writes a new record if the chain is still at `version`; answers it as counted, or why it was not written. */
  create(record: OperationRecord, args: string, version: string): Promise<Created>;
  /**
   * Reads, asks `change` what to write (undefined: nothing), writes if the record is still the one that was read, else
   * asks again. What this process saw of it within the last second is as good as read: the write finds out. `change`
   * must be pure.
   */
  change(
    logId: string,
    change: (record: OperationRecord, now: number) => Change | undefined,
    fence?: Fence,
  ): Promise<Changed>;
  find(logId: string): Promise<OperationRecord | undefined>;
  /** For who will change it soon: that need not read it again. */
  look(logId: string): Promise<OperationRecord | undefined>;
  /** The principal of an operation whose retention ended, while its tombstone stands. */
  tombstone(logId: string): Promise<string | undefined>;
  argumentsOf(logId: string): Promise<Record<string, unknown> | undefined>;
  /** The stored result as JSON text; undefined when there is none. */
  resultOf(logId: string): Promise<string | undefined>;
  live(logId: string): Promise<Live>;
  report(logId: string, live: Live): Promise<void>;
  /** A call found this operation instead of creating one: kept to explain it, the newest 100. */
  noteDuplicate(logId: string, duplicate: Duplicate): Promise<void>;
  duplicatesOf(logId: string): Promise<Duplicate[]>;
  /** Newest first. */
  listOf(principal: string, limit: number): Promise<OperationRecord[]>;
  openOf(editor: string): Promise<OperationRecord[]>;
  /** How long the tool's calls took lately, ms; newest first. */
  durationsOf(tool: string): Promise<number[]>;
  now(): Promise<number>;
}

export function createOperations(redis: Redis, options: { retentionMs: number } & Partial<Caps>): Operations {
  const apply = defineApply(redis);
  const seen = createSeen();

  const write = (
    kind: "create" | "change",
    { text, record, result }: Change & { text: string },
    expected: string,
    extra: { args?: string; fence?: Fence; counts: Counts; tookMs?: number | undefined },
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
        keys.turns(queueName(editor, record.lane)),
        keys.waiting(record.principal),
        keys.sent(record.principal),
        keys.held(record.principal),
        keys.tally,
        keys.durations(record.tool),
      ],
      [
        expected,
        text,
        logId,
        kind,
        String(record.acceptedAt),
        phaseOf(record.state),
        String(options.retentionMs),
        extra.fence ?? "",
        isFinal(record.state) ? channels.ended : channels.changed,
        extra.args ?? "",
        result === undefined ? "" : JSON.stringify(result),
        editor,
        record.editorOpen ? "open" : "explicit",
        record.supersedes ?? "",
        record.effect === "read_only" ? "" : "mutating",
        record.principal,
        record.band ?? "interactive",
        String(options.maxQueued ?? CAPS.maxQueued),
        String(options.maxRunning ?? CAPS.maxRunning),
        queueName(editor, record.lane),
        extra.tookMs === undefined ? "" : String(Math.round(extra.tookMs)),
        ...Object.entries(extra.counts).flatMap(([counter, by]) => [counter, String(by)]),
      ],
    );
  };

  const find = async (logId: string): Promise<OperationRecord | undefined> =>
    parse(await redis.hmget(keys.operation(logId), "doc", "mutationSeq", "turn"));

  const read = async (logId: string): Promise<Sight | undefined> => {
    const askedAt = performance.now();
    const [fields, at] = await Promise.all([
      redis.hmget(keys.operation(logId), "doc", "mutationSeq", "turn"),
      now(),
    ]);
    const record = parse(fields);
    return record && seen.note({ text: fields[0] ?? "", record, now: at, askedAt });
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
    look: async (logId) => (await read(logId))?.record,

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

    async create(record, args, version) {
      const applied = await write("create", { text: JSON.stringify(record), record }, version, {
        args,
        counts: countsOfCreation(record),
      });
      if (applied.kind !== "applied") return { kind: applied.kind === "too_many" ? "too_many" : "conflict" };
      const { mutationSeq, turn } = applied;
      return { kind: "created", record: { ...record, mutationSeq, turn } };
    },

    async change(logId, change, fence) {
      let remembered = seen.lately(logId);
      for (;;) {
        const sight = remembered?.sight ?? (await read(logId));
        if (!sight) return { kind: "unknown" };
        const wanted = change(sight.record, remembered?.now ?? sight.now);
        if (wanted) {
          const text = JSON.stringify(wanted.record);
          const counts = countsOfChange(sight.record, wanted.record);
          const tookMs = tookBetween(sight.record, wanted.record);
          const applied = await write("change", { ...wanted, text }, sight.text, { fence, counts, tookMs });
          if (applied.kind === "applied") {
            seen.note({ ...sight, text, record: wanted.record });
            return { kind: "applied", record: wanted.record };
          }
          if (applied.kind === "fenced" || applied.kind === "held") return { kind: applied.kind };
        } else if (!remembered) return { kind: "unchanged", record: sight.record };
        remembered = undefined;
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

    async noteDuplicate(logId, duplicate) {
      await redis
        .multi()
        .rpush(keys.duplicates(logId), JSON.stringify(duplicate))
        .ltrim(keys.duplicates(logId), -100, -1)
        .pexpire(keys.duplicates(logId), 3 * options.retentionMs)
        .exec();
    },

    async duplicatesOf(logId) {
      const entries = await redis.lrange(keys.duplicates(logId), 0, -1);
      return entries.map((text) => JSON.parse(text) as Duplicate);
    },

    async listOf(principal, limit) {
      return findAll(await redis.zrevrange(keys.principal(principal), 0, limit - 1));
    },

    async durationsOf(tool) {
      return (await redis.lrange(keys.durations(tool), 0, -1)).map(Number);
    },

    async openOf(editor) {
      return findAll(await redis.zrange(keys.open(editor), 0, "-1"));
    },
  };
}

function parse([doc, mutationSeq, turn]: (string | null)[]): OperationRecord | undefined {
  if (!doc) return undefined;
  const record = JSON.parse(doc) as OperationRecord;
  return { ...record, mutationSeq: Number(mutationSeq ?? 0), turn: Number(turn ?? 0) };
}

/** How long it took, at the moment when that is known; of use to guess how long the tool takes next time. */
function tookBetween(before: OperationRecord, { state, executionMs }: OperationRecord): number | undefined {
  return state === "completed" && before.state !== state ? executionMs : undefined;
}

/** What the script has to know of a state. */
function phaseOf(state: State): "waiting" | "sent" | "final" {
  if (isFinal(state)) return "final";
  return state === "accepted" || state === "queued" ? "waiting" : "sent";
}
