/**
 * The life of one operation in its owner: claim → ask → follow → settle, over declared dependencies.
 *
 * It may be entered any number of times for the same operation, by a job, after a reconnect, after a crash of the
 * owner before: it finds out what is known and goes on from there. It never runs an operation under another id.
 */
import { isFinal, jobIdOf, type OperationRecord } from "../shared/operation.js";
import { originOf } from "../shared/origin.js";
import { type Found, type OtherOperation, type Recovery, type Refusal, recover } from "../shared/recover.js";
import type { Operations } from "../shared/redis/operations.js";
import type { ReplayOptions } from "../shared/replay.js";
import { EDITOR_CODES } from "../shared/wire.js";
import { createClaims } from "./claims.js";
import type { SameAs } from "./other-operation.js";
import { refusedOutcome, unknownOutcome } from "./outcome.js";
import type { ProcessDeps, Processed } from "./process-deps.js";
import { createSettlement } from "./settlement.js";

type Arguments = Awaited<ReturnType<Operations["argumentsOf"]>>;

export interface ProcessOptions {
  retentionMs: number;
  /** The gateway's, by which an operation that the Editor names in place of another is decided on. */
  replay?: ReplayOptions;
}

/** The operation was refused before its ledger saw it: the next session of the Editor may run it. */
class NotTaken extends Error {
  override readonly message = "the Editor is quitting";
}

/** So often an answer that cannot be used is taken for an accident. */
const MAX_REFUSALS = 5;

/** More than this many answers that only lead to another question: the Editor and the store contradict each other. */
const MAX_QUESTIONS = 12;

export function createProcess(deps: ProcessDeps, options: ProcessOptions) {
  const { operations, editor, fence } = deps;
  const { claim, resend, unclaim } = createClaims(operations, deps);
  const { settle, takeOutcome, markStarted } = createSettlement(deps);

  const submit = async (record: OperationRecord, after: string | null, args: Arguments): Promise<Found> => {
    const { tool, fingerprint, hash, acceptedAt } = record;
    const submitted = { operationId: record.logId, hash, after, acceptedAt };
    try {
      const answer = await editor.submit({
        ...submitted,
        origin: deps.seal.sign(originOf(record, deps.storeId), submitted),
        tool,
        arguments: args ?? {},
        argumentsHash: fingerprint,
      });
      return { asked: "submit", answer };
    } catch (error) {
      const refusal = editor.refusal(error);
      if (refusal) return { asked: "submit", refusal };
      throw editor.isLeaving(error) ? new NotTaken() : error;
    }
  };

  /** One connection's worth: asks, follows, settles; rejects when the connection is lost on the way. */
  const converse = async (
    first: OperationRecord,
    session: string,
    args: Arguments,
    signal: AbortSignal,
  ): Promise<Processed | undefined> => {
    let record = first;
    let after = record.after;
    for (let questions = 0; questions < MAX_QUESTIONS; questions += 1) {
      // Listen before asking: the end may come right behind the answer.
      const following = editor.follow(record.logId);
      try {
        const mayAsk = record.sentIn === session && !isOnlyAskedFor(record);
        const found: Found = mayAsk
          ? await submit(record, after, args)
          : { asked: "get", answer: await editor.get(record.logId) };
        if (await leadsBack(found, record.logId)) break;
        const other = await otherIn(found, record, session);
        const recovery = recover(record, found, {
          session,
          other,
          retentionMs: options.retentionMs,
          options: options.replay,
        });
        if (recovery.kind === "attach" && recovery.executedAs === undefined) {
          if ("answer" in found && found.answer.state === "running") await markStarted(record.logId);
          const [outcome] = await Promise.all([following.outcome, passOnEarlyCancel(record.logId)]);
          return await settle(record, outcome, signal);
        }
        const step = await act(record, recovery, session, signal);
        if (step === undefined || typeof step === "string") return step;
        record = step.record;
        after = step.after ?? after;
      } finally {
        following.stop();
      }
    }
    const why = "The Editor's ledger and the broker's records contradict each other.";
    return settle(record, unknownOutcome({ why }, await operations.now()), signal);
  };

  /** The Editor says that the operation is itself, or one that waits for it: who waited for that would wait for ever. */
  const leadsBack = async (found: Found, logId: string): Promise<boolean> => {
    if (!("answer" in found) || found.answer.state !== "same_as") return false;
    let at: string | undefined = (found.answer as SameAs).operationId;
    for (let steps = 0; at !== undefined && at !== logId && steps < MAX_QUESTIONS; steps += 1) {
      at = (await operations.find(at))?.executedAs;
    }
    return at !== undefined;
  };

  const otherIn = async (
    found: Found,
    record: OperationRecord,
    session: string,
  ): Promise<OtherOperation | undefined> =>
    "answer" in found && found.answer.state === "same_as"
      ? deps.otherOperation(record, found.answer as SameAs, session)
      : undefined;

  /** Asked for since the claim, its message came before the Editor knew the operation. */
  const passOnEarlyCancel = async (logId: string): Promise<void> => {
    const latest = await operations.look(logId);
    if (latest?.cancel && !latest.cancel.answer) deps.passOnCancel(latest);
  };

  /** Carries out what `recover` said, short of following. */
  const act = async (
    record: OperationRecord,
    recovery: Recovery,
    session: string,
    signal: AbortSignal,
  ): Promise<Processed | undefined | { record: OperationRecord; after?: string }> => {
    switch (recovery.kind) {
      case "settle":
        return settle(record, recovery.outcome, signal, { isCollected: true });
      case "fail":
        return settle(record, refusedOutcome(recovery, await operations.now()), signal);
      case "revoke": {
        const { state } = await editor.revoke(record.logId);
        // It began or ended in between: then the Editor knows, and is asked again.
        if (state !== "revoked") return { record };
        return settle(record, unknownOutcome(recovery, await operations.now()), signal);
      }
      case "interrupt":
        return settle(record, unknownOutcome(recovery, await operations.now()), signal);
      case "attach": {
        const { executedAs } = recovery;
        if (executedAs === undefined) return { record };
        const changed = await operations.change(
          record.logId,
          ({ startedAt: _none, ...latest }) => ({ record: { ...latest, executedAs } }),
          fence,
        );
        return "record" in changed ? takeOutcome(record, executedAs, signal) : "handed_over";
      }
      case "resubmit": {
        if (recovery.instead !== undefined) await editor.revoke(recovery.instead);
        const changed = await resend(record, session, recovery.returned ?? false);
        if (!("record" in changed)) return "handed_over";
        if (isFinal(changed.record.state)) return "settled";
        return recovery.after === undefined
          ? { record: changed.record }
          : { record: changed.record, after: recovery.after };
      }
    }
  };

  /** The Editor is there, and says nothing about the operation that can be read. */
  const giveUp = async (logId: string, signal: AbortSignal): Promise<Processed | undefined> => {
    const record = await operations.look(logId);
    const why = "The Editor was asked again and again, and its answers cannot be read.";
    return record && settle(record, unknownOutcome({ why }, await operations.now()), signal);
  };

  /** One attempt; undefined: try again. Rejects when the store or the Editor is lost on the way. */
  const attempt = async (
    logId: string,
    signal: AbortSignal,
    jobId: string | undefined,
  ): Promise<Processed | undefined> => {
    const [known, args] = await Promise.all([operations.look(logId), operations.argumentsOf(logId)]);
    if (!known || (jobId !== undefined && jobIdOf(known) !== jobId)) return "refused";
    // A job in another Editor's queue, put there by hand: its own owner has the true one.
    if (known.editor !== deps.editorId) return "refused";
    // Final perhaps by a write of this owner whose answer was lost.
    if (isFinal(known.state) && known.sentIn && !known.executedAs) deps.acknowledge(known.logId);
    if (isFinal(known.state)) return "settled";
    if (known.executedAs !== undefined) return takeOutcome(known, known.executedAs, signal);
    await editor.ready(signal);
    const session = editor.session();
    if (session === undefined) return undefined;
    const claimed = await claim(logId, session);
    if (claimed.kind === "held") return "held";
    if (claimed.kind === "incarnation") {
      await deps.importAgain();
      return undefined;
    }
    if (!("record" in claimed)) return claimed.kind === "unknown" ? "refused" : "handed_over";
    if (isFinal(claimed.record.state)) return "settled";
    const isFresh = claimed.kind === "applied";
    if (editor.session() !== session) {
      // Between the store and the socket the Editor went away.
      if (isFresh) await unclaim(logId);
      return undefined;
    }
    try {
      return await converse(claimed.record, session, args, signal);
    } catch (error) {
      if (isFresh && (error instanceof NotTaken || !editor.wasSent(error))) await unclaim(logId);
      throw error;
    }
  };

  return {
    /**
     * Runs or resumes the operation until it is final or this owner ends (the signal). Outlives lost connections to
     * the Editor and to the store. `jobId`: where a job asked for it.
     */
    async process(logId: string, signal: AbortSignal, jobId?: string): Promise<Processed> {
      let refusals = 0;
      while (!signal.aborted) {
        try {
          const answersNothing = refusals > MAX_REFUSALS && (await giveUp(logId, signal));
          if (answersNothing) return answersNothing;
          const processed = await attempt(logId, signal, jobId);
          if (processed) return processed;
        } catch (error) {
          if (signal.aborted) break;
          if (isAnswer(editor.refusal(error))) refusals += 1;
          deps.warn({ logId, error: (error as Error).message }, "lost the Editor or the store; asking again");
          await deps.pause(signal);
        }
      }
      return "handed_over";
    },

    /** The Editor said that it runs, whoever follows it. */
    markStarted,
  };
}

/** A ledger that cannot be read now may be later. */
function isAnswer(refusal: Refusal | undefined): boolean {
  return refusal !== undefined && refusal.code !== EDITOR_CODES.LEDGER_UNAVAILABLE;
}

/** Never submitted (again): its ledger forgot it, or its arguments are gone. */
function isOnlyAskedFor(record: OperationRecord): boolean {
  return record.ledgerLost === true || record.rebuilt === true;
}
