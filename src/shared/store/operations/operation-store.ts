/** Operations in the store: snapshots for decisions, and the compare-and-set writes that apply them. */
import type { Redis } from "ioredis";
import { countsOfChange } from "../../counters.js";
import { isFinal, isSent, jobIdOf, type OperationRecord } from "../../operation/operation.js";
import { eventOfChange } from "../../operation/operation-event.js";
import { createIncarnations, type Incarnations } from "../incarnation.js";
import { keys, queueName } from "../keys.js";
import { defineResultUpload } from "../results/result-upload.js";
import type { EndedHere } from "../same-process/ended-here.js";
import type { ClaimedOperation, LocalLane, LocalLanes } from "../same-process/local-lanes.js";
import { createAmend } from "../scripts/amend.js";
import { type Claimant, claimedDocument } from "../scripts/claim.js";
import { type Assumed, type CreateOptions, createCreate } from "../scripts/create.js";
import { createFindClaim, type FindClaim } from "../scripts/find-claim.js";
import { createFinish } from "../scripts/finish.js";
import { createMove, type MoveOptions } from "../scripts/move.js";
import { createRelease } from "../scripts/release.js";
import { createRestore, type KnownOfLost } from "../scripts/restore.js";
import type { Answer } from "../scripts/script.js";
import { createTransition } from "../scripts/transition.js";
import { type Attachments, createAttachments } from "./attachments.js";
import { type Chains, createChains } from "./chain.js";
import type { Change, Changed, ChangeOptions, Created, OwnerNonce } from "./changes.js";
import { createListings, type Listings } from "./listings.js";
import type { PartialOptions } from "./partials.js";
import type { PrincipalLimits } from "./principal-limits.js";
import { createFind, documentOf, parseRecord, readRecord } from "./record.js";
import { type CachedRecord, createRecordCache } from "./record-cache.js";
import type { Resources } from "./resource-limits.js";
import type { ResultQuotaOptions } from "./result-quota.js";
import { timeAfter, tookBetween } from "./write-facts.js";

export interface Operations extends Attachments, Chains, Incarnations, Listings {
  /**
   * Writes a new record with its job if the chain is still at `version`, and what was assumed holds. Answers the record with
   * its counters, or why it was not written.
   */
  create(record: OperationRecord, args: string, version: string, assumed?: Assumed): Promise<Created>;
  /**
   * Record recovery (▲10 d): puts back a record that the store had lost: it takes its old place in the
   * chain, before later operations, and enters the store now. False: it exists, or another owner holds the lease. Repeats until no other write intervenes. It becomes the newest only if the chain's newest
   * entered before it.
   */
  restore(record: OperationRecord, fence: string, known?: KnownOfLost): Promise<boolean>;
  /**
   * Reads, asks `change` what to write (undefined: nothing), and writes if the record is still the one that was read;
   * otherwise repeats. A copy read by this process within the last second counts as read: the write checks it. `change`
   * must be pure.
   */
  change(
    logId: string,
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
  /** Reads the record ahead of a change, which then need not read it again. */
  readRecord(logId: string): Promise<OperationRecord | undefined>;
  /** A place among its principal's running operations may have come free since it was held back: who waits asks again then. */
  releaseHeld(logId: string): Promise<unknown>;
  /** What a script has claimed with this claimant, if its reply was lost. */
  findClaim: FindClaim;
  now(): Promise<number>;
}

export interface OperationsOptions extends Partial<PrincipalLimits>, ResultQuotaOptions, PartialOptions {
  retentionMs: number;
  /** Resources of which there are few; none by default. */
  resources?: Resources | undefined;
}

type Shared = { endedHere: Pick<EndedHere, "note">; localLanes: LocalLanes; limits: CreateOptions };

export function createOperations(
  redis: Redis,
  options: OperationsOptions,
  { endedHere, localLanes, limits }: Shared,
): Operations {
  const createOperation = createCreate(redis, limits);
  const restoreOperation = createRestore(redis, limits);
  const transition = createTransition(redis, limits);
  const finish = createFinish(redis, limits);
  const amend = createAmend(redis);
  const move = createMove(redis, limits);
  const upload = defineResultUpload(redis, limits.room);
  const incarnations = createIncarnations(redis);
  const recordCache = createRecordCache();
  const attachments = createAttachments(redis, options);

  /** By the script for what becomes of the operation. */
  const writeChange = async (
    { record: before, text: expected }: CachedRecord,
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
    // Only its owner ends the job: another part of the process does not know whether the lane is done with the operation.
    const job = only.fence === undefined ? undefined : laneOf(record)?.jobOf(jobIdOf(record));
    const counts = countsOfChange(before, record);
    const taken = job && { id: job.id, token: job.token, claimant: job.claimant() };
    const end = { counts, tookMs: tookBetween(before, record), result: uploaded, job: taken };
    const answer = await finish(record, texts, only, end).catch((error: unknown) => {
      job?.lost(taken?.claimant);
      throw error;
    });
    if (answer[0] !== "applied") await uploaded?.drop();
    // It may have been sent twice, and applied by the first, whose reply was lost with its connection.
    if (answer[0] === "conflict") job?.lost(taken?.claimant);
    if (answer[0] === "applied" && answer[1] === 1) job?.ended(nextOf(taken?.claimant, answer));
    return answer;
  };

  const laneOf = ({ editor, lane }: OperationRecord): LocalLane | undefined =>
    localLanes.get(queueName(editor, lane));

  const nextOf = (claimant: Claimant | undefined, answer: Answer): ClaimedOperation | undefined => {
    const [logId, document, seq, turn, args] = answer.slice(2);
    if (!claimant || document === undefined) return undefined;
    const record = readRecord(String(logId), [document, seq, turn]);
    return { record, args: String(args), claimant };
  };

  const find = createFind(redis);

  const read = async (logId: string): Promise<CachedRecord | undefined> => {
    const askedAt = performance.now();
    const [fields, at] = await Promise.all([
      redis.hmget(keys.operation(logId), "doc", "mutationSeq", "turn"),
      now(),
    ]);
    const record = parseRecord(logId, fields);
    const heardAt = performance.now();
    return record && recordCache.note({ text: fields[0] ?? "", record, now: at, askedAt, heardAt });
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
    releaseHeld: createRelease(redis, limits),
    findClaim: createFindClaim(redis),
    readRecord: async (logId) => (await read(logId))?.record,

    async create(record, args, version, assumed) {
      const place = laneOf(record)?.place();
      // Until it is known whether the script has claimed: its reply may be lost, with its connection or for its time.
      let settled: "begin" | "leave" | "lost" = "lost";
      try {
        const askedAt = performance.now();
        const waiting = documentOf(record);
        const answer = await createOperation(
          { record, document: waiting, args },
          { version, assumed },
          place?.claimant,
        );
        const [kind] = answer;
        if (kind === "too_many" || kind === "queue_full" || kind === "full") return { kind };
        if (kind !== "applied") return { kind: "conflict" };
        const [mutationSeq, turn, now = 0, isClaimed] = answer.slice(1).map(Number);
        const claimant = isClaimed === 1 ? place?.claimant : undefined;
        settled = claimant ? "begin" : "leave";
        const document = assumed ? documentOf({ ...record, acceptedAt: now }) : waiting;
        const text = claimant ? claimedDocument(document, claimant, now) : document;
        const created = readRecord(record.logId, [text, mutationSeq, turn]);
        recordCache.note({ text, record: created, now, askedAt, heardAt: performance.now() });
        if (claimant) place?.begin({ record: created, args, claimant });
        return { kind: "created", record: created };
      } finally {
        if (settled !== "begin") place?.[settled]();
      }
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

    async change(logId, change, options) {
      const only = typeof options === "string" ? { fence: options } : (options ?? {});
      let remembered = recordCache.recent(logId);
      for (;;) {
        const cached = remembered?.cached ?? (await read(logId));
        if (!cached) return { kind: "unknown" };
        const wanted = change(cached.record, timeAfter(cached.record, remembered?.now ?? cached.now));
        if (wanted) {
          const text = documentOf(wanted.record);
          const [kind] = await writeChange(cached, wanted, text, only);
          if (kind === "applied") {
            recordCache.note({ ...cached, text, record: wanted.record });
            if (isFinal(wanted.record.state) && !isFinal(cached.record.state))
              endedHere.note({ record: wanted.record, result: wanted.result });
            return { kind: "applied", record: wanted.record };
          }
          if (kind === "not_owner" || kind === "held" || kind === "full" || kind === "incarnation")
            return { kind };
        } else if (!remembered) return { kind: "unchanged", record: cached.record };
        remembered = undefined;
      }
    },

    async move(logId, to, only) {
      for (;;) {
        const known = await read(logId);
        const editor = known && to(known.record);
        if (!known || editor === undefined || editor === known.record.editor) return "stays";
        const { pool, mutationSeq } = known.record;
        const left = known.record.editor === pool ? { poolSeq: mutationSeq } : {};
        const record = { ...known.record, ...left, editor };
        const texts = { expected: known.text, text: documentOf(record) };
        const [kind] = await move(known.record, record, texts, only);
        if (kind === "applied") return "moved";
        if (kind === "incarnation" || kind === "not_owner") return kind;
        if (kind === "busy" || kind === "held" || kind === "short") return kind;
      }
    },
  };
}
