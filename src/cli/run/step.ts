/** One step of a pipeline: submits, waits, reports; answers the exit code. */
import type { Answer } from "../../shared/operation/answer.js";
import { isFinal } from "../../shared/operation/operation.js";
import { printableJson } from "../../shared/printable.js";
import type { ProgressNote } from "../client/broker-client.js";
import { type Ending, endingOf, RUN_EXIT } from "../client/exit-codes.js";
import { sameCall } from "../client/follow.js";
import { tellRead } from "../client/read-by-name.js";
import { type Colours, renderAnswer } from "../client/render.js";
import { reportsSuccess } from "../client/success.js";
import { withWholeResult } from "../client/whole-result.js";
import { BrokerAway, type BrokerSession } from "./broker-session.js";
import type { ConsoleLog } from "./console-log.js";
import { spoken } from "./duration.js";
import type { Interrupts } from "./interrupts.js";
import type { RunProgress } from "./progress.js";
import type { TestReport } from "./test-report/test-report.js";

/** What `run` says when it ends without a result, and the commands that go on. */
export interface Hints {
  accepted(submitted: Submitted): string;
  waitEnded(logId: string, waitMs: number): string[];
  interrupted(logId: string | undefined): string[];
  away(logId: string | undefined, reason: string): string[];
  lost(logId: string): string[];
  unknown(logId: string): string[];
  notCancelled(logId: string): string[];
  unread(logId: string, reason: string): string[];
}

/** `self`: how this command line is called. */
function createHints(self: string): Hints {
  const ways = (logId: string): string[] => [
    `Go on waiting:  ${self} run --log-id ${logId}`,
    `Cancel it:      ${self} cancel ${logId}`,
  ];
  const sameCommand = "Start the same command again: it finds the operation and runs nothing twice.";
  return {
    accepted: acceptedLine,
    waitEnded: (logId, waitMs) => [
      `The wait of ${spoken(waitMs)} ended; the operation goes on as ${logId}.`,
      ...ways(logId),
    ],
    interrupted: (logId) =>
      logId === undefined
        ? [`Interrupted before the broker had answered. ${sameCommand}`]
        : [`Interrupted; the operation goes on as ${logId}.`, ...ways(logId)],
    away: (logId, reason) => [
      `The broker does not answer: ${reason}`,
      ...(logId === undefined ? [sameCommand] : ways(logId)),
    ],
    lost: (logId) => [
      `The broker does not know the operation ${logId} any more: its store was lost, or its retention ended.`,
      "It may have run. Check the project's state first.",
    ],
    unknown: (logId) => [
      "It is not run again. Check the project's state; if it should run again, start the same command with",
      `  --force-new ${logId}`,
    ],
    notCancelled: (logId) => [
      `The cancellation was asked for, and the operation has not ended yet: ${logId}.`,
      ...ways(logId).slice(0, 1),
    ],
    unread: (logId, reason) => [
      `The operation ended, and its result could not be read: ${reason}`,
      ...ways(logId).slice(0, 1),
    ],
  };
}

function acceptedLine({ answer, supersedes }: Submitted): string {
  const { log_id: logId, deduplicated, state } = answer;
  if (supersedes !== undefined)
    return deduplicated
      ? `The outcome of ${supersedes} was read before, and another command has started it again as ${logId}.`
      : `The outcome of ${supersedes} was read before: it runs again as ${logId}.`;
  if (!deduplicated) return `log_id ${logId}`;
  return state !== undefined && isFinal(state)
    ? `Not run again: this is the recorded outcome of ${logId}.`
    : `This call is under way as ${logId}: waiting for it.`;
}

/** Waits for an operation, over as many waits and connections as it takes. */
export interface WaitOptions {
  /** When the wait ends, by performance.now(). */
  until: number;
  /** Ends the wait; the operation goes on. */
  signal: AbortSignal;
  /** Every answer, the last one too. */
  onAnswer(answer: Answer): void;
  onProgress?: ((note: ProgressNote) => void) | undefined;
  /** Takes the Console's lines, before the answer is handed on. */
  log?: ConsoleLog | undefined;
}

export type Waited =
  | { kind: "answered"; answer: Answer }
  | { kind: "interrupted" }
  /** The broker does not say any more how it is. */
  | { kind: "away"; reason: string };

/** One wait, s: short at first, so that a person sees soon what happens. Every answer may have new partial results. */
const STEPS_S = [1, 2, 3, 5];

/** The longest wait while the Console talks, s. */
const TALKING_S = 1;

/** How much later than its end its answer may come, ms. */
const LATE_MS = 10_000;

export async function waitForEnd(
  session: BrokerSession,
  logId: string,
  options: WaitOptions,
): Promise<Waited> {
  const { until, signal, onAnswer, onProgress, log } = options;
  try {
    for (let round = 0; ; round += 1) {
      const left = Math.max(0, (until - performance.now()) / 1000);
      const longest = STEPS_S[Math.min(round, STEPS_S.length - 1)] ?? 1;
      const step = log?.isTalking() ? Math.min(longest, TALKING_S) : longest;
      const timeout = log?.hasMore() ? 0 : Math.min(left, step);
      const wait = { log_id: logId, wait: timeout > 0, timeout };
      const asking = {
        signal,
        until,
        onProgress,
        limitMs: timeout * 1000 + LATE_MS,
        ...(log ? { meta: log.question(), onMeta: log.take } : {}),
      };
      const answer = await session.call("get_operation_result", wait, asking);
      // A refusal says nothing about the operation.
      if (answer.status === "error" && answer.state === undefined)
        return { kind: "away", reason: answer.message };
      onAnswer(answer);
      // The end is answered at once, as often as it takes to read all lines before it.
      if (log?.hasMore() && answer.status !== "running") continue;
      if (answer.status !== "running" || left <= step) return { kind: "answered", answer };
    }
  } catch (error) {
    if (signal.aborted) return { kind: "interrupted" };
    if (error instanceof BrokerAway) return { kind: "away", reason: error.message };
    throw error;
  }
}

export interface Step {
  /** Submits this call, or waits for an operation that was accepted before. */
  what:
    | { tool: string; argumentsFor(superseded: string | undefined): Record<string, unknown> }
    | { logId: string };
  forceNew: string | undefined;
  once: boolean;
  waitMs: number;
  isJson: boolean;
}

export interface StepDeps {
  session: BrokerSession;
  progress: RunProgress;
  interrupts: Interrupts;
  colours: Colours;
  /** How this command line is called. */
  self: string;
  print(text: string): Promise<boolean>;
  tests: TestReport;
}

/** Where a step ended: with an answer of the broker, or with lines that say why there is none. */
interface Ended {
  answer?: Answer | undefined;
  /** Undefined: what the answer says. */
  ending?: Ending;
  lines?: string[];
}

/** Under way; `answer`: with which it was accepted, if this command submitted it. */
interface Begun {
  logId: string;
  answer?: Answer;
}

/** A call that waits for nothing is answered within this time, or its answer is lost, ms. It is sent again then. */
const ACCEPT_MS = 20_000;

/** How long a cancelled operation is waited for, ms: a pipeline that was cancelled is ended soon. */
const CANCEL_MS = 5_000;

export async function takeStep(step: Step, deps: StepDeps): Promise<number> {
  const until = performance.now() + step.waitMs;
  const begun: Ended | Begun = "tool" in step.what ? await submitted(step, deps, until) : step.what;
  const ended = "logId" in begun ? await followed(begun.logId, begun.answer, step, deps, until) : begun;
  deps.progress.close();
  return report(ended, step, deps);
}

/** An operation that is under way, or the end. */
async function submitted(
  { what, forceNew, once }: Step,
  { session, progress, interrupts, self }: StepDeps,
  until: number,
): Promise<Ended | Begun> {
  if (!("tool" in what)) return what;
  const hints = createHints(self);
  const { signal } = interrupts;
  try {
    const send = (superseded: string | undefined): Promise<Answer> =>
      session.call(what.tool, what.argumentsFor(superseded), { signal, until, limitMs: ACCEPT_MS });
    const found = await submitRun(send, { forceNew, once });
    const { answer } = found;
    const { log_id: logId, state } = answer;
    if (answer.error_code === "INTERNAL" && state === undefined)
      return { ending: "goesOn", lines: hints.away(logId, answer.message) };
    if (logId === undefined || state === undefined) return { answer };
    progress.say(hints.accepted(found));
    return isFinal(state) ? { answer } : { logId, answer };
  } catch (error) {
    if (signal.aborted) return { ending: "detached", lines: hints.interrupted(undefined) };
    if (error instanceof BrokerAway) return { ending: "goesOn", lines: hints.away(undefined, error.message) };
    throw error;
  }
}

async function followed(
  logId: string,
  accepted: Answer | undefined,
  { waitMs }: Step,
  { session, progress, interrupts, self }: StepDeps,
  until: number,
): Promise<Ended> {
  const hints = createHints(self);
  let latest = accepted;
  for (;;) {
    const { signal } = interrupts;
    const waited = await waitForEnd(session, logId, {
      until,
      signal,
      onProgress: progress.onProgress,
      log: progress.log,
      onAnswer(answer) {
        latest = answer;
        progress.answered(answer);
      },
    });
    progress.close();
    if (waited.kind === "away")
      return { answer: latest, ending: "goesOn", lines: hints.away(logId, waited.reason) };
    if (waited.kind === "answered") {
      const answer = accepted ? sameCall(accepted, waited.answer) : waited.answer;
      if (answer.status === "running")
        return { answer, ending: "goesOn", lines: hints.waitEnded(logId, waitMs) };
      return answer.status === "not_found" && accepted
        ? { answer, ending: "unknown", lines: hints.lost(logId) }
        : { answer };
    }
    const choice = await interrupts.choose();
    if (choice === "cancel") return cancelled(logId, latest, session, progress, hints.notCancelled(logId));
    if (choice === "leave") return { answer: latest, ending: "detached", lines: hints.interrupted(logId) };
  }
}

/** Asks for the cancellation, and waits a moment for what comes of it. */
async function cancelled(
  logId: string,
  latest: Answer | undefined,
  session: BrokerSession,
  progress: RunProgress,
  notYet: string[],
): Promise<Ended> {
  const signal = AbortSignal.timeout(2 * CANCEL_MS);
  const until = performance.now() + CANCEL_MS;
  const open = { answer: latest, ending: "detached", lines: notYet } as const;
  try {
    await session.call("cancel_operation", { log_id: logId }, { signal, until });
    const { log, answered: onAnswer } = progress;
    const waited = await waitForEnd(session, logId, { until, signal, log, onAnswer });
    if (waited.kind !== "answered") return open;
    return waited.answer.status === "running"
      ? { ...open, answer: waited.answer }
      : { answer: waited.answer };
  } catch {
    return open;
  }
}

async function report(ended: Ended, step: Step, deps: StepDeps): Promise<number> {
  const { answer } = ended;
  try {
    return answer === undefined || ended.ending === "goesOn" || ended.ending === "detached"
      ? await reportOpen(ended, step, deps)
      : await reportOutcome(answer, ended, step, deps);
  } catch (error) {
    const logId = answer?.log_id;
    if (logId === undefined) throw error;
    for (const line of createHints(deps.self).unread(logId, (error as Error).message))
      deps.progress.say(line);
    return RUN_EXIT.goesOn;
  }
}

async function reportOpen(
  { answer, ending, lines = [] }: Ended,
  step: Step,
  deps: StepDeps,
): Promise<number> {
  for (const line of lines) deps.progress.say(line);
  const said = answer ?? { status: "error", message: lines.join(" ") };
  if (step.isJson) await deps.print(printableJson(said, 0));
  return RUN_EXIT[ending ?? "failed"];
}

async function reportOutcome(answer: Answer, ended: Ended, step: Step, deps: StepDeps): Promise<number> {
  const { session, progress, tests, self } = deps;
  const client = await session.client();
  const said = ended.ending ?? endingOf(answer, await reportsSuccess(client, answer));
  const isWhole = step.isJson || tests.isOfTests(answer);
  const whole = isWhole ? await withWholeResult(client, answer) : answer;
  const hasEnded = answer.state !== undefined && isFinal(answer.state);
  const reported = hasEnded ? tests.report(whole) : undefined;
  const isUnknown = said === "unknown" && answer.state === "interrupted";
  const hints = isUnknown ? createHints(self).unknown(String(answer.log_id)) : (ended.lines ?? []);
  const lines = [...(reported?.lines ?? []), ...hints];
  if (step.isJson) for (const line of lines) progress.say(line);
  const text = step.isJson
    ? printableJson(whole, 0)
    : renderAnswer(reported?.brief ?? answer, deps.colours, self);
  const isPrinted = await deps.print(text);
  if (!step.isJson) for (const line of lines) progress.say(line);
  if (isPrinted && !reported?.isUnwritten) await tellRead(await session.client(), answer);
  const isMissing = reported?.isUnwritten || reported?.isMissing;
  return RUN_EXIT[said === "ok" && isMissing ? "unsuccessful" : said];
}

// What a `run` command means. Without a key the broker decides whether its call runs again. A key names one operation for good: its
// outcome answers until a command with this key has read it, so that a runner which died is started again, and gets it. After that
// the same command wants another run, which is named by what it supersedes (`force_new`): two commands that want it at once get one
// operation.

interface Submitted {
  answer: Answer;
  /** The operation whose outcome was read before, if this call runs again. */
  supersedes?: string | undefined;
}

/** `send` submits the call, which supersedes the given operation. */
export async function submitRun(
  send: (forceNew: string | undefined) => Promise<Answer>,
  { forceNew, once }: { forceNew: string | undefined; once: boolean },
): Promise<Submitted> {
  const first = await send(forceNew);
  if (forceNew !== undefined || once || !isDone(first)) return { answer: first };
  const supersedes = first.log_id;
  // Once, and no further: an outcome found now is that of another command's retry.
  return { answer: await send(supersedes), supersedes };
}

/** Its outcome is known, and was read. An unknown outcome stays unknown. */
function isDone({ deduplicated, delivery_confirmed, state }: Answer): boolean {
  if (!deduplicated || !delivery_confirmed) return false;
  return state === "completed" || state === "failed" || state === "cancelled";
}
