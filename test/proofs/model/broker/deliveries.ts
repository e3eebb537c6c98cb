/** What src/gateway/exchange.ts writes, with the real changes of a record (src/shared/operation/operation.ts). */
import * as askings from "../../../../src/shared/operation/operation.js";
import { type Caller, isFinal, type OperationRecord } from "../../../../src/shared/operation/operation.js";
import type { Facts } from "../state/facts.js";
import { now, type Request, type State, type StoreState } from "../state/state.js";
import type { Rules } from "../switches.js";
import { changed } from "./store.js";

/** Without the rules: all requests without a session are one caller; each asking is owed by itself. */
export function callerOf({ caller, id }: Pick<Request, "caller" | "id">, { off }: Rules): Caller {
  const isSingle = caller.startsWith("request");
  const name =
    off === "oneStateless" && isSingle ? "request" : off === "eachAskingIsOwed" ? `${caller} #${id}` : caller;
  return { id: name, transport: "http" };
}

/** Writes into what answers for the operation. */
function noted(
  store: StoreState,
  logId: string,
  change: (record: OperationRecord) => OperationRecord | undefined,
): StoreState {
  const id = store.records[logId]?.executedAs ?? logId;
  return changed(store, id, (record) => {
    const after = isFinal(record.state) ? change(record) : undefined;
    return after && { record: after };
  }).store;
}

/** Is what is delivered to this request now also read? As the gateway judges it (src/gateway/exchange.ts). */
export function isRead({ slow }: Pick<Request, "slow">, { way }: Facts, { off }: Rules): boolean {
  if (off === "deliveredIsRead") return true;
  const isQuick =
    slow === "no" || off === "slowIsRead" || (slow === "unread" && off === "measuredFromReading");
  return isQuick && (way !== "proxied" || off === "proxiedIsRead");
}

/** An answer with the outcome is written to this request, or about to be. */
export function delivered(state: State, request: Request, facts: Facts, rules: Rules): StoreState {
  const isOwnProof = rules.off === "ownAnswerConfirms" && request.asks === "name";
  const how = { now: now(state), isRead: isRead(request, facts, rules) || isOwnProof };
  return noted(state.store, request.logId ?? "", (record) =>
    askings.delivered(record, callerOf(request, rules), how),
  );
}

/** The connection of this request was reset as it was answered. */
export function undelivered(store: StoreState, request: Request, rules: Rules): StoreState {
  return noted(store, request.logId ?? "", (record) => askings.undelivered(record, callerOf(request, rules)));
}

/** A message of the caller names this log_id. */
export function named(store: StoreState, request: Request, rules: Rules): StoreState {
  if (request.names === null || rules.off === "namingProvesNothing") return store;
  return noted(store, request.names, (record) => askings.named(record, callerOf(request, rules)));
}

/** The caller waits for the outcome of what mutates; what is repeatable is owed to nobody. */
export function asked(store: StoreState, logId: string, request: Request, rules: Rules): StoreState {
  if (rules.off === "joinersAreNotOwed") return store;
  return changed(store, logId, (record) => {
    const after = record.effect === "mutating" ? askings.asked(record, callerOf(request, rules)) : undefined;
    return after && { record: after };
  }).store;
}

/** The caller cancelled its request for this operation. */
export function givenUp(store: StoreState, request: Request, isTimeout: boolean, rules: Rules): StoreState {
  if (isTimeout && rules.off !== "timeoutsAreMeant") return store;
  return changed(store, request.logId ?? "", (record) => {
    const after = askings.givenUp(record, callerOf(request, rules));
    return after && { record: after };
  }).store;
}

/** Without the rule: a cancellation takes the delivery back. */
export function takenBack(store: StoreState, request: Request, rules: Rules): StoreState {
  return Object.keys(store.records).reduce(
    (at, logId) => noted(at, logId, (record) => askings.undelivered(record, callerOf(request, rules))),
    store,
  );
}
