/** Reads an operation's stored record, including those of older versions. */
import type { Redis } from "ioredis";
import type { OperationRecord } from "../../operation/operation.js";
import { storedEffect } from "../../tools/tool.js";
import { FIRST_INCARNATION } from "../incarnation.js";
import { keys } from "../keys.js";

export type Find = (logId: string) => Promise<OperationRecord | undefined>;

export function createFind(redis: Redis): Find {
  return async (logId) => parseRecord(await redis.hmget(keys.operation(logId), "doc", "mutationSeq", "turn"));
}

/** Releases before wrote a record before its job, as `accepted`: the janitor adds a job that is missing, whatever the state. */
function storedState(state: OperationRecord["state"] | "accepted"): OperationRecord["state"] {
  return state === "accepted" ? "queued" : state;
}

/** The record from the fields doc, mutationSeq and turn of its HASH; undefined if there is none. */
export function parseRecord([doc, mutationSeq, turn]: (string | null)[]): OperationRecord | undefined {
  return doc ? readRecord([doc, mutationSeq, turn]) : undefined;
}

/** The same of fields that are there. Schema 2 had no incarnation, and used other names for some tools' effects. */
export function readRecord([doc, mutationSeq, turn]: readonly unknown[]): OperationRecord {
  const record = JSON.parse(String(doc)) as OperationRecord;
  const { incarnation = FIRST_INCARNATION, deliveredIn = FIRST_INCARNATION } = record;
  return {
    ...record,
    state: storedState(record.state),
    effect: storedEffect(record.tool, record.effect),
    incarnation,
    deliveredIn,
    mutationSeq: Number(mutationSeq ?? 0),
    turn: Number(turn ?? 0),
  };
}
