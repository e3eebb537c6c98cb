/** What callers want, how often they sent it, and everything that they were answered. */
import type { Asked, CallAnswer, TestClient } from "../../harness/processes/process-clients.js";
import { createListener, type Listener } from "./listener.js";
import { isFinal, isOutcome } from "./outcomes.js";

/**
 * What somebody really wanted: a first call, a deliberate run after a confirmed answer, or a force_new. However often it
 * was sent, by whomever, it may begin once, and everybody who asks is answered the same.
 */
export interface Intent {
  readonly number: number;
  readonly tool: string;
  readonly args: Record<string, unknown>;
  /** Names the call as executions do; a deliberate second run has the same. */
  readonly label: string;
  /** It may run once for each call that was sent for it. */
  readonly isRepeatable: boolean;
  sent: number;
  /** ms since the epoch, this process's clock. */
  readonly askedAt: number;
  /** Every outcome that was an answer, in order. */
  readonly outcomes: { at: number; reported: CallAnswer }[];
  readonly refusals: CallAnswer[];
  /** Every log_id that anybody was given for it. */
  readonly logIds: Set<string>;
}

export interface Counts {
  /** Requests on behalf of intents, with those that nobody answered. */
  calls: number;
  unanswered: number;
  /** Answers that said `deduplicated`, without an outcome yet. */
  joined: number;
  /** With one. */
  replayed: number;
}

export interface Account<I extends Intent> {
  readonly intents: readonly I[];
  readonly counts: Counts;
  /** Clients are opened through it: it hears every answer. */
  readonly listener: Listener;
  /** Notes an intent; `more`: what the proof itself keeps of it. */
  intend(call: Pick<Intent, "tool" | "args" | "isRepeatable">, more: Omit<I, keyof Intent>): I;
  /** Asks for its outcome: by its own call or in another way. */
  ask(
    intent: I,
    client: Pick<TestClient, "ask">,
    tool: string,
    args: Record<string, unknown>,
    options?: { id?: number },
  ): Asked;
  /** Notes an answer that came by another way. */
  hear(intent: I, reported: CallAnswer): CallAnswer;
}

/** `labelOf`: a call as executions name it. */
export function createAccount<I extends Intent>(
  labelOf: (tool: string, args: Record<string, unknown>) => string,
): Account<I> {
  const intents: I[] = [];
  const counts: Counts = { calls: 0, unanswered: 0, joined: 0, replayed: 0 };

  const hear: Account<I>["hear"] = (intent, reported) => {
    if (reported.log_id !== undefined && reported.status !== "not_found") intent.logIds.add(reported.log_id);
    if (reported.deduplicated) counts[isOutcome(reported) ? "replayed" : "joined"] += 1;
    if (isOutcome(reported)) intent.outcomes.push({ at: Date.now(), reported });
    else if (isFinal(reported)) intent.refusals.push(reported);
    return reported;
  };
  return {
    ...{ intents, counts, hear },
    listener: createListener(labelOf),
    intend(call, more) {
      const named = { number: intents.length + 1, ...call, label: labelOf(call.tool, call.args) };
      const open = { sent: 0, askedAt: Date.now(), outcomes: [], refusals: [], logIds: new Set<string>() };
      const intent = Object.assign(more, named, open) as unknown as I;
      intents.push(intent);
      return intent;
    },
    ask(intent, client, tool, args, options) {
      counts.calls += 1;
      if (tool === intent.tool) intent.sent += 1;
      const asked = client.ask(tool, args, options);
      const answer = asked.answer.then((reported) => hear(intent, reported));
      answer.catch(() => undefined);
      return { ...asked, answer };
    },
  };
}
