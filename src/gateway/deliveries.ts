/** Replay (▲6), confirmed delivery (▲7): records to whom an outcome was delivered, and who has proven to have read it. */
import { type Delivery, isFinal, type OperationRecord } from "../shared/operation/operation.js";
import type { Requester } from "../shared/operation/replay.js";
import type { Operations } from "../shared/store/operations/operation-store.js";

export interface Deliveries {
  /**
   * Records that an answer with the outcome is delivered to a request that is still open. For a repeatable tool call it
   * before the first byte is written, for a mutating one after the last.
   */
  delivered(requester: Requester, logId: string, answer: Answered): Promise<void>;
  /**
   * The caller named this log_id in a message, so it has read its earlier deliveries; the answered request itself, sent or
   * taken up again, proves nothing.
   */
  confirm(requester: Requester, logId: string): Promise<void>;
  /** The client gave up this request, or its connection was reset: withdraws its delivery and proof. */
  retracted(requester: Requester): Promise<void>;
  /** The record with a proof by this requester, for verbs that write the proof themselves. */
  confirmedBy(record: OperationRecord, requester: Requester, now: number): OperationRecord;
  /** The caller's session ended. */
  forget(callerId: string): void;
}

export interface Answered {
  /** How long the request had been open, ms. */
  tookMs: number;
  /** The last message that had arrived by then, if arrival orders the caller's requests. */
  upTo?: number | undefined;
}

/** A delivery of this process whose request may still be given up. */
interface Retractable {
  logId: string;
  requestId: Requester["requestId"];
}

/** Cancellations of answered requests come soon after the answer, if at all. */
const REMEMBERED_PER_CALLER = 200;

/** Stands for all requests without a caller, for which nothing can be proven or withdrawn. */
const NOBODY = "";

export function createDeliveries(
  operations: Pick<Operations, "change" | "readRecord" | "incarnation">,
): Deliveries {
  const retractable = new Map<string, Retractable[]>();

  type Edit = (record: OperationRecord, now: number) => OperationRecord | undefined;

  /** Without reading anything first; false: the store was lost since, or another operation answered. */
  const changeAtOnce = async (logId: string, edit: Edit): Promise<boolean> => {
    let isOwn = true;
    const decide = (record: OperationRecord, now: number): { record: OperationRecord } | undefined => {
      isOwn = record.executedAs === undefined;
      const changed = isOwn && isFinal(record.state) ? edit(record, now) : undefined;
      return changed && { record: changed };
    };
    const { kind } = await operations.change(logId, decide, { inItsIncarnation: true });
    return isOwn && kind !== "incarnation";
  };

  /** Chain check (▲10 b): the delivered outcome is that of the operation that answered. */
  const change = async (logId: string, edit: Edit): Promise<void> => {
    if (await changeAtOnce(logId, edit)) return;
    const [incarnation, asked] = await Promise.all([operations.incarnation(), operations.readRecord(logId)]);
    await operations.change(asked?.executedAs ?? logId, (record, now) => {
      const changed = isFinal(record.state) ? edit(inIncarnation(record, incarnation), now) : undefined;
      return changed && { record: changed };
    });
  };

  return {
    async delivered({ caller, requestId }, logId, { tookMs, upTo }) {
      const id = requestId === null ? NOBODY : (caller?.id ?? NOBODY);
      // Before the write: even if its reply is lost the write may have happened, and must be withdrawable.
      if (id !== NOBODY) remember(retractable, id, { logId, requestId });
      await change(logId, (record, now) => {
        const before = record.deliveries[id];
        const delivery: Delivery = {
          ...requestsOf([...toldIn(before), requestId ?? 0]),
          ...upToOf(before?.upTo, upTo),
          at: now,
          tookMs,
          confirmed: before?.confirmed ?? false,
        };
        return { ...withDelivery(record, id, delivery), firstDeliveredAt: record.firstDeliveredAt ?? now };
      });
    },

    async confirm({ caller, requestId }, logId) {
      if (!caller) return;
      await change(logId, (record) => {
        const delivery = record.deliveries[caller.id];
        if (!delivery || (requestId !== null && toldIn(delivery).includes(requestId))) return undefined;
        // A request that was sent before the proof is not a new call either.
        const by = typeof requestId === "number" ? requestId : undefined;
        const proven = { ...delivery, ...upToOf(delivery.upTo, by), confirmed: true };
        if (delivery.confirmed && delivery.upTo === proven.upTo) return undefined;
        return withDelivery(record, caller.id, proven);
      });
    },

    async retracted({ caller, requestId }) {
      const entry = caller && retractable.get(caller.id)?.find((at) => at.requestId === requestId);
      if (!caller || !entry) return;
      await change(entry.logId, (record) => {
        const delivery = record.deliveries[caller.id];
        if (!delivery) return undefined;
        const requests = toldIn(delivery).filter((id) => id !== requestId);
        // Deliveries to other requests stand, but the proof of the given-up one does not.
        if (requests.length > 0) {
          const { earlier: _earlier, ...stands } = delivery;
          // The earlier request's duration is not kept: count it as too long for a proof.
          const tookMs = delivery.requestId === requestId ? Number.MAX_SAFE_INTEGER : delivery.tookMs;
          const left = { ...stands, ...requestsOf(requests), tookMs, confirmed: false };
          return withDelivery(record, caller.id, left);
        }
        const { [caller.id]: _given, ...deliveries } = record.deliveries;
        return sinceDelivered({ ...record, deliveries });
      });
      // Only now, so that a retraction that could not be stored is tried again.
      const left = (retractable.get(caller.id) ?? []).filter((at) => at.requestId !== requestId);
      retractable.set(caller.id, left);
    },

    confirmedBy(record, { caller, requestId }, now) {
      if (!caller || requestId === null) return record;
      return withDelivery(record, caller.id, { requestId, at: now, tookMs: 0, confirmed: true });
    },

    forget: (callerId) => void retractable.delete(callerId),
  };
}

/** Confirmed delivery (▲7): deliveries recorded in another incarnation of the store prove nothing. */
function inIncarnation(record: OperationRecord, incarnation: string): OperationRecord {
  if (record.deliveredIn === incarnation) return record;
  const { firstDeliveredAt: _before, ...undelivered } = record;
  return { ...undelivered, deliveries: {}, deliveredIn: incarnation };
}

/** Most callers kept on a record; the others leave only the fact that there were some. */
const REMEMBERED_PER_RECORD = 32;

function withDelivery(record: OperationRecord, callerId: string, delivery: Delivery): OperationRecord {
  const { [callerId]: _before, ...others } = record.deliveries;
  const entries = Object.entries(others);
  const kept = entries.slice(1 - REMEMBERED_PER_RECORD);
  const leftOut = entries.length > kept.length ? { [NOBODY]: { ...delivery, confirmed: false } } : {};
  return { ...record, deliveries: { ...leftOut, ...Object.fromEntries(kept), [callerId]: delivery } };
}

/** Replay (▲6): the window begins with the first delivery that still stands. */
function sinceDelivered(record: OperationRecord): OperationRecord {
  const { firstDeliveredAt: _taken, ...undelivered } = record;
  const times = Object.values(record.deliveries).map(({ at }) => at);
  return times.length === 0 ? undelivered : { ...undelivered, firstDeliveredAt: Math.min(...times) };
}

function toldIn(delivery: Delivery | undefined): Delivery["requestId"][] {
  return delivery ? [...(delivery.earlier ?? []), delivery.requestId] : [];
}

/** The latest of them, and the others as `earlier`. */
function requestsOf(requests: Delivery["requestId"][]): Pick<Delivery, "requestId" | "earlier"> {
  const requestId = requests.reduce(latestOf);
  const earlier = [...new Set(requests)].filter((id) => id !== requestId).slice(0, REMEMBERED_PER_CALLER);
  return earlier.length === 0 ? { requestId } : { requestId, earlier };
}

function latestOf(a: Delivery["requestId"], b: Delivery["requestId"]): Delivery["requestId"] {
  return typeof a === "number" && typeof b === "number" ? Math.max(a, b) : b;
}

function upToOf(a: number | undefined, b: number | undefined): Pick<Delivery, "upTo"> {
  const upTo = Math.max(a ?? Number.NEGATIVE_INFINITY, b ?? Number.NEGATIVE_INFINITY);
  return Number.isFinite(upTo) ? { upTo } : {};
}

function remember(map: Map<string, Retractable[]>, callerId: string, entry: Retractable): void {
  map.set(callerId, [...(map.get(callerId) ?? []), entry].slice(-REMEMBERED_PER_CALLER));
}
