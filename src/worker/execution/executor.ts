/**
 * The life of one operation in its owner: read → claim → send or ask → decide → follow → settle, over declared
 * dependencies.
 *
 * It may be entered any number of times for the same operation, by a job, after a reconnect, or after a crash of the
 * previous owner: it reads what is known and continues from there. It never runs an operation under another id.
 */
import {
  isFinal,
  isSent,
  isWaiting,
  jobIdOf,
  type OperationRecord,
} from "../../shared/operation/operation.js";
import type { Refusal } from "../../shared/operation/recover.js";
import { argumentsIn } from "../../shared/store/operations/operation-store.js";
import { logIdOf } from "../../shared/store/queue.js";
import type { Lane as LaneName } from "../../shared/tools/tool.js";
import { EDITOR_CODES } from "../../shared/wire/wire.js";
import { createClaims } from "./claims.js";
import { type ConversationOptions, createConversation, NotTaken, type Subject } from "./conversation.js";
import type { AttemptResult, ExecutorDeps, ExecutorResult } from "./executor-deps.js";
import { createSettlement, inExecutionSpan, unknownOutcome } from "./outcome.js";

export type ExecutorOptions = ConversationOptions;

/** The job that asks for an operation, and the lane that it is in. */
export interface JobOf {
  id: string;
  lane: LaneName;
}

type ClaimStep =
  /** `isFresh`: claimed by this attempt, so that it may be taken back; else by an earlier one, whose bytes may have left. */
  | { kind: "claimed"; record: OperationRecord; isFresh: boolean }
  | { kind: "not_claimed"; result: AttemptResult };

/** After this many unusable answers in all the owner stops asking, and the outcome is unknown. */
const MAX_REFUSALS = 5;

export function createExecutor(deps: ExecutorDeps, options: ExecutorOptions) {
  const { operations, editor } = deps;
  const claims = createClaims(operations, deps);
  const settlement = createSettlement(deps);
  const converse = createConversation(deps, claims, settlement, options);

  /** One attempt, step by step. Rejects if the store or the Editor is lost on the way. */
  const attempt = async (
    logId: string,
    signal: AbortSignal,
    jobId: string | undefined,
  ): Promise<AttemptResult> => {
    // Read. No record, no dispatch (▲1), and only the job that the record names.
    const [known, args] = await Promise.all([operations.find(logId), operations.argumentsOf(logId)]);
    if (!known || (jobId !== undefined && jobIdOf(known) !== jobId)) return "refused";
    // A job that was put into another Editor's queue manually: the right owner has the real one.
    if (known.editor !== deps.editorId) return "refused";
    // Durable acknowledgement (▲14): this owner may have made it final, by a write whose answer was lost.
    if (isFinal(known.state) && known.sentIn && !known.executedAs) deps.acknowledge(known.logId);
    if (isFinal(known.state)) return "settled";
    // Chain check (▲10 b): another operation has run this call.
    if (known.executedAs !== undefined) return settlement.copyOutcomeOf(known, known.executedAs, signal);
    // Claim, in the session that will be asked. Resubmission (▲12): the session is stored before the first byte leaves.
    const wasReady = editor.session() !== undefined;
    await editor.ready(signal);
    // Its job was taken while the Editor was away, and a person has paused it since.
    if (!wasReady && jobId !== undefined && isWaiting(known.state) && (await deps.isPaused(known.lane)))
      return "handed_over";
    const session = editor.session();
    if (session === undefined) return "try_again";
    const claim = await claimIn(session, logId);
    if (claim.kind === "not_claimed") return claim.result;
    // Store incarnation (▲13): nothing was written, which would have told. Another Editor of its pool may have run it since.
    if (known.pool !== undefined && !claim.isFresh && (await isOutdated())) {
      await deps.importAgain();
      return "try_again";
    }
    // Send or ask, decide, follow, settle (conversation.ts).
    return carry({ record: claim.record, session, args, signal }, claim.isFresh);
  };

  const isOutdated = async (): Promise<boolean> => (await operations.incarnation()) !== deps.importedIn();

  const claimIn = async (session: string, logId: string): Promise<ClaimStep> => {
    const claimed = await claims.claim(logId, session);
    switch (claimed.kind) {
      case "applied":
      case "unchanged":
        if (isFinal(claimed.record.state)) return notClaimed("settled");
        // Its pool had it back, and another Editor has it now.
        if (claimed.record.editor !== deps.editorId) return notClaimed("refused");
        // No record, no dispatch (▲1): in a state that waits and cannot be claimed.
        if (!isSent(claimed.record.state)) return notClaimed("refused");
        return { kind: "claimed", record: claimed.record, isFresh: claimed.kind === "applied" };
      case "unknown":
        return notClaimed("refused");
      case "held":
        return notClaimed("held");
      case "incarnation":
        // Store incarnation (▲13): import what the Editor knows before anything more is claimed.
        await deps.importAgain();
        return notClaimed("try_again");
      // Fence (▲11): another owner holds the lease.
      case "not_owner":
      case "full":
        return notClaimed("handed_over");
    }
  };

  /** Takes a fresh claim back if certainly no byte of it left. */
  const carry = async (subject: Subject, isFresh: boolean): Promise<AttemptResult> => {
    const { logId } = subject.record;
    if (editor.session() !== subject.session) {
      // The Editor went away between the write to the store and the write to the socket.
      if (isFresh) await claims.unclaim(logId);
      return "try_again";
    }
    try {
      return await inExecutionSpan(subject, isFresh, converse);
    } catch (error) {
      if (isFresh && error instanceof NotTaken) await claims.unclaim(logId);
      throw error;
    }
  };

  /**
   * The usual case in one step: an operation that waits plainly is claimed for the job that was taken (▲1), while the Editor can
   * be asked. Undefined: read what is known.
   */
  const claimPlainly = async (
    logId: string,
    job: JobOf,
    signal: AbortSignal,
  ): Promise<AttemptResult | undefined> => {
    const session = editor.session();
    // A job that was added manually may name another operation than its id.
    if (session === undefined || logIdOf(job.id) !== logId) return undefined;
    const claimant = { editor: deps.editorId, lane: job.lane, fence: deps.fence, session };
    const claimed = await operations.claim(job.id, { ...claimant, incarnation: deps.importedIn() });
    if (!claimed) return undefined;
    return carry({ record: claimed.record, args: argumentsIn(claimed.args), signal, session }, true);
  };

  /** The Editor answers, but nothing readable about the operation: unknown stays unknown (▲9). */
  const giveUp = async (logId: string, signal: AbortSignal): Promise<ExecutorResult | undefined> => {
    const record = await operations.find(logId);
    const why = "The Editor was asked again and again, and its answers cannot be read.";
    return record && settlement.settle(record, unknownOutcome({ why }, await operations.now()), signal);
  };

  return {
    /**
     * Runs or resumes the operation until it is final or this owner ends (the signal). Survives lost connections to
     * the Editor and to the store. `job`: the one that asked for it, if any.
     */
    async process(logId: string, signal: AbortSignal, job?: JobOf): Promise<ExecutorResult> {
      let refusals = 0;
      let isFirst = true;
      while (!signal.aborted) {
        try {
          const givenUp = refusals >= MAX_REFUSALS && (await giveUp(logId, signal));
          if (givenUp) return givenUp;
          const done = isFirst && job ? await claimPlainly(logId, job, signal) : undefined;
          isFirst = false;
          const result = done ?? (await attempt(logId, signal, job?.id));
          if (result !== "try_again") return result;
        } catch (error) {
          isFirst = false;
          if (signal.aborted) break;
          if (isPermanent(editor.refusal(error))) refusals += 1;
          deps.log.warn(
            { log_id: logId, error: (error as Error).message },
            "lost the Editor or the store; asking again",
          );
          await deps.pause(signal);
        }
      }
      return "handed_over";
    },
  };
}

function notClaimed(result: AttemptResult): ClaimStep {
  return { kind: "not_claimed", result };
}

/** A ledger that cannot be read now may be later. */
function isPermanent(refusal: Refusal | undefined): boolean {
  return refusal !== undefined && refusal.code !== EDITOR_CODES.LEDGER_UNAVAILABLE;
}
