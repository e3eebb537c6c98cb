/** ▲6 ▲7 Who was told an outcome, and who has proven to have read it. */
import { type Delivery, isFinal, type OperationRecord } from "../shared/operation.js";
import type { Operations } from "../shared/redis/operations.js";
import { REPLAY_DEFAULTS, type ReplayOptions, type Requester } from "../shared/replay.js";

export interface Deliveries {
  /**
   * A final answer was written to a request that was still open. `names`: the request named the log_id, which
   * confirms what it is answered with if the answer came before any client would have given the request up.
   */
  delivered(requester: Requester, logId: string, answer: { tookMs: number; names: boolean }): Promise<void>;
  /** The caller named this log_id in a message: what it was told before has been read. */
  confirm(requester: Requester, logId: string): Promise<void>;
  /**
   * A message came from this caller. On stdio, where clients cancel what they give up, it confirms everything told
   * before, except to an identical call: pass the hash of a tool call, nothing for any other message.
   */
  heard(requester: Requester, hash?: string): Promise<void>;
  /** The client gave this request up: it cannot have read the answer; takes delivery and confirmation back. */
  retracted(requester: Requester): Promise<void>;
  /** The record after a confirmation by this requester, for verbs that confirm by themselves. */
  confirmedBy(record: OperationRecord, requester: Requester, now: number): OperationRecord;
  /** The caller's session ended. */
  forget(callerId: string): void;
}

/** What a caller was told in this process and may still confirm or give up. */
interface Told {
  logId: string;
  hash: string;
  requestId: Requester["requestId"];
}

/** Cancellations of answered requests come soon after the answer, if at all. */
const REMEMBERED_PER_CALLER = 200;

export function createDeliveries(
  operations: Operations,
  options: Pick<ReplayOptions, "quickAnswerMs"> = REPLAY_DEFAULTS,
): Deliveries {
  const told = new Map<string, Told[]>();
  const unconfirmed = new Map<string, Told[]>();

  /** `by`: the message that proves it; a request that was made before it is no new wish either. */
  const confirmFor = async (callerId: string, logId: string, by: Requester["requestId"]): Promise<void> => {
    await operations.change(logId, (record) => {
      const delivery = record.deliveries[callerId];
      if (!delivery) return undefined;
      const requestId = by === null ? delivery.requestId : latestOf(delivery.requestId, by);
      if (delivery.confirmed && delivery.requestId === requestId) return undefined;
      return { record: withDelivery(record, callerId, { ...delivery, requestId, confirmed: true }) };
    });
  };

  return {
    async delivered({ caller, requestId }, logId, { tookMs, names }) {
      if (!caller || requestId === null) {
        await operations.change(logId, (record, now) =>
          record.firstDeliveredAt === undefined && isFinal(record.state)
            ? { record: { ...record, firstDeliveredAt: now } }
            : undefined,
        );
        return;
      }
      // Before the write: one whose reply is lost may have been done, and must still be taken back by a retraction.
      remember(told, caller.id, { logId, hash: "", requestId });
      const confirms = names && tookMs < options.quickAnswerMs;
      const changed = await operations.change(logId, (record, now) => {
        if (!isFinal(record.state)) return undefined;
        const before = record.deliveries[caller.id];
        const delivery: Delivery = {
          requestId: latestOf(before?.requestId, requestId),
          at: now,
          tookMs,
          confirmed: confirms || (before?.confirmed ?? false),
        };
        const firstDeliveredAt = record.firstDeliveredAt ?? now;
        return { record: { ...withDelivery(record, caller.id, delivery), firstDeliveredAt } };
      });
      if (!("record" in changed)) return;
      if (!confirms) remember(unconfirmed, caller.id, { logId, hash: changed.record.hash, requestId });
    },

    async confirm({ caller, requestId }, logId) {
      if (caller) await confirmFor(caller.id, logId, requestId);
    },

    async heard({ caller }, hash) {
      if (caller?.transport !== "stdio") return;
      const open = unconfirmed.get(caller.id) ?? [];
      const read = open.filter((entry) => entry.hash !== hash);
      unconfirmed.set(
        caller.id,
        open.filter((entry) => entry.hash === hash),
      );
      for (const entry of read) await confirmFor(caller.id, entry.logId, null);
    },

    async retracted({ caller, requestId }) {
      const entry = caller && told.get(caller.id)?.find((at) => at.requestId === requestId);
      if (!caller || !entry) return;
      drop(unconfirmed, caller.id, requestId);
      await operations.change(entry.logId, (record) => {
        const delivery = record.deliveries[caller.id];
        if (!delivery) return undefined;
        // A later request was told the same: it stands, but what the given-up one confirmed is not proven any more.
        if (delivery.requestId !== requestId) {
          return {
            record: sinceDelivered(withDelivery(record, caller.id, { ...delivery, confirmed: false })),
          };
        }
        const { [caller.id]: _given, ...deliveries } = record.deliveries;
        return { record: sinceDelivered({ ...record, deliveries }) };
      });
      // Only now: a retraction that could not be stored is asked for again.
      drop(told, caller.id, requestId);
    },

    confirmedBy(record, { caller, requestId }, now) {
      if (!caller || requestId === null) return record;
      return withDelivery(record, caller.id, { requestId, at: now, tookMs: 0, confirmed: true });
    },

    forget(callerId) {
      told.delete(callerId);
      unconfirmed.delete(callerId);
    },
  };
}

/** Deliveries kept on a record; forgetting the oldest is safe: what is not proven replays. */
const REMEMBERED_PER_RECORD = 32;

function withDelivery(record: OperationRecord, callerId: string, delivery: Delivery): OperationRecord {
  const { [callerId]: _before, ...others } = record.deliveries;
  const kept = Object.entries(others).slice(1 - REMEMBERED_PER_RECORD);
  return { ...record, deliveries: { ...Object.fromEntries(kept), [callerId]: delivery } };
}

/** ▲6 The window begins with the first delivery that still stands. */
function sinceDelivered(record: OperationRecord): OperationRecord {
  const { firstDeliveredAt: _taken, ...undelivered } = record;
  const times = Object.values(record.deliveries).map(({ at }) => at);
  return times.length === 0 ? undelivered : { ...undelivered, firstDeliveredAt: Math.min(...times) };
}

function latestOf(a: Delivery["requestId"] | undefined, b: Delivery["requestId"]): Delivery["requestId"] {
  return typeof a === "number" && typeof b === "number" ? Math.max(a, b) : b;
}

function remember(map: Map<string, Told[]>, callerId: string, entry: Told): void {
  map.set(callerId, [...(map.get(callerId) ?? []), entry].slice(-REMEMBERED_PER_CALLER));
}

function drop(map: Map<string, Told[]>, callerId: string, requestId: Told["requestId"]): void {
  map.set(
    callerId,
    (map.get(callerId) ?? []).filter((entry) => entry.requestId !== requestId),
  );
}
