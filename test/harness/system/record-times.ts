/** What every operation's record says of times, whatever a test did. */
import type { Redis } from "ioredis";
import type { OperationRecord } from "../../../src/shared/operation/operation.js";
import { keys } from "../../../src/shared/store/keys.js";

const IN_ORDER = ["acceptedAt", "dispatchedAt", "startedAt", "endedAt"] as const;

/** What is wrong with the record's times; empty: accepted ≤ dispatched ≤ started ≤ ended, each where it is known. */
function timeFaults(record: OperationRecord): string[] {
  const known = IN_ORDER.filter((name) => record[name] !== undefined);
  const backwards = known.flatMap((name, index) => {
    const before = known[index - 1];
    return before !== undefined && Number(record[before]) > Number(record[name])
      ? [`${before} ${record[before]} > ${name} ${record[name]}`]
      : [];
  });
  // ▲10 (b) Its times are those of the operation that answered its call.
  const borrowed = (["startedAt", "endedAt"] as const)
    .filter((name) => record.executedAs !== undefined && record[name] !== undefined)
    .map((name) => `executedAs, but ${name} ${record[name]}`);
  return [...backwards, ...borrowed].map((fault) => `${record.logId} (${record.tool}): ${fault}`);
}

/** Of all records in the store. */
export async function faultsOfTimes(hand: Redis): Promise<string[]> {
  const names = await hand.keys(keys.operation("*"));
  const docs = await Promise.all(names.map((name) => hand.hget(name, "doc")));
  return docs.flatMap((doc) => (doc ? timeFaults(JSON.parse(doc) as OperationRecord) : []));
}
