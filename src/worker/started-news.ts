/**
 * Holds the news that an operation runs back for a moment. A quick tool has ended by then: its record goes from
 * dispatched to its end in one write, and the two writes do not meet. Nothing is decided on `running`: what a crash
 * leaves as dispatched is asked of the Editor just the same (▲12).
 */
export interface StartedNews {
  started(operationId: string): void;
  ended(operationId: string): void;
  close(): void;
}

export function createStartedNews(
  tell: (operationId: string) => void,
  options: { holdMs: number },
): StartedNews {
  const held = new Map<string, NodeJS.Timeout>();
  const ended = (operationId: string): void => {
    clearTimeout(held.get(operationId));
    held.delete(operationId);
  };
  return {
    ended,
    started(operationId) {
      ended(operationId);
      const due = (): void => {
        held.delete(operationId);
        tell(operationId);
      };
      held.set(operationId, setTimeout(due, options.holdMs));
    },
    close() {
      for (const timer of held.values()) clearTimeout(timer);
      held.clear();
    },
  };
}
