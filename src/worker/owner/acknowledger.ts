/** Durable acknowledgement (▲14): the Editor may forget an outcome once it is durable, with AOF everysec at least 2 s after the write. */
import type { Log } from "../../shared/log.js";
import { isFinal } from "../../shared/operation/operation.js";
import type { Operations } from "../../shared/store/operations/operation-store.js";
import type { EditorLink } from "../editor/editor-link.js";

export interface Acknowledger {
  stored(logId: string): void;
  /** The outcomes that the Editor's hello named; the stored ones are due. */
  named(operationIds: readonly string[]): Promise<void>;
  close(): void;
}

export interface AcknowledgerDeps {
  operations: Pick<Operations, "find" | "tombstone">;
  link: Pick<EditorLink, "ack" | "helloAgain" | "hello">;
  log: Log;
}

/** Most outcomes per hello; the next hello names the rest. */
const MOST_NAMED = 10_000;

/** An acknowledgement that fails, because the store or the Editor is away, is due again a delay later. */
export function createAcknowledger(
  { operations, link, log }: AcknowledgerDeps,
  options: { ackDelayMs: number },
): Acknowledger {
  let pending = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const isStored = async (logId: string): Promise<boolean> => {
    const record = await operations.find(logId);
    return record ? isFinal(record.state) : (await operations.tombstone(logId)) !== undefined;
  };

  /** Outcomes that the store has lost since are not acknowledged: the Editor names them in its next hello, and they are rebuilt. */
  const send = async (due: ReadonlySet<string>): Promise<void> => {
    const all = [...due];
    const found = await Promise.all(all.map(isStored));
    const kept = all.filter((_logId, at) => found[at]);
    if (kept.length > 0) await link.ack(kept);
    if (kept.length < due.size && !link.hello?.plain) link.helloAgain();
  };

  // Outcomes stored while a delay runs wait for the next delay.
  const arm = (): void => {
    if (isClosed || timer !== undefined || pending.size === 0) return;
    const due = pending;
    pending = new Set();
    timer = setTimeout(() => {
      timer = undefined;
      send(due).catch((error: Error) => {
        log.debug({ error: error.message }, "outcomes are not acknowledged yet");
        pending = new Set([...due, ...pending]);
        arm();
      });
      arm();
    }, options.ackDelayMs);
  };

  const stored: Acknowledger["stored"] = (logId) => {
    pending.add(logId);
    arm();
  };

  return {
    stored,
    async named(operationIds) {
      for (const operationId of operationIds.slice(0, MOST_NAMED))
        if (await isStored(operationId)) stored(operationId);
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      pending.clear();
    },
  };
}
