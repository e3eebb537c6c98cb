/** ▲14 Tells the Editor which outcomes are stored, once they are durable: with AOF everysec at least 2 s later. */

export interface Acknowledger {
  stored(operationId: string): void;
  close(): void;
}

/** `send` may fail: the Editor names the operation again in its next hello. */
export function createAcknowledger(
  send: (operationIds: string[]) => Promise<void>,
  options: { ackDelayMs: number },
): Acknowledger {
  let pending = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  // What is stored while a delay runs waits for a delay of its own.
  const arm = (): void => {
    if (timer !== undefined || pending.size === 0) return;
    const due = pending;
    pending = new Set();
    timer = setTimeout(() => {
      timer = undefined;
      send([...due]).catch(() => undefined);
      arm();
    }, options.ackDelayMs);
  };

  return {
    stored(operationId) {
      pending.add(operationId);
      arm();
    },
    close() {
      clearTimeout(timer);
      timer = undefined;
      pending.clear();
    },
  };
}
