/** How a gateway answers: what it writes to the store before and after the answer, and what a caller reads of it. */
import { answerOf } from "../../../../src/shared/operation/answer.js";
import { isFinal, mayHaveBegun, type OperationRecord } from "../../../../src/shared/operation/operation.js";
import { spend } from "../bounds.js";
import { nameOf } from "../caller.js";
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
import { delivered, retracted } from "./deliveries.js";
import { executionOf } from "./store.js";

export function answers(state: State, request: Request, facts: Facts, rules: Rules, offer: Offer): void {
  const { store, requests } = state;
  const logId = request.logId ?? "";
  const record = store.records[logId];
  const name = nameOf(request);
  const leaves = { requests: without(requests, request) };
  if (request.isDropped) {
    offer("part", `the gateway drops ${name}, which was given up`, leaves);
    return;
  }
  if (!record || !executionOf(store, logId)) {
    offer("part", `${name} learns that ${logId} is not known`, leaves);
    return;
  }
  if (!isFinal(record.state)) return;
  // Over stdio nobody sees that a client does not wait any more.
  if (!request.open && facts.transport === "http") {
    offer("part", `the gateway sees that nobody waits for ${name}`, leaves);
    if (state.left.deadAnswers === 0) return;
    const left = spend(state.left, "deadAnswers");
    const says = `the gateway answers ${name} into a connection that nobody reads`;
    tells({ ...state, left }, request, record, facts, rules, (_kind, _says, changes) =>
      offer("fault", says, { left, ...changes }),
    );
    return;
  }
  tells(state, request, record, facts, rules, offer);
}

/** ▲6 What a repeatable tool's answer tells is noted before its first byte, a mutating one's after. */
function tells(
  state: State,
  request: Request,
  record: OperationRecord,
  facts: Facts,
  rules: Rules,
  offer: Offer,
): void {
  if (effectOf(facts) !== "repeatable" || rules.off === "deliveredAfterWriting") {
    writes(state, request, record, facts, rules, offer, "noting");
    return;
  }
  const { history, hour } = state;
  const id = record.executedAs ?? record.logId;
  offer("part", `the gateway notes that it answers ${nameOf(request)} with ${record.logId}`, {
    history: { ...history, toldAt: { ...history.toldAt, [id]: history.toldAt[id] ?? hour } },
    store: delivered(state, request, facts, rules),
    requests: replaced(state.requests, request, { ...request, at: "telling" }),
  });
}

/** The noted answer of a repeatable tool is written, unless it was given up meanwhile. */
export function writesNoted(state: State, request: Request, facts: Facts, rules: Rules, offer: Offer): void {
  const record = state.store.records[request.logId ?? ""];
  if (record && !request.isDropped) writes(state, request, record, facts, rules, offer, "gone");
  else
    offer("part", `the gateway does not answer ${nameOf(request)} any more`, {
      requests: without(state.requests, request),
    });
}

function writes(
  state: State,
  request: Request,
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
  const after: Request = { ...request, at: "noting", open: false };
  const isCall = request.asks === "call";
  offer("part", `the gateway answers ${nameOf(request)}: ${logId} is ${record.state}`, {
    requests: then === "gone" ? without(requests, request) : replaced(requests, request, after),
    ...(request.open ? { caller: { ...caller, replies: [...caller.replies, reply] } } : {}),
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
  offer("part", `the gateway notes that ${nameOf(request)} was answered`, {
    store: delivered(state, request, facts, rules),
    requests: without(state.requests, request),
  });
}

/** `notifications/cancelled`: what is not answered yet is dropped, what was is taken back. */
export function cancels(state: State, request: Request, offer: Offer): void {
  const { history } = state;
  const given = (one: Request): boolean => one.id === request.cancels && one.caller === request.caller;
  const requests = without(state.requests, request);
  const found = requests.find((one) => given(one) && one.at !== "network");
  // What was written is noted before the next message is handled.
  if (found?.at === "noting") return;
  const kept = requests.map((one) => (one === found ? { ...one, isDropped: true, open: false } : one));
  offer("part", `${nameOf(request)} arrives: #${request.cancels} is given up`, {
    store: retracted(state.store, request),
    requests: kept,
    history: { ...history, reported: history.reported.filter((one) => one.request !== request.cancels) },
  });
}
