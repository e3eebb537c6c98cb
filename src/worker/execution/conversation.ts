/**
 * The exchange between an owner and its Editor about one claimed operation, over one connection: the owner sends it or
 * asks for it, `recover` decides on the answer, and the owner carries that out, until the operation has ended.
 */
import type { ReplayOptions } from "../../shared/operation/again.js";
import {
  askedThrough,
  isFinal,
  isFromBeforeLoss,
  type OperationRecord,
} from "../../shared/operation/operation.js";
import {
  type EditorReply,
  type OtherOperation,
  type Recovery,
  recover,
  type SameAs,
} from "../../shared/operation/recover.js";
import type { EditorFence } from "../../shared/store/editors/lease.js";
import type { Arguments } from "../../shared/store/operations/operation-store.js";
import { inSpan, type TraceContext } from "../../shared/traces.js";
import { recoveryMetadataOf } from "../../shared/wire/recovery-metadata.js";
import type { EditorLink } from "../editor/editor-link.js";
import { isLeaving, refusalOf } from "../editor/refusal.js";
import type { HeartbeatRecorder } from "../owner/heartbeat.js";
import { ConnectionLost } from "../transport/disconnect.js";
import type { Claims } from "./claims.js";
import type { AttemptResult, EditorPort, ExecutorDeps } from "./executor-deps.js";
import { storedResultOf } from "./large-result.js";
import { type OutcomeListeners, refusedOutcome, type Settlement, unknownOutcome } from "./outcome.js";

export interface ConversationOptions {
  /** The gateway's replay limits, for decisions on an operation that the Editor names instead. */
  replay?: ReplayOptions;
}

/** The claimed operation, and what is needed to send it. */
export interface Subject {
  record: OperationRecord;
  /** The Editor session in which the operation was claimed. */
  session: string;
  args: Arguments;
  signal: AbortSignal;
  /** The span of this attempt. */
  trace?: TraceContext | undefined;
}

/** Its first submit did not reach the Editor, or was refused before the ledger saw it: another session may run it. */
export class NotTaken extends Error {}

/** The next step after an answer. */
type Step =
  /** It waits or runs in the Editor. */
  | { kind: "follow" }
  /** Ask the Editor again. */
  | { kind: "ask_again"; record: OperationRecord; after: string | null }
  | { kind: "end"; result: AttemptResult };

/** After this many answers that require another question, the Editor and the store contradict each other. */
const MAX_QUESTIONS = 12;

/** Rejects if the connection is lost on the way. */
export function createConversation(
  deps: ExecutorDeps,
  { resend, returnUnbegun }: Pick<Claims, "resend" | "returnUnbegun">,
  { settle, copyOutcomeOf, markStarted }: Settlement,
  options: ConversationOptions,
): (subject: Subject) => Promise<AttemptResult> {
  const { operations, editor, fence } = deps;

  const converse = async ({ record: first, ...about }: Subject): Promise<AttemptResult> => {
    const { session, signal, trace } = about;
    let record = first;
    let after = record.after;
    for (let questions = 0; questions < MAX_QUESTIONS; questions += 1) {
      // Listen before asking: the end may arrive right after the answer.
      const following = editor.follow(record.logId);
      try {
        const found = await sendOrAsk({ ...about, record }, after, questions === 0);
        if (await isCircular(found, record.logId)) break;
        const recovery = sendable(await recoveryFor(record, found, session), about.args);
        const step = await applyRecovery({ ...about, record }, recovery, after);
        if (step.kind === "end") return step.result;
        if (step.kind === "follow") {
          const outcome = await followToEnd(record, found, following);
          return await settle(record, outcome, signal, { trace });
        }
        record = step.record;
        after = step.after;
      } finally {
        following.stop();
      }
    }
    const why = "The Editor's ledger and the broker's records contradict each other.";
    return settle(record, unknownOutcome({ why }, await operations.now()), signal, { trace });
  };

  /**
   * Resubmission (▲12): sends only in the session that the record names, which was stored before, and what the caller wrote;
   * otherwise asks.
   */
  const sendOrAsk = async (
    { record, session, args, trace }: Subject,
    after: string | null,
    isFirst: boolean,
  ): Promise<EditorReply> => {
    const isSession = record.sentIn === session && !mustNotBeSent(record, deps.importedIn());
    return isSession && args !== undefined
      ? send({ record, args, trace }, after, isFirst)
      : { asked: "get", answer: await editor.get(record.logId) };
  };

  const send = async (
    { record, args, trace }: Pick<Subject, "record" | "trace"> & { args: NonNullable<Arguments> },
    after: string | null,
    isFirst: boolean,
  ): Promise<EditorReply> => {
    const { tool, fingerprint, hash, acceptedAt } = record;
    const submitted = { operationId: record.logId, hash, after, acceptedAt };
    try {
      const answer = await inSpan("send", { parent: trace, kind: "client" }, ({ context }) =>
        editor.submit({
          ...submitted,
          origin: deps.seal.sign(recoveryMetadataOf(record, deps.storeId), submitted),
          tool,
          arguments: args,
          argumentsHash: fingerprint,
          ...context,
        }),
      );
      return { asked: "submit", answer };
    } catch (error) {
      const refusal = editor.refusal(error);
      if (refusal) return { asked: "submit", refusal };
      if (editor.isLeaving(error)) throw new NotTaken("the Editor is quitting");
      // Only of this request: what fails to leave after it, such as one for a part of the result, says nothing of this one.
      throw isFirst && !editor.wasSent(error) ? new NotTaken((error as Error).message) : error;
    }
  };

  /** The Editor names the operation itself, or one that waits for it: waiting for it would never end. */
  const isCircular = async (found: EditorReply, logId: string): Promise<boolean> => {
    let at = sameAsIn(found)?.operationId;
    if (at === undefined) return false;
    for (let steps = 0; at !== undefined && at !== logId && steps < MAX_QUESTIONS; steps += 1) {
      at = (await operations.find(at))?.executedAs;
    }
    return at !== undefined;
  };

  const recoveryFor = async (
    record: OperationRecord,
    found: EditorReply,
    session: string,
  ): Promise<Recovery> => {
    const sameAs = sameAsIn(found);
    // Chain check (▲10 b): the operation that the Editor names is restored first if the store had lost it.
    const other: OtherOperation | undefined = sameAs && (await deps.otherOperation(record, sameAs, session));
    // Whatever is decided: a restored one has no job, and is asked for until it has ended.
    if (other?.record?.rebuilt && !isFinal(other.record.state)) void deps.processShared(other.record.logId);
    const incarnation = deps.importedIn();
    return recover(record, found, { session, incarnation, other, options: options.replay });
  };

  /** Carries out what `recover` decided, except following. */
  const applyRecovery = async (
    { record, session, signal, trace }: Omit<Subject, "args">,
    recovery: Recovery,
    after: string | null,
  ): Promise<Step> => {
    switch (recovery.kind) {
      case "settle":
        return endBy(settle(record, recovery.outcome, signal, { isCollected: true, trace }));
      case "fail":
        return endBy(settle(record, refusedOutcome(recovery, await operations.now()), signal, { trace }));
      case "revoke": {
        // Resubmission (▲12): an operation unknown to the ledger is revoked before it is marked interrupted.
        const { state } = await editor.revoke(record.logId);
        // It began or ended in between: the Editor knows, so ask again.
        if (state !== "revoked") return { kind: "ask_again", record, after };
        return endBy(settle(record, unknownOutcome(recovery, await operations.now()), signal, { trace }));
      }
      case "interrupt":
        return endBy(settle(record, unknownOutcome(recovery, await operations.now()), signal, { trace }));
      case "attach": {
        const { executedAs } = recovery;
        return executedAs === undefined ? { kind: "follow" } : endBy(joinOther(record, executedAs, signal));
      }
      case "resubmit": {
        // Sent before a person paused the Editor, and not begun when its session ended.
        if (recovery.returned && !record.cancel && (await deps.isPaused(record.lane))) {
          await returnUnbegun(record.logId);
          return { kind: "end", result: "handed_over" };
        }
        if (recovery.instead !== undefined) await editor.revoke(recovery.instead);
        const changed = await resend(record, session, recovery.returned ?? false);
        if (!("record" in changed)) return { kind: "end", result: "handed_over" };
        if (isFinal(changed.record.state)) return { kind: "end", result: "settled" };
        return { kind: "ask_again", record: changed.record, after: recovery.after ?? after };
      }
    }
  };

  /** Chain check (▲10 b): another operation has run this call; the record names it from now on. */
  const joinOther = async (
    record: OperationRecord,
    executedAs: string,
    signal: AbortSignal,
  ): Promise<AttemptResult> => {
    const changed = await operations.change(
      record.logId,
      ({ startedAt: _none, ...latest }) => ({ record: { ...latest, executedAs } }),
      fence,
    );
    if (!("record" in changed)) return "handed_over";
    if (record.effect === "mutating")
      await operations.change(executedAs, (other) => {
        const owed = askedThrough(other, changed.record);
        return owed && { record: owed };
      });
    return copyOutcomeOf(record, executedAs, signal);
  };

  const followToEnd = async (
    record: OperationRecord,
    found: EditorReply,
    { outcome }: Pick<ReturnType<EditorPort["follow"]>, "outcome">,
  ) => {
    if ("answer" in found && found.answer.state === "running") await markStarted(record);
    const [ended] = await Promise.all([outcome, passOnEarlyCancel(record)]);
    return ended;
  };

  /** A cancellation was requested before this owner followed it, or was announced before the Editor knew the operation. */
  const passOnEarlyCancel = async ({ logId, cancel }: OperationRecord): Promise<void> => {
    if (!cancel && !deps.wasCancelAnnounced(logId)) return;
    const latest = await operations.find(logId);
    if (latest?.cancel && !latest.cancel.answer) deps.passOnCancel(latest);
  };

  return converse;
}

async function endBy(result: Promise<AttemptResult>): Promise<Step> {
  return { kind: "end", result: await result };
}

/** Nothing but what the caller wrote is sent: without it, the Editor is told never to run the operation. */
function sendable(recovery: Recovery, args: Arguments): Recovery {
  if (recovery.kind !== "resubmit" || args !== undefined) return recovery;
  return { kind: "revoke", why: "The broker's store has lost its arguments." };
}

function sameAsIn(found: EditorReply): SameAs | undefined {
  return "answer" in found && found.answer.state === "same_as" ? (found.answer as SameAs) : undefined;
}

/**
 * Must not be sent (again) without being asked for: its arguments are gone; or its ledger forgot it, or another Editor of its pool may
 * have had it (a read may be sent: it has no effect to double).
 */
export function mustNotBeSent(record: OperationRecord, importedIn: string): boolean {
  const { effect, ledgerLost, rebuilt } = record;
  if (rebuilt === true) return true;
  return effect !== "read_only" && (ledgerLost === true || isFromBeforeLoss(record, importedIn));
}

/** The Editor as the executor sees it (executor-deps.ts), over the present link. */
export function createEditorPort(
  {
    link,
    outcomeListeners,
    heartbeat,
    fence,
  }: {
    link: EditorLink;
    outcomeListeners: Pick<OutcomeListeners, "follow">;
    heartbeat: Pick<HeartbeatRecorder, "mark">;
    fence(): EditorFence;
  },
  { maxResultBytes }: { maxResultBytes: number },
): EditorPort {
  return {
    ready: (signal) => link.whenReady(signal),
    session: () => (link.state === "ready" ? link.hello?.editorSessionId : undefined),
    submit: (params) => link.submit({ ...params, ...fence(), ledgerId: link.hello?.ledgerId ?? "" }),
    get: (operationId) => link.get(operationId),
    revoke: (operationId) => link.revoke(operationId),
    result: (operationId, outcome) => storedResultOf(link, operationId, outcome, maxResultBytes),
    refusal: refusalOf,
    wasSent: (error) => !(error instanceof ConnectionLost) || error.sent,
    isLeaving,
    follow: outcomeListeners.follow,
    mark: heartbeat.mark,
  };
}
