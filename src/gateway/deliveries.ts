/** ▲6 ▲7 To whom an outcome was delivered, and who has proven to have read it. */
import { type Delivery, isFinal, type OperationRecord } from "../shared/operation.js";
import type { Operations } from "../shared/redis/operations.js";
import type { Requester } from "../shared/replay.js";

export interface Deliveries {
  /**
   * Notes that an answer with the outcome is delivered to a request that is still open. For a repeatable tool before
   * the first byte is written, for a mutating one after the last.
   */
  delivered(requester: Requester, logId: string, answer: Answered): Promise<void>;
  /** The caller named this log_id in a message: it has read what was delivered to it before. */
  confirm(requester: Requester, logId: string): Promise<void>;
  /** The client gave this request up, or its connection was reset: takes delivery and proof back. */
  retracted(requester: Requester): Promise<void>;
  /** The record after a proof by this requester, for verbs that prove by themselves. */
  confirmedBy(record: OperationRecord, requester: Requester, now: number): OperationRecord;
  /** The caller's session ended. */
  forget(callerId: string): void;
}

export interface Answered {
  /** How long the request had been open, ms. */
  tookMs: number;
  /** The last message that had arrived by then, where arrival orders a caller's requests. */
  upTo?: number | undefined;
}

/** A delivery of this process, as long as its request may still be given up. */
interface Retractable {
  logId: string;
  requestId: Requester["requestId"];
}

/** Cancellations of answered requests come soon after the answer, if at all. */
const REMEMBERED_PER_CALLER = 200;

/** Stands for all requests without a caller: nothing can be proven or taken back of them. */
const NOBODY = "";

export function createDeliveries(
  operations: Pick<Operations, "change" | "look" | "incarnation">,
): Deliveries {
  const retractable = new Map<string, Retractable[]>();

  /** ▲10 (b) What answered for the operation is what was delivered. */
  const change = async (
    logId: string,
    edit: (record: OperationRecord, now: number) => OperationRecord | undefined,
  ): Promise<void> => {
    const [incarnation, asked] = await Promise.all([operations.incarnation(), operations.look(logId)]);
    await operations.change(asked?.executedAs ?? logId, (record, now) => {
      const changed = isFinal(record.state) ? edit(inIncarnation(record, incarnation), now) : undefined;
      return changed && { record: changed };
    });
  };

  return {
    async delivered({ caller, requestId }, logId, { tookMs, upTo }) {
      const id = requestId === null ? NOBODY : (caller?.id ?? NOBODY);
      // Before the write: one whose reply is lost may have been done, and must still be taken back.
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
        if (!delivery) return undefined;
        // A request that was sent before the proof is no new call either.
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
        const told = toldIn(delivery).filter((id) => id !== requestId);
        // What another request was told stands, but what the given-up one proved does not.
        if (told.length > 0) {
          const { earlier: _earlier, ...stands } = delivery;
          // How long the earlier one took is not kept: too long for a proof.
          const tookMs = delivery.requestId === requestId ? Number.MAX_SAFE_INTEGER : delivery.tookMs;
          const left = { ...stands, ...requestsOf(told), tookMs, confirmed: false };
          return withDelivery(record, caller.id, left);
        }
        const { [caller.id]: _given, ...deliveries } = record.deliveries;
        return sinceDelivered({ ...record, deliveries });
      });
      // Only now: a retraction that could not be stored is asked for again.
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

/** ▲7 What was noted in another incarnation of the store proves nothing. */
function inIncarnation(record: OperationRecord, incarnation: string): OperationRecord {
  if (record.deliveredIn === incarnation) return record;
  const { firstDeliveredAt: _before, ...undelivered } = record;
  return { ...undelivered, deliveries: {}, deliveredIn: incarnation };
}

/** Callers kept on a record; of those that are left out it is only known that there were some. */
const REMEMBERED_PER_RECORD = 32;

function withDelivery(record: OperationRecord, callerId: string, delivery: Delivery): OperationRecord {
  const { [callerId]: _before, ...others } = record.deliveries;
  const entries = Object.entries(others);
  const kept = entries.slice(1 - REMEMBERED_PER_RECORD);
  const leftOut = entries.length > kept.length ? { [NOBODY]: { ...delivery, confirmed: false } } : {};
  return { ...record, deliveries: { ...leftOut, ...Object.fromEntries(kept), [callerId]: delivery } };
}

/** ▲6 The window begins with the first delivery that still stands. */
function sinceDelivered(record: OperationRecord): OperationRecord {
  const { firstDeliveredAt: _taken, ...undelivered } = record;
  const times = Object.values(record.deliveries).map(({ at }) => at);
  return times.length === 0 ? undelivered : { ...undelivered, firstDeliveredAt: Math.min(...times) };
}

function toldIn(delivery: Delivery | undefined): Delivery["requestId"][] {
  return delivery ? [...(delivery.earlier ?? []), delivery.requestId] : [];
}

/** The latest of them, and the first of the others. */
function requestsOf(told: Delivery["requestId"][]): Pick<Delivery, "requestId" | "earlier"> {
  const requestId = told.reduce(latestOf);
  const earlier = [...new Set(told)].filter((id) => id !== requestId).slice(0, REMEMBERED_PER_CALLER);
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
