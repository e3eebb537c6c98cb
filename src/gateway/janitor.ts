/** Cares for operations that no caller waits for: adds lost jobs (▲1), ends those that waited too long (▲15). */
import { isPool } from "../shared/editors/target.js";
import { type Deadline, type ExpiryLimits, expiryOf } from "../shared/operation/expiry.js";
import { goneOf, interruptAsGone } from "../shared/operation/gone.js";
import {
  cancelIfAbandoned,
  fieldsOf,
  isSurelyUnsent,
  isWaiting,
  next,
  type OperationRecord,
} from "../shared/operation/operation.js";
import type { KnownEditor } from "../shared/store/editors/editors.js";
import type { Round } from "../shared/store/last-sweep.js";
import type { Change } from "../shared/store/operations/record.js";
import type { Store } from "../shared/store/store.js";
import type { Log } from "../shared/telemetry.js";
import { overdueBy } from "../shared/tools/call-rules.js";
import type { KnownEditors, KnownEditorsReader } from "./editors/known-editors.js";
import { createPoolKeeper, goesBack, lastSeenIn, opensAgain } from "./editors/pool-keeper.js";
import { holdingUp, stands } from "./editors/target-error.js";

/** Removes what forgotten Editors left in the store; part of a janitor round. */
async function removeForgotten({ store, log }: { store: Store; log: Log }): Promise<void> {
  for (const editor of await store.forgotten.ids()) {
    if (!(await store.forgotten.remove(editor))) continue;
    await store.queues.release(editor);
    log.info({ editor }, "removed the rest of a forgotten Editor");
  }
  await store.forgotten.dropDiagnoses();
}

export interface JanitorOptions {
  everyMs: number;
  limits: ExpiryLimits;
  /** Ask the Editor to cancel an operation that runs longer than its class; it ends only if the Editor says so. */
  cancelOverdue: boolean;
  /** An operation that its client gave up while nobody knew its log_id leaves the queue after this long, ms. */
  abandonedMs: number;
  /** An Editor unseen for this long, with nothing open, is forgotten, ms. */
  forgetEditorMs: number;
}

export interface Janitor {
  /** Runs one round now, regardless of the schedule. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

/** What is known of the Editor whose queue an operation is in, and when that was read. Times in ms, store clock. */
interface Whereabouts {
  now: number;
  known: KnownEditor | undefined;
  here: boolean;
  isPaused: boolean;
  lastSeenAt: number;
}

/** A round, and the known losses of the store when it began. */
type Looked = Round & { known: KnownEditors };

/**
 * Missing this many rounds, or this part of the absence time, is a pause: a worker that was silent during it could not
 * report.
 */
const ROUNDS_OF_A_PAUSE = 6;
const ABSENCES_OF_A_PAUSE = 1 / 20;

/** Of all processes on one store, one sweeps at a time. */
export function createJanitor(
  deps: { store: Store; log: Log; knownEditors: Pick<KnownEditorsReader, "read"> },
  options: JanitorOptions,
): Janitor {
  const { store, log, knownEditors } = deps;
  const pools = createPoolKeeper(deps);
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  const pauseMs = Math.max(
    ROUNDS_OF_A_PAUSE * options.everyMs,
    ABSENCES_OF_A_PAUSE * options.limits.absentMs,
  );
  /** By this machine's own clock: a store on it stands still with it, and its clock may catch up later. */
  let lookedAt = Date.now();
  let stoodStill = false;

  /** An operation that may have been sent does not expire as unsent (▲13). */
  const pastDeadline = (
    record: OperationRecord,
    lastSeenAt: number,
    now: number,
    { watchedSince, known }: Looked,
  ): Deadline["event"] | undefined => {
    const event = expiryOf(record, lastSeenAt, now, options.limits, watchedSince);
    return event === "expired" && !isSurelyUnsent(record, known) ? undefined : event;
  };

  const end = async (
    { logId, editor }: OperationRecord,
    { known, lastSeenAt }: Pick<Whereabouts, "known" | "lastSeenAt">,
    round: Looked,
  ): Promise<void> => {
    const decide = (record: OperationRecord, now: number): Change | undefined => {
      // An Editor has taken it from its pool meanwhile, or given it back.
      if (record.editor !== editor) return undefined;
      // Everything stood still in the middle of this round, so its readings are stale.
      if (now - round.at > pauseMs) return undefined;
      const event = pastDeadline(record, lastSeenAt, now, round);
      const state = event && next(record.state, event);
      if (!event || !state) return undefined;
      const error =
        event === "expired"
          ? { code: "EXPIRED", type: "expired", message: expiredMessage(record, known, lastSeenAt, now) }
          : {
              code: "OUTCOME_UNKNOWN",
              type: "editor_silent",
              message: "The Editor never reported the outcome.",
            };
      return { record: { ...record, state, endedAt: now, error } };
    };
    const { incarnation } = round.known;
    const changed = await store.operations.change(logId, decide, { incarnation });
    if (changed.kind !== "applied") return;
    log.info({ ...fieldsOf(changed.record), state: changed.record.state }, "operation waited too long");
    await store.queues.remove(changed.record);
  };

  const askForCancel = async (logId: string): Promise<void> => {
    const changed = await store.operations.change(logId, (record, now) =>
      overdueBy(record, now) && !record.cancel
        ? { record: { ...record, cancel: { requestedAt: now } } }
        : undefined,
    );
    if (changed.kind !== "applied") return;
    log.info(
      fieldsOf(changed.record),
      "operation runs longer than its class; asking the Editor to cancel it",
    );
    await store.askForCancel(logId);
  };

  /** Ends a cancellation that no Editor can answer any more. */
  const interruptGone = async (
    { logId, editor: where }: OperationRecord,
    editor: KnownEditor | undefined,
    here: boolean,
  ): Promise<void> => {
    const changed = await store.operations.change(logId, (record, now) => {
      if (record.editor !== where) return undefined;
      const gone = record.cancel && goneOf(record, editor, here);
      const ended = gone && interruptAsGone(record, gone, editor, now);
      return ended && { record: ended };
    });
    if (changed.kind === "applied") await store.queues.remove(changed.record);
  };

  const leaves = (record: OperationRecord, now: number, known: KnownEditors): OperationRecord | undefined =>
    isSurelyUnsent(record, known) ? cancelIfAbandoned(record, now, options.abandonedMs) : undefined;

  const leaveQueue = async (logId: string, known: KnownEditors): Promise<void> => {
    const decide = (record: OperationRecord, now: number): Change | undefined => {
      const gone = leaves(record, now, known);
      return gone && { record: gone };
    };
    const { incarnation } = known;
    const changed = await store.operations.change(logId, decide, { incarnation });
    if (changed.kind !== "applied") return;
    log.info(
      fieldsOf(changed.record),
      "operation left the queue: its client cancelled it, and no other caller knew of it",
    );
    await store.queues.remove(changed.record);
  };

  /** One operation in the queue of an Editor, or of a pool, which is never `here`. */
  const careFor = async (
    record: OperationRecord,
    { now, known, here, isPaused, lastSeenAt }: Whereabouts,
    round: Looked,
  ): Promise<void> => {
    const { logId, acceptedAt } = record;
    const begins = here && !isPaused;
    if (goesBack(record, begins, round.known)) await pools.giveBack(record, begins, round.known);
    else if (pastDeadline(record, lastSeenAt, now, round)) await end(record, { known, lastSeenAt }, round);
    else if (leaves(record, now, round.known)) await leaveQueue(logId, round.known);
    else if (record.cancel && goneOf(record, known, here)) await interruptGone(record, known, here);
    else if (options.cancelOverdue && overdueBy(record, now)) await askForCancel(logId);
    else if (opensAgain(record, round.known)) await pools.open(record, round.known);
    else if (isWaiting(record.state) && Math.abs(now - acceptedAt) >= options.everyMs)
      await store.queues.restore(record);
  };

  const sweepPools = async (round: Looked): Promise<void> => {
    const ids = await store.pools.ids();
    if (ids.length === 0) return;
    const [editors, now] = await Promise.all([store.editors.all(), store.operations.now()]);
    for (const pool of ids) {
      const lastSeenAt = lastSeenIn(pool, editors);
      const whereabouts = { now, known: undefined, here: false, isPaused: false, lastSeenAt };
      for (const record of await store.operations.openOf(pool)) await careFor(record, whereabouts, round);
      await store.pools.retireUnused(pool, round.at);
    }
  };

  const sweep = async (): Promise<void> => {
    const begun = await store.lastSweep.begin(pauseMs, stoodStill);
    stoodStill = false;
    await store.operations.relist();
    const round: Looked = { ...begun, known: await knownEditors.read() };
    const { present, now: listedAt } = round.known;
    for (const { id: editor, hasOpen, connected, lastSeenAt: seenAt } of present) {
      const mayGo = !connected && seenAt > 0 && listedAt - seenAt >= options.forgetEditorMs;
      if (!hasOpen && !mayGo) continue;
      const known = await store.editors.find(editor);
      const lastSeenAt = known?.lastSeenAt ?? 0;
      const now = await store.operations.now();
      const open = await store.operations.openOf(editor);
      const here = known?.connected === true;
      if (open.length === 0 && !here && lastSeenAt > 0 && now - lastSeenAt >= options.forgetEditorMs) {
        log.info({ editor }, "forgot an Editor that was away for too long");
        await store.editors.forget(editor);
      }
      const isPaused = open.length > 0 && (await store.queues.isPaused(editor));
      for (const record of open) await careFor(record, { now, known, here, isPaused, lastSeenAt }, round);
    }
    await sweepPools(round);
    await removeForgotten({ store, log });
  };

  const loop = async (): Promise<void> => {
    stoodStill ||= Date.now() - lookedAt > pauseMs;
    lookedAt = Date.now();
    try {
      if (await store.lastSweep.maySweep(Math.floor(options.everyMs * 0.9))) await sweep();
    } catch (error) {
      log.warn({ error: (error as Error).message }, "sweeping failed; the next round tries again");
    }
    if (!closed) timer = setTimeout(start, options.everyMs);
  };
  const start = (): void => {
    round = loop();
  };
  start();

  return {
    sweep,
    async close() {
      closed = true;
      clearTimeout(timer);
      await round;
      clearTimeout(timer);
    },
  };
}

function expiredMessage(
  record: OperationRecord,
  editor: KnownEditor | undefined,
  lastSeenAt: number,
  now: number,
): string {
  const minutes = (ms: number): string => `${Math.max(1, Math.round(ms / 60_000))} min`;
  const away = now - Math.max(lastSeenAt, record.acceptedAt);
  const diagnosis = holdingUp(stands(editor?.diagnosis, now));
  const why = diagnosis ? ` ${diagnosis.message} ${diagnosis.next}` : "";
  const waited = `The operation expired: it waited ${minutes(now - record.acceptedAt)}`;
  return isPool(record.editor)
    ? `${waited}, and no Editor of ${record.editor} was seen for ${minutes(away)}.`
    : `${waited}, and its Editor (${record.editor}) was not seen for ${minutes(away)}.${why}`;
}
