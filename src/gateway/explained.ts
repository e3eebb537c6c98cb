/** An operation with what its history is told from. */
import type { OperationRecord } from "../shared/operation/operation.js";
import type { Duplicate } from "../shared/operation/timeline.js";
import type { Operations, Reports } from "../shared/store/operations/operation-store.js";

export interface Explained {
  record: OperationRecord;
  duplicates: Duplicate[];
  /** Of the execution that answers for it. */
  reports: Reports;
}

export async function explained(
  operations: Pick<Operations, "duplicatesOf" | "reportsOf">,
  record: OperationRecord,
): Promise<Explained> {
  const [duplicates, reports] = await Promise.all([
    operations.duplicatesOf(record.logId),
    operations.reportsOf(record.executedAs ?? record.logId),
  ]);
  return { record, duplicates, reports };
}
