/** The calls that one operation answers, each with when it came and when it got the outcome. Pure. */
import type { RpcId } from "../wire/rpc.js";
import type { Asking, OperationRecord } from "./operation.js";
import { type Duplicate, who } from "./timeline.js";

export interface AnsweredCall {
  /** `read`: no call, but a caller that has received the outcome by its log_id. */
  relation: "created" | "joined" | "replayed" | "read";
  /** ISO 8601: when it came; of one that read, when it did. */
  at: string;
  /** As in the timeline: enough to tell callers apart. */
  caller: string;
  client?: string;
  /** When its caller got the outcome, by this call's answer or by reading it later. */
  delivered_at?: string;
  /** Its caller is known to have read it. */
  has_read?: true;
}

interface Asked {
  relation: "created" | "joined" | "replayed";
  at: number;
  caller: string | null;
  requestId: RpcId | null;
  client?: string | undefined;
}

/** By time. What a caller received is shown with its last call before that. */
export function callsOf(record: OperationRecord, duplicates: readonly Duplicate[]): AnsweredCall[] {
  const { createdBy, acceptedAt, askers = {} } = record;
  const asked: Asked[] = [
    { relation: "created", at: acceptedAt, ...createdBy },
    ...duplicates.toSorted((a, b) => a.at - b.at),
  ];
  const answered = new Map<Asked, Received>();
  const read: AnsweredCall[] = [];
  for (const [caller, { deliveredAt, hasRead }] of Object.entries(askers)) {
    if (deliveredAt === undefined) continue;
    const received: Received = { deliveredAt, ...(hasRead ? { hasRead } : {}) };
    const call = asked.findLast((each) => each.caller === caller && each.at <= deliveredAt);
    if (call) answered.set(call, received);
    else read.push({ relation: "read", at: iso(deliveredAt), caller: who(caller, null), ...told(received) });
  }
  const calls = asked.map((call): AnsweredCall => {
    const { relation, at, caller, requestId, client } = call;
    const received = answered.get(call);
    return {
      ...{ relation, at: iso(at), caller: who(caller, requestId) },
      ...(client === undefined ? {} : { client }),
      ...(received ? told(received) : {}),
    };
  });
  return [...calls, ...read.sort((a, b) => (a.at < b.at ? -1 : 1))];
}

type Received = Asking & { deliveredAt: number };

function told({ deliveredAt, hasRead }: Received): Pick<AnsweredCall, "delivered_at" | "has_read"> {
  return { delivered_at: iso(deliveredAt), ...(hasRead ? { has_read: true } : {}) };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
