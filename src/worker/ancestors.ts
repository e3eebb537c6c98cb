/** ▲10 What an operation's chain says of the operations before it. */
import type { OperationRecord } from "../shared/operation.js";

/** The store's own frozen links before `after`, and the ids under which the Editor knows what they name. */
export async function ancestorsOf(
  record: OperationRecord,
  find: (logId: string) => Promise<OperationRecord | undefined>,
  atMost: number,
): Promise<string[]> {
  const found: string[] = [];
  for (let at = record.after; at !== null && found.length < atMost; ) {
    const before: OperationRecord | undefined = await find(at);
    at = before?.after ?? null;
    found.push(...[before?.executedAs, at].filter((id) => typeof id === "string"));
  }
  return found;
}
