/** How a gateway answers: what it writes to the store before and after the answer, and what a caller reads of it. */
import { answerOf } from "../../../../src/shared/operation/answer.js";
import { isFinal, mayHaveBegun, type OperationRecord } from "../../../../src/shared/operation/operation.js";
import { spend } from "../bounds.js";
import { learnt, nameOf } from "../caller.js";
import type { Offer } from "../offer.js";
import { faultOfAnswer } from "../properties.js";
import { effectOf, type Facts } from "../state/facts.js";
import {
  type History,
  now,
  type Reply,
  type Request,
  replaced,
  type State,
  without,
} from "../state/state.js";
import type { Rules } from "../switches.js";
import { delivered, givenUp, isRead, takenBack, undelivered } from "./deliveries.js";
import { executionOf } from "./store.js";

export function answers(state: State, request: Request, facts: Facts, rules: Rules, offer: Offer): void {
  const { store, requests, left } = state;
  const logId = request.logId ?? "";
  const record = store.records[logId];
  const name = nameOf(request);
  const leaves = { requests: without(requests, request) };
  if (request.isDropped && rules.off !== "cancelledIsDelivered") {
    offer("part", `the gateway drops ${name}, which was given up`, leaves);
    return;
  }
  if (!record || !executionOf(store, logId)) {
    offer("part", `${name} learns that ${logId} is not known`, leaves);
    return;
  }
  if (!isFinal(record.state)) return;
  // Over stdio nobody sees that a client does not wait any more.
  if (!request.open && facts.way !== "stdio" && !request.isDropped) {
    offer("part", `the gateway sees that nobody waits for ${name}`, leaves);
    return;
  }
  const goesWrong = (fault: "deadAnswers" | "resets", says: string, answered: Request): void => {
    const spent = spend(left, fault);
    tells({ ...state, left: spent }, request, answered, record, facts, rules, (_kind, _says, changes) =>
      offer("fault", says, { left: spent, ...changes }),
    );
  };
  const unread: Request = { ...request, open: false };
  if (facts.way === "proxied" && left.deadAnswers > 0)
    goesWrong("deadAnswers", `the gateway answers ${name}, and the proxy loses it`, unread);
  const mayReset = facts.way === "direct" && effectOf(facts) === "mutating" && left.resets > 0;
  if (mayReset)
    goesWrong("resets", `the gateway answers ${name}, whose connection is reset`, {
      ...unread,
      isReset: true,
    });
  tells(state, request, request, record, facts, rules, offer);
}

/** What a repeatable tool's answer tells is noted before its first byte, a mutating one's after. */
function tells(
  state: State,
  request: Request,
  answered: Request,
  record: OperationRecord,
  facts: Facts,
  rules: Rules,
  offer: Offer,
): void {
  if (effectOf(facts) !== "repeatable" || rules.off === "deliveredAfterWriting") {
    writes(state, request, answered, record, facts, rules, offer, "noting");
    return;
  }
  const { history, hour } = state;
  const id = record.executedAs ?? record.logId;
  offer("part", `the gateway notes that it answers ${nameOf(request)} with ${record.logId}`, {
    history: { ...history, toldAt: { ...history.toldAt, [id]: history.toldAt[id] ?? hour } },
    store: delivered(state, request, facts, rules),
    requests: replaced(state.requests, request, { ...answered, at: "telling" }),
  });
}

/** The noted answer of a repeatable tool is written, unless it was given up meanwhile. */
export function writesNoted(state: State, request: Request, facts: Facts, rules: Rules, offer: Offer): void {
  const record = state.store.records[request.logId ?? ""];
  if (record && !request.isDropped) writes(state, request, request, record, facts, rules, offer, "gone");
  else
    offer("part", `the gateway does not answer ${nameOf(request)} any more`, {
      requests: without(state.requests, request),
    });
}

/**
 * A caller reads at once what it gets within 10 s over a direct connection (docs/proofs/model.md says what that leaves out);
 * anything else it may never read.
 */
function writes(
  state: State,
  request: Request,
  answered: Request,
  record: OperationRecord,
  facts: Facts,
  rules: Rules,
  offer: Offer,
  then: "noting" | "gone",
): void {
  const { caller, requests } = state;
  const { logId } = record;
  const id = record.executedAs ?? logId;
  const isDuplicate = isToldAsDuplicate(state, request, record, rules);
  const fault = faultOfAnswer(state, request, id, isDuplicate, facts);
  const execution = executionOf(state.store, logId) ?? record;
  const reply: Reply = {
    request: request.id,
    intent: request.intent,
    logId,
    isNothing: !mayHaveBegun(execution),
    isSlow: request.slow !== "no",
  };
  const isGotAtOnce = answered.open && facts.way !== "proxied" && request.slow === "no";
  const isOnItsWay = answered.open && !isGotAtOnce;
  const after: Request = { ...answered, at: "noting", open: false };
  const isCall = request.asks === "call";
  offer("part", `the gateway answers ${nameOf(request)}: ${logId} is ${record.state}`, {
    requests: then === "gone" ? without(requests, request) : replaced(requests, request, after),
    ...(isGotAtOnce ? { caller: { ...caller, intents: learnt(caller.intents, reply) } } : {}),
    ...(isOnItsWay ? { caller: { ...caller, replies: [...caller.replies, reply] } } : {}),
    history: { ...toldIn(state, request, id), ...(isCall && fault !== undefined ? { fault } : {}) },
  });
}

function toldIn({ history, hour, caller }: State, request: Request, id: string): History {
  const reported = { id, intent: request.intent, request: request.id, lastId: caller.lastId };
  const isKnown = history.reported.some((one) => one.id === id && one.request === request.id);
  return {
    ...history,
    toldAt: { ...history.toldAt, [id]: history.toldAt[id] ?? hour },
    reported: isKnown ? history.reported : [...history.reported, reported],
  };
}

/** Invariant 7, as src/gateway/views.ts shows a record that another one answers for. */
function isToldAsDuplicate(state: State, request: Request, record: OperationRecord, { off }: Rules): boolean {
  const { executedAs } = record;
  const execution = executionOf(state.store, record.logId) ?? record;
  const shown = executedAs === undefined ? record : { ...execution, logId: record.logId, executedAs };
  const { executedAs: _said, ...silent } = shown;
  const { relation } = request;
  const duplicate = relation === "joined" || relation === "replayed" ? relation : undefined;
  const view = { record: off === "silentAttachment" ? silent : shown, now: now(state) };
  return answerOf(view, { duplicate, brief: true }).deduplicated === true;
}

/** The delivery of a mutating tool's answer is recorded after it was written. */
export function notes(state: State, request: Request, facts: Facts, rules: Rules, offer: Offer): void {
  const { history, requests } = state;
  const isWritten = !request.isDropped || rules.off === "cancelledIsDelivered";
  const id = state.store.records[request.logId ?? ""]?.executedAs ?? request.logId ?? "";
  const reads = isWritten && !request.isReset && isRead(request, facts, { off: null });
  const isReset = request.isReset && rules.off !== "resetIgnored";
  offer("part", `the gateway notes that ${nameOf(request)} was answered`, {
    store: isWritten ? delivered(state, request, facts, rules) : state.store,
    requests: isReset ? replaced(requests, request, { ...request, at: "reset" }) : without(requests, request),
    ...(reads ? { history: { ...history, read: [...history.read, { id, caller: request.caller }] } } : {}),
  });
}

/** The connection was reset before the caller can have read it. */
export function takesBack(state: State, request: Request, rules: Rules, offer: Offer): void {
  offer("part", `the gateway notes that ${nameOf(request)} cannot have been read`, {
    store: undelivered(state.store, request, rules),
    requests: without(state.requests, request),
  });
}

/** `notifications/cancelled`: what is not answered yet is dropped. */
export function cancels(state: State, request: Request, facts: Facts, rules: Rules, offer: Offer): void {
  const { history, store } = state;
  const { id = 0, isTimeout = false } = request.cancels ?? {};
  const requests = without(state.requests, request);
  const found = requests.find(
    (one) => one.id === id && one.caller === request.caller && one.at !== "network" && one.asks !== "cancel",
  );
  const isOpen = found !== undefined && found.at !== "noting" && found.at !== "reset";
  const kept = requests.map((one) =>
    one === found && isOpen ? { ...one, isDropped: true, open: false } : one,
  );
  const escaped =
    isOpen && !isTimeout && found.logId !== undefined ? [{ id: found.logId, caller: found.caller }] : [];
  // The answer and the cancellation have crossed: within a second, its client's time being over is such evidence as a reset.
  const hasCrossed = !isOpen && isTimeout && rules.off !== "crossingIgnored";
  const logId = history.reported.find((one) => one.request === id)?.id;
  const crossed = { ...request, ...(logId === undefined ? {} : { logId }) };
  const isTakenBack = !isOpen && rules.off === "lateCancelTakesBack";
  offer("part", `${nameOf(request)} arrives: #${id} is given up`, {
    store: isOpen
      ? givenUp(store, found, isTimeout, rules)
      : isTakenBack
        ? takenBack(store, request, rules)
        : hasCrossed && effectOf(facts) === "mutating"
          ? undelivered(store, crossed, rules)
          : store,
    requests: kept,
    history: {
      ...history,
      escaped: [...history.escaped, ...escaped],
      read: hasCrossed ? history.read.filter(({ caller }) => caller !== request.caller) : history.read,
    },
  });
}
