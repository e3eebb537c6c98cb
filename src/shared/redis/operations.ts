/** Operations in the store: snapshots to decide on, and the compare-and-set writes that carry decisions out. */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import { isFinal, type OperationRecord } from "../operation.js";
import { type Counts, countsOfChange, countsOfCreation } from "../tally.js";
import { countsAsChange } from "../tool.js";
import { type Applied, defineApply } from "./apply.js";
import { type Attachments, createAttachments } from "./attachments.js";
import { CAPS, type Caps } from "./cap.js";
import { type Chains, createChains } from "./chain.js";
import { createIncarnations, type Incarnations } from "./incarnation.js";
import { channels, keys } from "./keys.js";
import type { PartialOptions } from "./partials.js";
import { beganAs, phaseOf, timeAfter, tookBetween } from "./phase.js";
import { queueName } from "./queue.js";
import { createFind, parseRecord } from "./record.js";
import { type RoomOptions, roomLimits } from "./room.js";
import { createSeen, type Sight } from "./seen.js";
import { defineStage, type Staged } from "./stage.js";
import type { StoredResult } from "./stored-result.js";

export interface Change {
  record: OperationRecord;
  result?: StoredResult | undefined;
}

/** The owner's nonce: a write is refused once another owner holds the lease (▲11). */
export type Fence = string | undefined;

export interface ChangeOptions {
  fence?: Fence;
  /** ▲13 Only in this incarnation of the store. */
  incarnation?: string | undefined;
  /** The Editor has it already: it asks for no place among what its principal may have running. */
  wasSent?: boolean;
}

export type Changed =
  | { kind: "applied"; record: OperationRecord }
  | { kind: "unchanged"; record: OperationRecord }
  | { kind: "unknown" }
  | { kind: "fenced" }
  /** Its principal has as many running as it may: ask again. */
  | { kind: "held" }
  /** ▲13 The store may have lost something since: what the Editor knows is imported first. */
  | { kind: "incarnation" }
  /** There is no room for its result (room.ts): ask again. */
  | { kind: "full" };

export type Created =
  | { kind: "created"; record: OperationRecord }
  | { kind: "conflict" | "too_many" | "full" };

export interface Operations extends Attachments, Chains, Incarnations {
  /** Writes a new record if the chain is still at `version`; answers it as counted, or why it was not written. */
  create(record: OperationRecord, args: string, version: string): Promise<Created>;
  /**
   * ▲10 The store had lost this record: it takes its place in the chain again, before whatever was made meanwhile, and
   * enters the store now. False: it is there, its retention has ended, or another owner holds the lease. Reads, writes, and looks again until
   * nobody came in between. `before`: what is known to have entered the chain before it; it becomes the newest only
   * where the chain has nothing newer than one of them.
   */
  restore(record: OperationRecord, fence: string, before?: ReadonlySet<string>): Promise<boolean>;
  /**
   * Reads, asks `change` what to write (undefined: nothing), writes if the record is still the one that was read, else
   * asks again. What this process saw of it within the last second is as good as read: the write finds out. `change`
   * must be pure.
   */
  change(
    logId: string,
    change: (record: OperationRecord, now: number) => Change | undefined,
    options?: Fence | ChangeOptions,
  ): Promise<Changed>;
  find(logId: string): Promise<OperationRecord | undefined>;
  /** For who will change it soon: that need not read it again. */
  look(logId: string): Promise<OperationRecord | undefined>;
  /** The principal of an operation whose retention ended, while its tombstone stands. */
  tombstone(logId: string): Promise<string | undefined>;
  /** Newest first. */
  listOf(principal: string, limit: number): Promise<OperationRecord[]>;
  openOf(editor: string): Promise<OperationRecord[]>;
  /** How long the tool's calls took lately, ms; newest first. */
  durationsOf(tool: string): Promise<number[]>;
  now(): Promise<number>;
}

export interface OperationsOptions extends Partial<Caps>, RoomOptions, PartialOptions {
  retentionMs: number;
}

export function createOperations(redis: Redis, options: OperationsOptions): Operations {
  const limits = roomLimits(options);
  const apply = defineApply(redis);
  const stage = defineStage(redis, limits);
  const incarnations = createIncarnations(redis);
  const seen = createSeen();

  const write = (
    kind: "create" | "restore" | "change",
    { text, record }: Pick<Change, "record"> & { text: string },
    expected: string,
    extra: {
      args?: string;
      fence?: Fence;
      incarnation?: string | undefined;
      wasSent?: boolean;
      counts: Counts;
      tookMs?: number | undefined;
      staged?: Staged;
    },
  ): Promise<Applied> => {
    const { logId, editor } = record;
    const { staged } = extra;
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
        staged?.key ?? keys.staged(""),
        keys.resultEnds,
        keys.resultBytes,
        keys.roomWanted(record.principal),
        keys.incarnation,
        keys.askerMutations(editor, record.createdBy.caller ?? record.principal),
        keys.askerMutations(editor, record.principal),
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
        staged === undefined ? "" : String(staged.bytes),
        editor,
        beganAs(record),
        record.supersedes ?? "",
        countsAsChange(record) ? "counts" : "",
        record.principal,
        record.band ?? "interactive",
        String(options.maxQueued ?? CAPS.maxQueued),
        extra.wasSent ? "" : String(options.maxRunning ?? CAPS.maxRunning),
        queueName(editor, record.lane),
        extra.tookMs === undefined ? "" : String(Math.round(extra.tookMs)),
        staged?.piece ?? "",
        limits,
        extra.incarnation ?? "",
        randomUUID(),
        ...Object.entries(extra.counts).flatMap(([counter, by]) => [counter, String(by)]),
      ],
    );
  };

  /** ▲14 The result is there when the record says that it ended: in one step with it, or before. */
  const writeChange = async (
    { record: before, text: expected }: Sight,
    { record, result }: Change,
    text: string,
    only: ChangeOptions,
  ): Promise<Applied> => {
    const extra = { ...only, counts: countsOfChange(before, record), tookMs: tookBetween(before, record) };
    if (result === undefined) return write("change", { record, text }, expected, extra);
    const staged = await stage(result, record.principal);
    if (staged === "full") return { kind: "full" };
    const applied = await write("change", { record, text }, expected, { ...extra, staged });
    if (applied.kind !== "applied") await staged.drop();
    return applied;
  };

  const find = createFind(redis);

  const read = async (logId: string): Promise<Sight | undefined> => {
    const askedAt = performance.now();
    const [fields, at] = await Promise.all([
      redis.hmget(keys.operation(logId), "doc", "mutationSeq", "turn"),
      now(),
    ]);
    const record = parseRecord(fields);
    return record && seen.note({ text: fields[0] ?? "", record, now: at, askedAt });
  };

  const findAll = async (logIds: string[]): Promise<OperationRecord[]> =>
    (await Promise.all(logIds.map(find))).filter((record) => record !== undefined);

  const now = async (): Promise<number> => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  };

  const chains = createChains(redis, { find, now, ...incarnations }, options);

  const tombstone = async (logId: string): Promise<string | undefined> =>
    (await redis.get(keys.tombstone(logId))) ?? undefined;

  return {
    ...createAttachments(redis, options),
    find,
    now,
    ...incarnations,
    ...chains,
    tombstone,
    look: async (logId) => (await read(logId))?.record,

    async create(record, args, version) {
      const applied = await write("create", { text: JSON.stringify(record), record }, version, {
        args,
        incarnation: record.incarnation,
        counts: countsOfCreation(record),
      });
      const { kind } = applied;
      if (kind === "too_many" || kind === "full") return { kind };
      if (kind !== "applied") return { kind: "conflict" };
      const { mutationSeq, turn } = applied;
      return { kind: "created", record: { ...record, mutationSeq, turn } };
    },

    async restore(lost, fence, before = new Set(lost.after === null ? [] : [lost.after])) {
      for (;;) {
        const [known, principal, found] = await Promise.all([
          find(lost.logId),
          tombstone(lost.logId),
          chains.chain(lost.hash, { principal: lost.principal, caller: null }),
        ]);
        if (known || principal !== undefined) return false;
        // Newer than what the chain has only if it was made right after that.
        const isNewest = found.newest === null || before.has(found.newest);
        const entered = Number(found.version) + 1;
        const order = isNewest ? entered : 0;
        const { incarnation: at } = found;
        const record = { ...lost, order, entered, incarnation: at, deliveredIn: at, rebuilt: true as const };
        const text = JSON.stringify(record);
        const applied = await write(isNewest ? "create" : "restore", { text, record }, found.version, {
          fence,
          incarnation: found.incarnation,
          counts: {},
        });
        if (applied.kind !== "conflict" && applied.kind !== "incarnation") return applied.kind === "applied";
      }
    },

    async change(logId, change, options) {
      const only = typeof options === "string" ? { fence: options } : (options ?? {});
      let remembered = seen.lately(logId);
      for (;;) {
        const sight = remembered?.sight ?? (await read(logId));
        if (!sight) return { kind: "unknown" };
        const wanted = change(sight.record, timeAfter(sight.record, remembered?.now ?? sight.now));
        if (wanted) {
          const text = JSON.stringify(wanted.record);
          const applied = await writeChange(sight, wanted, text, only);
          if (applied.kind === "applied") {
            seen.note({ ...sight, text, record: wanted.record });
            return { kind: "applied", record: wanted.record };
          }
          const { kind } = applied;
          if (kind === "fenced" || kind === "held" || kind === "full" || kind === "incarnation")
            return { kind };
        } else if (!remembered) return { kind: "unchanged", record: sight.record };
        remembered = undefined;
      }
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
