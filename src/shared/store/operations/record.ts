/**
 * An operation's record as it is stored: a JSON document, which leaves out what its key and the other fields of its HASH say,
 * and what says nothing. A store holds a hundred thousand of them.
 */
import type { Redis } from "ioredis";
import type { EndMark, OperationRecord } from "../../operation/operation.js";
import { keys } from "../keys.js";

/** A record with what it was read from, or written as. */
export interface StoredText {
  record: OperationRecord;
  text: string;
}

const texts = new WeakMap<object, StoredText>();

/** A script compares a record by its text: of one that was read, or written, it is known without another reading. */
export function textOf(record: object): StoredText | undefined {
  return texts.get(record);
}

export function isStoredAs(record: OperationRecord, text: string): OperationRecord {
  texts.set(record, { record, text });
  return record;
}

export type Find = (logId: string) => Promise<OperationRecord | undefined>;

export function createFind(redis: Redis): Find {
  return async (logId) =>
    parseRecord(logId, await redis.hmget(keys.operation(logId), "doc", "mutationSeq", "turn"));
}

/** Values that a document leaves out. */
const USUAL = {
  after: null,
  cancellable: false,
  keyed: false,
  priorityClass: "interactive",
} as const satisfies Partial<OperationRecord>;

/** `state` and `acceptedAt`, which scripts set, come first, where they find them. */
export function documentOf(record: OperationRecord): string {
  const { state, acceptedAt, logId: _key, mutationSeq: _seq, turn: _turn, ...rest } = record;
  const { editorMark, ...others } = rest;
  const unusual = Object.entries(others).filter(
    ([name, value]) => value !== USUAL[name as keyof typeof USUAL],
  );
  const { editorSessionId, ...mark } = editorMark ?? {};
  return JSON.stringify({
    state,
    acceptedAt,
    ...Object.fromEntries(unusual),
    ...(editorMark && (editorSessionId === record.sentIn ? { editorMark: mark } : { editorMark })),
  });
}

/** The record from the fields doc, mutationSeq and turn of its HASH; undefined if there is none. */
export function parseRecord(
  logId: string,
  [doc, mutationSeq, turn]: (string | null)[],
): OperationRecord | undefined {
  return doc ? readRecord(logId, [doc, mutationSeq, turn]) : undefined;
}

/** The same of fields that are there. */
export function readRecord(logId: string, [doc, mutationSeq, turn]: readonly unknown[]): OperationRecord {
  const document = { ...USUAL, ...JSON.parse(String(doc)) } as OperationRecord;
  const { sentIn = "" } = document;
  const mark: Partial<EndMark> | undefined = document.editorMark;
  const record = {
    ...document,
    ...(mark && { editorMark: { editorSessionId: sentIn, ...mark } as EndMark }),
    logId,
    mutationSeq: Number(mutationSeq ?? 0),
    turn: Number(turn ?? 0),
  };
  return isStoredAs(record, String(doc));
}
