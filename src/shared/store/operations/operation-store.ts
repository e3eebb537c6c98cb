/** Operations in the store: snapshots for decisions, and the compare-and-set writes that apply them. */
import type { Redis } from "ioredis";
import { countsOfChange } from "../../counters.js";
import { isPool } from "../../editors/pool.js";
import { isFinal, isSent, type OperationRecord } from "../../operation/operation.js";
import { eventOfChange } from "../../operation/operation-event.js";
import { createIncarnations, type Incarnations } from "../incarnation.js";
import { channels, keys } from "../keys.js";
import type { Queues } from "../queue.js";
import { defineResultUpload } from "../results/result-upload.js";
import { createAmend } from "../scripts/amend.js";
import { type Claim, createClaim } from "../scripts/claim.js";
import { type CreateOptions, createCreate } from "../scripts/create.js";
import { createFinish, type FinishOptions } from "../scripts/finish.js";
import { createMove, type MoveOptions } from "../scripts/move.js";
import { createRelease, dueIn } from "../scripts/release.js";
import { createRestore, type KnownOfLost } from "../scripts/restore.js";
import type { Answer } from "../scripts/script.js";
import { createTransition } from "../scripts/transition.js";
import { type Attachments, createAttachments } from "./attachments.js";
import { type Chains, createChains } from "./chain.js";
import type { Change, Changed, ChangeOptions, Created, OwnerNonce } from "./changes.js";
import { createListings, type Listings } from "./listings.js";
import type { PartialOptions } from "./partials.js";
import type { PrincipalLimits } from "./principal-limits.js";
import { createFind, documentOf, isStoredAs, parseRecord, readRecord, textOf } from "./record.js";
import type { Resources } from "./resource-limits.js";
import type { ResultQuotaOptions } from "./result-quota.js";
import { timeAfter, tookBetween } from "./write-facts.js";

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
  /** A place among its principal's running operations may have come free since it was held back: who waits asks again then. */
  releaseHeld(logId: string): Promise<unknown>;
  now(): Promise<number>;
}

export interface OperationsOptions extends Partial<PrincipalLimits>, ResultQuotaOptions, PartialOptions {
  retentionMs: number;
  /** Resources of which there are few; none by default. */
  resources?: Resources | undefined;
}

interface Shared {
  /** The jobs of the operations. */
  jobs: Pick<Queues, "add" | "restore" | "remove" | "promote">;
  limits: CreateOptions & FinishOptions;
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
  const release = createRelease(redis, limits);
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
    return known && { ...known, now: await now() };
  };

  const now = async (): Promise<number> => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  };

  const listings = createListings(redis, find);

  const chains = createChains(redis, { find, now, ...incarnations, ...listings }, options);

  return {
    ...attachments,
    find,
    now,
    ...incarnations,
    ...chains,
    ...listings,
    claim: createClaim(redis, limits),
    releaseHeld: async (logId) => promoteDue(await release(logId)),

    async create(record, args, version) {
      const answer = await createOperation(record, args, version);
      const [kind, mutationSeq, turn] = answer;
      if (kind === "too_many" || kind === "queue_full" || kind === "full") return { kind };
      // Written by a sending of the script whose reply was lost: another version is what it left.
      const created =
        kind === "applied"
          ? readRecord(record.logId, [documentOf(record), mutationSeq, turn])
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
        if (kind !== "conflict" && kind !== "incarnation") return kind === "applied";
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
