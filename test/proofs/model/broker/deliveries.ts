/** What src/gateway/deliveries.ts writes: who received an outcome, and who has proven to have read it. */
import { type Delivery, isFinal, type OperationRecord } from "../../../../src/shared/operation/operation.js";
import type { Facts } from "../state/facts.js";
import { now, type Request, type State, type StoreState } from "../state/state.js";
import type { Rules } from "../switches.js";
import { changed } from "./store.js";

/** Writes into what answers for the operation. */
function noted(
  store: StoreState,
  logId: string,
  change: (record: OperationRecord) => OperationRecord | undefined,
): StoreState {
  const id = store.records[logId]?.executedAs ?? logId;
  return changed(store, id, (record) => {
    const after = isFinal(record.state) ? change(inIncarnation(record, store.incarnation)) : undefined;
    return after && { record: after };
  }).store;
}

/** ▲7 What was noted in another incarnation of the store proves nothing. */
function inIncarnation(record: OperationRecord, incarnation: string): OperationRecord {
  if (record.deliveredIn === incarnation) return record;
  const { firstDeliveredAt: _before, ...undelivered } = record;
  return { ...undelivered, deliveries: {}, deliveredIn: incarnation };
}

const withDelivery = (record: OperationRecord, caller: string, delivery: Delivery): OperationRecord => ({
  ...record,
  deliveries: { ...record.deliveries, [caller]: delivery },
});

const toldIn = (delivery: Delivery | undefined): number[] =>
  delivery ? [...(delivery.earlier ?? []), delivery.requestId].map(Number) : [];

function requestsOf(reported: readonly number[]): Pick<Delivery, "requestId" | "earlier"> {
  const requestId = Math.max(...reported);
  const earlier = [...new Set(reported)].filter((id) => id !== requestId);
  return earlier.length === 0 ? { requestId } : { requestId, earlier };
}

/** An answer with the outcome is written to this request, or about to be. */
export function delivered(
  state: State,
  request: Request,
  { transport }: Facts,
  { off }: Rules,
): State["store"] {
  const { caller, id } = request;
  const arrived = state.requests.filter((one) => one.caller === caller && one.at !== "network");
  const upTo = transport === "stdio" ? { upTo: Math.max(id, ...arrived.map((one) => one.id)) } : {};
  const isProof = off === "ownAnswerConfirms" && request.asks === "name";
  return noted(state.store, request.logId ?? "", (record) => {
    const before = record.deliveries[caller];
    const delivery: Delivery = {
      ...requestsOf([...toldIn(before), id]),
      ...upTo,
      at: now(state),
      tookMs: tookMs(request, off),
      confirmed: (before?.confirmed ?? false) || isProof,
    };
    return {
      ...withDelivery(record, caller, delivery),
      firstDeliveredAt: record.firstDeliveredAt ?? now(state),
    };
  });
}

/** ▲7 Counted from when the client can have sent it. */
function tookMs({ slow }: Request, off: Rules["off"]): number {
  const isSlow = slow === "yes" || (slow === "unread" && off !== "measuredFromReading");
  return isSlow && off !== "slowAnswersProve" ? 60_000 : 1_000;
}

/** ▲7 Naming a log_id proves that this caller has read its earlier deliveries. */
export function confirmed(store: StoreState, request: Request, { off }: Rules): StoreState {
  const named = off === "anyMessageConfirms" ? Object.keys(store.records) : [request.names ?? ""];
  return named.reduce(
    (at, logId) =>
      noted(at, logId, (record) => {
        const delivery = record.deliveries[request.caller];
        if (!delivery) return undefined;
        const by = off === "anyMessageConfirms" ? 0 : request.id;
        const upTo = Math.max(delivery.upTo ?? 0, by);
        if (delivery.confirmed && delivery.upTo === upTo) return undefined;
        return withDelivery(record, request.caller, {
          ...delivery,
          ...(upTo > 0 ? { upTo } : {}),
          confirmed: true,
        });
      }),
    store,
  );
}

/** The client has given this request up: takes delivery and proof back. */
export function retracted(store: StoreState, { caller, cancels }: Request): StoreState {
  const logIds = Object.values(store.records).filter((record) => record.deliveries[caller]);
  return logIds.reduce(
    (at, { logId }) =>
      noted(at, logId, (record) => {
        const delivery = record.deliveries[caller];
        if (!delivery || cancels === null || cancels > Number(delivery.requestId)) return undefined;
        const reported = toldIn(delivery).filter((id) => id !== cancels);
        // Another request received the same.
        if (reported.length > 0) {
          const { earlier: _earlier, ...stands } = delivery;
          const took = cancels === delivery.requestId ? 60_000 : delivery.tookMs;
          const left = { ...stands, ...requestsOf(reported), tookMs: took, confirmed: false };
          return withDelivery(record, caller, left);
        }
        const { [caller]: _given, ...deliveries } = record.deliveries;
        const { firstDeliveredAt: _taken, ...undelivered } = record;
        const times = Object.values(deliveries).map(({ at: reported }) => reported);
        const first = times.length === 0 ? {} : { firstDeliveredAt: Math.min(...times) };
        return { ...undelivered, ...first, deliveries };
      }),
    store,
  );
}
