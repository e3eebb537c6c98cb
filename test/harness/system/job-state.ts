/** What BullMQ says of an operation's job. */
import { jobIdOf, type OperationRecord } from "../../../src/shared/operation/operation.js";
import { queueName } from "../../../src/shared/store/keys.js";
import type { Store } from "../../../src/shared/store/store.js";

type Queues = Pick<Store, "queues">;

export const jobState = async ({ queues }: Queues, record: OperationRecord) =>
  queues
    .lanesOf(record.editor)
    .find(({ name }) => name === queueName(record.editor, record.lane))
    ?.getJobState(jobIdOf(record));

/** Does it still wait or run? */
export const hasJob = async (store: Queues, record: OperationRecord): Promise<boolean> =>
  ["prioritized", "waiting", "delayed", "active"].includes((await jobState(store, record)) ?? "");
