/** The calls that one operation answers, each with when it came and when it got the outcome. Pure. */
import type { Delivery, OperationRecord } from "./operation.js";
import { type Duplicate, who } from "./timeline.js";

export interface AnsweredCall {
  /** `read`: no call, but a caller that has read the outcome by its log_id. */
  relation: "created" | "joined" | "replayed" | "read";
  /** ISO 8601: when it came; of one that read, when it did. */
  at: string;
  /** As in the timeline: enough to tell callers apart. */
  caller: string;
  client?: string;
  /** When its caller got the outcome, by this call's answer or by reading it later. */
  delivered_at?: string;
  /** Its caller proved that it has read it (▲7). */
  confirmed?: true;
}

interface Asked {
  relation: "created" | "joined" | "replayed";
  at: number;
  caller: string | null;
  requestId: Delivery["requestId"] | null;
  client?: string | undefined;
}

/** By time. A caller's delivery is shown with the call that it answered, else with the caller's last one before it. */
export function callsOf(record: OperationRecord, duplicates: readonly Duplicate[]): AnsweredCall[] {
  const { createdBy, acceptedAt, deliveries } = record;
  const asked: Asked[] = [
    { relation: "created", at: acceptedAt, ...createdBy },
    ...duplicates.toSorted((a, b) => a.at - b.at),
  ];
  const answered = new Map<Asked, Delivery>();
  const read: AnsweredCall[] = [];
  for (const [key, delivery] of Object.entries(deliveries)) {
    const caller = key === "" ? null : key;
    const own = asked.filter((call) => call.caller === caller);
    const direct = own.filter(({ requestId }) => requestId !== null && isAnswered(requestId, delivery));
    const last = own.filter(({ at }) => at <= delivery.at).at(-1);
    const calls = direct.length > 0 ? direct : last ? [last] : [];
    for (const call of calls) answered.set(call, delivery);
    if (calls.length === 0)
      read.push({ relation: "read", at: iso(delivery.at), caller: who(caller, null), ...told(delivery) });
  }
  const calls = asked.map((call): AnsweredCall => {
    const { relation, at, caller, requestId, client } = call;
    const delivery = answered.get(call);
    return {
      ...{ relation, at: iso(at), caller: who(caller, requestId) },
      ...(client === undefined ? {} : { client }),
      ...(delivery ? told(delivery) : {}),
    };
  });
  return [...calls, ...read.sort((a, b) => (a.at < b.at ? -1 : 1))];
}

function isAnswered(
  requestId: Delivery["requestId"],
  { requestId: answered, earlier = [] }: Delivery,
): boolean {
  return requestId === answered || earlier.includes(requestId);
}

function told({ at, confirmed }: Delivery): Pick<AnsweredCall, "delivered_at" | "confirmed"> {
  return { delivered_at: iso(at), ...(confirmed ? { confirmed: true } : {}) };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
