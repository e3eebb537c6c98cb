/** Operations in the store: snapshots for decisions, and the compare-and-set writes that apply them. */
import type { Redis } from "ioredis";
import { isPool } from "../../editors/target.js";
import { isFinal, isSent, type OperationRecord, type State } from "../../operation/operation.js";
import { eventOfChange } from "../../operation/operation-event.js";
import { type Duplicate, MOST_DUPLICATES } from "../../operation/timeline.js";
import { countsOfChange } from "../../telemetry.js";
import type { Progress } from "../../wire/wire.js";
import { channels, keys } from "../keys.js";
import type { Queues } from "../queue.js";
import { createIncarnations, type Incarnations } from "../schema.js";
import { type Claim, createClaim, createCreate, createFinish, dueIn } from "../scripts/call.js";
import { createMove, type MoveOptions } from "../scripts/move.js";
import { createRestore, type KnownOfLost } from "../scripts/restore.js";
import { createTransition } from "../scripts/transition.js";
import { type ConsoleLines, createConsoleLines } from "./console-lines.js";
import {
  type Answer,
  defineScript,
  type Limits,
  ownedBy,
  type PrincipalLimits,
  type Resources,
  type ResultQuotaOptions,
} from "./limits.js";
import { createListings, type Listings } from "./listings.js";
import { defineReport, type PartialOptions } from "./partials.js";
import {
  beganAs,
  type Chains,
  type Change,
  type Changed,
  type ChangeOptions,
  type Created,
  createChains,
  createFind,
  createFindWithResult,
  createStateOf,
  decodeResult,
  defineResultUpload,
  documentOf,
  type FoundWithResult,
  isStoredAs,
  type OwnerNonce,
  parseRecord,
  targetsOf,
  textOf,
  timeAfter,
  tookBetween,
} from "./record.js";

// Data stored beside an operation's record: arguments, result, progress reports, and the duplicates that found it.

/** The visible state of a running operation. */
export interface Live {
  progress?: Pick<Progress, "progress" | "total" | "message" | "seq">;
  partialResult?: unknown;
  /** A partial result was too large to keep (partials.ts). */
  isTruncated?: true;
}

/** When reports of one kind were written, ms, store clock. Several that came together are written once. */
export interface ReportTimes {
  first: number;
  last: number;
  count: number;
}

export interface Reports {
  progress?: ReportTimes;
  partial?: ReportTimes;
}

/** As the caller gave them; undefined if they are gone, or not what was stored. */
export type Arguments = Record<string, unknown> | undefined;

/** Those that are written in this text. */
export function argumentsIn(text: string): Arguments {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** Arguments and result are written with the record, by the scripts that create and finish operations. */
interface Attachments extends ConsoleLines {
  argumentsOf(logId: string): Promise<Arguments>;
  /** The stored result as JSON text; undefined when there is none. */
  resultOf(logId: string): Promise<string | undefined>;
  /** The same in its stored pieces (record.ts); the caller owns the buffers. */
  storedResultOf(logId: string): Promise<Buffer[] | undefined>;
  /** Bytes of all stored results; those whose retention ended leave the sum with the next call. */
  resultBytes(): Promise<number>;
  /** Bytes of all stored arguments, likewise. */
  argumentBytes(): Promise<number>;
  live(logId: string): Promise<Live>;
  /** When it reported its progress, and partial results; also after its end. */
  reportsOf(logId: string): Promise<Reports>;
  /** How long the operation and what it left are kept, ms; undefined: it is in flight, or gone. */
  keptFor(logId: string): Promise<number | undefined>;
  /** Its partial result as JSON text. */
  partialOf(logId: string): Promise<string | undefined>;
  report(logId: string, live: Live): Promise<void>;
  /** Records that a call found this operation instead of creating one; the newest are kept (MOST_DUPLICATES). */
  noteDuplicate(logId: string, duplicate: Duplicate): Promise<void>;
  duplicatesOf(logId: string): Promise<Duplicate[]>;
}

/** Pieces per answer, of about 1 MiB each. */
const STEP = 4;

/** Redis answers are slices of one buffer, which stays in memory until the last slice is released. */
const owned = (piece: Buffer): Buffer => Buffer.from(piece);

function createAttachments(redis: Redis, options: { retentionMs: number } & PartialOptions): Attachments {
  const writeReport = defineReport(redis, options);
  const some = (key: string, from: number): Promise<Buffer[]> =>
    redis.lrangeBuffer(key, from, from + STEP - 1);

  /** Read in steps: neither Redis nor this process holds all of a large result in one answer. */
  const storedResultOf: Attachments["storedResultOf"] = async (logId) => {
    const key = keys.result(logId);
    const [only, first] = await Promise.all([
      redis.hgetBuffer(keys.operation(logId), "result"),
      some(key, 0),
    ]);
    if (only) return [owned(only)];
    const pieces: Buffer[] = [];
    for (;;) {
      const step = pieces.length === 0 ? first : await some(key, pieces.length);
      pieces.push(...step.map(owned));
      if (step.length < STEP) break;
    }
    if (pieces.length === 0) return undefined;
    // Its retention may have ended between two steps.
    return pieces.length < STEP || (await redis.llen(key)) === pieces.length ? pieces : undefined;
  };

  return {
    ...createConsoleLines(redis, options),

    async argumentsOf(logId) {
      const text = await redis.hget(keys.operation(logId), "arguments");
      return text === null ? undefined : argumentsIn(text);
    },

    storedResultOf,

    async resultOf(logId) {
      const pieces = await storedResultOf(logId);
      return pieces && decodeResult(pieces);
    },

    resultBytes: async () => Number((await redis.hget(keys.resultRoom, "all")) ?? 0),
    argumentBytes: async () => Number((await redis.hget(keys.argumentRoom, "all")) ?? 0),

    async live(logId) {
      const [progress, partial, truncated] = await redis.hmget(
        keys.live(logId),
        "progress",
        "partial",
        "truncated",
      );
      return {
        ...(progress ? { progress: JSON.parse(progress) as NonNullable<Live["progress"]> } : {}),
        ...(partial ? { partialResult: JSON.parse(partial) as unknown } : {}),
        ...(truncated ? { isTruncated: true } : {}),
      };
    },

    async reportsOf(logId) {
      const kinds = ["progress", "partial"] as const;
      const fields = kinds.flatMap((kind) => [`${kind}:first`, `${kind}:last`, `${kind}:count`]);
      const found = await redis.hmget(keys.live(logId), ...fields);
      const reports: Reports = {};
      for (const [index, kind] of kinds.entries()) {
        const [first = 0, last = 0, count = 0] = found.slice(3 * index, 3 * index + 3).map(Number);
        if (count > 0) reports[kind] = { first, last, count };
      }
      return reports;
    },

    async keptFor(logId) {
      const ms = await redis.pttl(keys.operation(logId));
      return ms < 0 ? undefined : ms;
    },

    partialOf: async (logId) => (await redis.hget(keys.live(logId), "partial")) ?? undefined,

    async report(logId, live) {
      const progress = live.progress && JSON.stringify(live.progress);
      const partial = live.partialResult === undefined ? undefined : JSON.stringify(live.partialResult);
      if (progress === undefined && partial === undefined) return;
      // A safety net in case the operation's end never comes; the end sets the retention.
      await writeReport(logId, { progress, partial }, 3 * options.retentionMs);
    },

    async noteDuplicate(logId, duplicate) {
      await redis
        .multi()
        .rpush(keys.duplicates(logId), JSON.stringify(duplicate))
        .ltrim(keys.duplicates(logId), -MOST_DUPLICATES, -1)
        .pexpire(keys.duplicates(logId), 3 * options.retentionMs)
        .exec();
    },

    async duplicatesOf(logId) {
      const entries = await redis.lrange(keys.duplicates(logId), 0, -1);
      return entries.map((text) => JSON.parse(text) as Duplicate);
    },
  };
}

// Changes the record of an operation that has ended: who received its outcome, and who asked for it.

/**
 * KEYS 3 chain, 4 operation, 5 lease; ARGV 2 the record JSON that was read, 3 the new one
 * Answer: applied | incarnation | conflict | not_owner
 */
const AMEND = `
if redis.call('HGET', KEYS[4], 'doc') ~= ARGV[2] then return {'conflict'} end
${ownedBy("KEYS[5]")}
redis.call('HSET', KEYS[4], 'doc', ARGV[3])
chainChanged(KEYS[3], 'KEEPTTL')
return {'applied'}
`;

/** `expected`: the record as it was read. */
export type Amend = (
  record: OperationRecord,
  texts: { expected: string; text: string },
  only: { fence?: string | undefined; incarnation?: string | undefined },
) => Promise<Answer>;

function createAmend(redis: Redis): Amend {
  const run = defineScript(redis, "ujbAmend", AMEND);
  return ({ hash, logId, editor }, { expected, text }, { fence, incarnation }) =>
    run(
      [keys.chain(hash), keys.operation(logId), keys.lease(editor)],
      { ownerNonce: fence, incarnation },
      expected,
      text,
    );
}

// Puts back the chain of a hash that the store has lost, from the records that it has: an Editor of a pool knows nothing of what
// another one ran (▲13).

/**
 * KEYS 3 chain, 4 the principal's hashes, from 5 on the records of its operations
 * ARGV from 2 on these records as they were read
 * Answer: applied | conflict
 */
const RELINK = `
if redis.call('EXISTS', KEYS[3]) == 1 then return {'conflict'} end
for at = 2, #ARGV do if redis.call('HGET', KEYS[at + 3], 'doc') ~= ARGV[at] then return {'conflict'} end end
if next(ask.links) == nil then redis.call('ZREM', KEYS[4], ask.hash) return {'applied'} end
-- No version that the lost chain had.
ask.links.version = storeTime()
writeChain(KEYS[3], ask.links, 'PX', 3 * ask.retentionMs)
return {'applied'}
`;

/** Reads all that the principal has. A record that is missing is a loss, which begins another incarnation. */
type Relink = (record: Pick<OperationRecord, "hash" | "principal">) => Promise<unknown>;

function createRelink(redis: Redis, { listOf, tombstone }: Listings, retentionMs: number): Relink {
  const run = defineScript(redis, "ujbRelink", RELINK);
  return async ({ hash, principal }) => {
    const isWanted = (record: OperationRecord): boolean => record.hash === hash;
    const found = await listOf(principal, Number.POSITIVE_INFINITY, { isWanted, orElse: tombstone });
    const recordKeys = found.map(({ logId }) => keys.operation(logId));
    const texts = found.map((record) => textOf(record)?.text ?? "");
    const ask = { hash, links: linksOf(found), retentionMs };
    return run([keys.chain(hash), keys.hashes(principal), ...recordKeys], ask, ...texts);
  };
}

/** What the chain of these operations says, as if they had been written in their order. */
export function linksOf(records: readonly OperationRecord[]): Record<string, string> {
  const links: Record<string, string> = {};
  const inOrder = records.toSorted((a, b) => a.order - b.order || a.acceptedAt - b.acceptedAt);
  for (const record of inOrder) {
    const { logId, order, supersedes } = record;
    links.newest = logId;
    if (supersedes !== undefined) links[`forced:${supersedes}`] = logId;
    const began = beganAs(record);
    for (const target of targetsOf(record)) {
      links[`at:${target}`] = logId;
      // Of those that were put back the newest.
      if (began === "began" || (began !== "" && (order === 0 || links[`began:${target}`] === undefined)))
        links[`began:${target}`] = logId;
    }
  }
  return links;
}

export interface Operations extends Attachments, Chains, Incarnations, Listings {
  /**
   * Writes a new record if the chain is still at `version`, and adds its job (▲1): one that is lost in between is added by the
   * janitor. Answers the record with its counters, or why it was not written.
   */
  create(record: OperationRecord, args: string, version: string): Promise<Created>;
  claim: Claim;
  /**
   * Record recovery (▲10 d): puts back a record that the store had lost: it takes its old place in the
   * chain, before later operations, and enters the store now. False: it exists, or another owner holds the lease. Repeats until no other write intervenes. It becomes the newest only if the chain's newest
   * entered before it.
   */
  restore(record: OperationRecord, fence: string, known?: KnownOfLost): Promise<boolean>;
  /**
   * Reads, asks `change` what to write (undefined: nothing), and writes if the record is still the one that was read;
   * otherwise repeats. A record that was read before need not be read again at first. `change` must be pure.
   */
  change(
    operation: string | Pick<OperationRecord, "logId">,
    change: (record: OperationRecord, now: number) => Change | undefined,
    options?: OwnerNonce | ChangeOptions,
  ): Promise<Changed>;
  /**
   * Moves a waiting operation into the queue that `to` names for its record, as often as that changes; undefined: it stays. `fence`: the
   * owner of that queue takes it; `whenIdle`: only if its Editor has nothing to do.
   */
  move(
    logId: string,
    to: (record: OperationRecord) => string | undefined,
    only: MoveOptions,
  ): Promise<"moved" | "stays" | "not_owner" | "incarnation" | "busy" | "held" | "short">;
  /** Reads the record. */
  find(logId: string): Promise<OperationRecord | undefined>;
  /** The same with what a waiter needs besides it. */
  findWithResult(logId: string): Promise<FoundWithResult | undefined>;
  /** Its state alone; undefined if it has no record. */
  stateOf(logId: string): Promise<State | undefined>;
  /** The store's clock, ms since the epoch. */
  now(): Promise<number>;
  /** The same without a round trip, if it was told within the last second: behind by at most a tenth of that, never ahead. */
  recentNow(): Promise<number>;
}

/** The store's clock is asked again after this long, ms. */
const RECENT_MS = 1_000;

interface Clocks {
  steady: number;
  wall: number;
}
const clocks = (): Clocks => ({ steady: performance.now(), wall: Date.now() });
/** ms, by the clock that says more: the steady one may stand still while the machine sleeps. */
const passedSince = ({ steady, wall }: Clocks): number =>
  Math.max(performance.now() - steady, Math.abs(Date.now() - wall));

export interface OperationsOptions extends Partial<PrincipalLimits>, ResultQuotaOptions, PartialOptions {
  retentionMs: number;
  /** Resources of which there are few; none by default. */
  resources?: Resources | undefined;
}

interface Shared {
  /** The jobs of the operations. */
  jobs: Pick<Queues, "add" | "restore" | "remove" | "promote">;
  limits: Limits;
  onError(error: Error): void;
}

/** A record as it is stored. */
interface StoredRecord {
  text: string;
  record: OperationRecord;
  /** The store's clock when it was read, ms. */
  now: number;
}

export function createOperations(
  redis: Redis,
  options: OperationsOptions,
  { jobs, limits, onError }: Shared,
): Operations {
  const createOperation = createCreate(redis, limits);
  const restoreOperation = createRestore(redis, limits);
  const transition = createTransition(redis, limits);
  const finish = createFinish(redis, limits);
  const amend = createAmend(redis);
  const move = createMove(redis, limits);
  const upload = defineResultUpload(redis, limits.room);
  const incarnations = createIncarnations(redis);
  const attachments = createAttachments(redis, options);

  /** By the script for what becomes of the operation. */
  const writeChange = async (
    { record: before, text: expected }: StoredRecord,
    { record, result }: Change,
    text: string,
    only: ChangeOptions,
  ): Promise<Answer> => {
    const texts = { expected, text };
    if (isFinal(before.state)) return amend(record, texts, only);
    const wasSent = only.wasSent === true || isSent(before.state);
    if (!isFinal(record.state))
      return transition(record, texts, { ...only, wasSent }, eventOfChange(before, record));
    const uploaded = result && (await upload(result, record.principal));
    if (uploaded === "full") return ["full"];
    const end = {
      counts: countsOfChange(before, record),
      tookMs: tookBetween(before, record),
      result: uploaded,
    };
    const answer = await finish(record, texts, only, end);
    if (answer[0] !== "applied") await uploaded?.drop();
    return answer;
  };

  /** The janitor does later what fails here: the record is written. */
  const later = (error: unknown): void => onError(error as Error);

  const promoteDue = (answer: Answer): void => {
    if (answer[0] === "applied") for (const job of dueIn(answer)) jobs.promote(job).catch(later);
  };

  /** In the queue that its record names. One that has been there before may have left a job behind. */
  const addJob = async (record: OperationRecord, isNew = false): Promise<void> => {
    try {
      await (isNew ? jobs.add(record) : jobs.restore(record));
      if (isPool(record.editor)) await redis.publish(channels.pools, record.editor);
    } catch (error) {
      later(error);
    }
  };

  const find = createFind(redis);

  const read = async (logId: string): Promise<StoredRecord | undefined> => {
    const [fields, at] = await Promise.all([
      redis.hmget(keys.operation(logId), "doc", "mutationSeq", "turn"),
      now(),
    ]);
    const record = parseRecord(logId, fields);
    return record && { text: fields[0] ?? "", record, now: at };
  };

  /** As it was read before; undefined if that is not known. */
  const asRead = async (operation: object): Promise<StoredRecord | undefined> => {
    const known = textOf(operation);
    return known && { ...known, now: await recentNow() };
  };

  /** The store's clock as it was last told, and when; undefined if the answer took so long that it was late. */
  let told: { now: number; at: Clocks } | undefined;
  const now = async (): Promise<number> => {
    const asked = clocks();
    const [seconds, micros] = await redis.time();
    const found = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    told = passedSince(asked) < RECENT_MS / 10 ? { now: found, at: clocks() } : undefined;
    return found;
  };
  const recentNow = async (): Promise<number> =>
    told && passedSince(told.at) < RECENT_MS
      ? told.now + Math.floor(performance.now() - told.at.steady)
      : now();

  const listings = createListings(redis, find);

  const relink = createRelink(redis, listings, limits.retentionMs);

  const chains = createChains(redis, { find, now, ...incarnations, ...listings }, options);

  return {
    ...attachments,
    find,
    findWithResult: createFindWithResult(redis),
    stateOf: createStateOf(redis),
    now,
    recentNow,
    ...incarnations,
    ...chains,
    ...listings,
    claim: createClaim(redis, limits),

    async create(record, args, version) {
      const text = documentOf(record);
      const answer = await createOperation(record, { text, args }, version);
      const [kind, mutationSeq, turn] = answer;
      if (kind === "too_many" || kind === "queue_full" || kind === "full") return { kind };
      if (kind === "chain_lost") await relink(record);
      // Written by a sending of the script whose reply was lost: another version is what it left.
      const created =
        kind === "applied"
          ? isStoredAs({ ...record, mutationSeq: Number(mutationSeq), turn: Number(turn) }, text)
          : await find(record.logId);
      if (!created) return { kind: "conflict" };
      await addJob(created, true);
      return { kind: "created", record: created };
    },

    async restore(lost, fence, { before, labels } = {}) {
      const earlier = before ?? new Set(lost.after === null ? [] : [lost.after]);
      for (;;) {
        const [known, found] = await Promise.all([
          find(lost.logId),
          chains.chain(lost.hash, { principal: lost.principal, caller: null }),
        ]);
        if (known) return false;
        // It is newer than the chain's newest only if it was created right after that one.
        const isNewest = found.newest === null || earlier.has(found.newest);
        const entered = Number(found.version) + 1;
        const order = isNewest ? entered : 0;
        const { incarnation, version } = found;
        const entry = { order, entered, incarnation };
        const record = { ...lost, ...entry, rebuilt: true as const };
        const only = { fence, incarnation };
        const [kind] = await restoreOperation(record, { version, isNewest }, only, labels);
        if (kind === "chain_lost") await relink(record);
        else if (kind !== "conflict" && kind !== "incarnation") return kind === "applied";
      }
    },

    async change(operation, change, options) {
      const only = typeof options === "string" ? { fence: options } : (options ?? {});
      const logId = typeof operation === "string" ? operation : operation.logId;
      let known = typeof operation === "string" ? undefined : await asRead(operation);
      for (;;) {
        const stored = known ?? (await read(logId));
        if (!stored) return { kind: "unknown" };
        const wanted = change(stored.record, timeAfter(stored.record, stored.now));
        if (!wanted && !known) return { kind: "unchanged", record: stored.record };
        known = undefined;
        if (!wanted) continue;
        const text = documentOf(wanted.record);
        const answer = await writeChange(stored, wanted, text, only);
        promoteDue(answer);
        const [kind] = answer;
        if (kind === "applied") return { kind, record: isStoredAs(wanted.record, text) };
        if (kind === "not_owner" || kind === "held" || kind === "full" || kind === "incarnation")
          return { kind };
      }
    },

    async move(logId, to, only) {
      for (;;) {
        const known = await read(logId);
        const editor = known && to(known.record);
        if (!known || editor === undefined || editor === known.record.editor) return "stays";
        const { pool, mutationSeq, turn: poolTurn = 0 } = known.record;
        const left = known.record.editor === pool ? { poolSeq: mutationSeq, poolTurn } : {};
        const record = { ...known.record, ...left, editor };
        const texts = { expected: known.text, text: documentOf(record) };
        const [kind, turn] = await move(known.record, record, texts, only);
        if (kind === "applied") {
          await jobs.remove(known.record).catch(later);
          await addJob({ ...record, turn: Number(turn) });
          return "moved";
        }
        if (kind === "incarnation" || kind === "not_owner") return kind;
        if (kind === "busy" || kind === "held" || kind === "short") return kind;
      }
    },
  };
}
