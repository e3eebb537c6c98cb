/** ▲14 Tells the Editor which outcomes are stored, once they are durable: with AOF everysec at least 2 s later. */

export interface Acknowledger {
  /** `logId`: the record that has its outcome, where the Editor executed a call as another operation (▲10). */
  stored(operationId: string, logId?: string): void;
  close(): void;
}

/** `send`: by operation, the record. It may fail: the Editor names the operation again in its next hello. */
export function createAcknowledger(
  send: (due: ReadonlyMap<string, string>) => Promise<void>,
  options: { ackDelayMs: number },
): Acknowledger {
  let pending = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;

  // What is stored while a delay runs waits for a delay of its own.
  const arm = (): void => {
    if (timer !== undefined || pending.size === 0) return;
    const due = pending;
    pending = new Map();
    timer = setTimeout(() => {
      timer = undefined;
      send(due).catch(() => undefined);
      arm();
    }, options.ackDelayMs);
  };

  return {
    stored(operationId, logId = operationId) {
      pending.set(operationId, logId);
      arm();
    },
    close() {
      clearTimeout(timer);
      timer = undefined;
      pending.clear();
    },
  };
}
