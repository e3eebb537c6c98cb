/** Passes cancellations on to the Editor, again and again until it has answered: pub/sub may lose the message. */
import { createBoundedMemory } from "../../shared/bounded-memory.js";
import type { Log } from "../../shared/log.js";
import { isSent, type OperationRecord } from "../../shared/operation/operation.js";
import type { Notifier } from "../../shared/store/notifier.js";
import type { Operations } from "../../shared/store/operations/operation-store.js";
import type { EditorLink } from "../editor/editor-link.js";
import type { UnderWay } from "./under-way.js";

export interface CancellationOptions {
  /** How often to look for cancellations that the Editor has not answered, ms. */
  cancelAgainMs: number;
}

export interface Cancellations {
  /** Asks the Editor, and stores its answer. Never rejects: a failure is tried again. */
  passOn(record: OperationRecord): Promise<void>;
  /** Has a cancellation of it been announced lately? A message that was lost is made up for after `cancelAgainMs`. */
  wasAnnounced(logId: string): boolean;
  close(): void;
}

const ANNOUNCED_KEPT = 1_000;

export function createCancellations(
  deps: {
    operations: Pick<Operations, "find" | "change">;
    notifier: Pick<Notifier, "on">;
    link: Pick<EditorLink, "state" | "cancel">;
    underWay: Pick<UnderWay, "isOwn" | "logIds">;
    /** The owner's nonce: fence (▲11). */
    fence: string;
    log: Log;
  },
  options: CancellationOptions,
): Cancellations {
  const { operations, link, underWay, log } = deps;
  const asking = new Set<string>();
  const announced = createBoundedMemory<true>(ANNOUNCED_KEPT);

  const ask = async ({ logId, executedAs }: OperationRecord): Promise<void> => {
    const { state: answer } = await link.cancel(executedAs ?? logId);
    await operations.change(
      logId,
      (record) =>
        isUnanswered(record) ? { record: { ...record, cancel: { ...record.cancel, answer } } } : undefined,
      deps.fence,
    );
  };

  const passOn = async (record: OperationRecord): Promise<void> => {
    const { logId } = record;
    if (asking.has(logId)) return;
    asking.add(logId);
    await ask(record).catch((error: Error) =>
      log.warn({ log_id: logId, error: error.message }, "the cancellation could not be passed on yet"),
    );
    asking.delete(logId);
  };

  const look = async (logId: string): Promise<void> => {
    try {
      const record = await operations.find(logId);
      if (record && isSent(record.state) && isUnanswered(record)) await passOn(record);
    } catch (error) {
      log.warn({ log_id: logId, error: (error as Error).message }, "the cancellation could not be read");
    }
  };

  const stop = deps.notifier.on("cancel", (logId) => {
    announced.set(logId, true);
    if (underWay.isOwn(logId)) void look(logId);
  });
  const timer = setInterval(() => {
    if (link.state !== "ready") return;
    for (const logId of underWay.logIds()) void look(logId);
  }, options.cancelAgainMs);

  return {
    passOn,
    wasAnnounced: (logId) => announced.get(logId) === true,
    close() {
      stop();
      clearInterval(timer);
    },
  };
}

function isUnanswered(
  record: OperationRecord,
): record is OperationRecord & { cancel: NonNullable<OperationRecord["cancel"]> } {
  return record.cancel !== undefined && record.cancel.answer === undefined;
}
