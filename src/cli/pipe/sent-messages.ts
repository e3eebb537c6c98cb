/** Keeps the client's initialize messages and its unanswered requests, to send them again to the next broker. */
export interface SentMessage {
  /** The number of its arrival. */
  n: number;
  /** When it arrived, by performance.now(); -Infinity: nobody knows how long it had waited. */
  arrivedAt: number;
  text: string;
}

export interface SentMessages {
  /** Before it is handed on. */
  sent(message: SentMessage): void;
  /**
   * An answer to the request with this number has come: is it to be written? If one is being written already, no: then
   * `written` is called when that is done, or at once if it was done before.
   */
  answered(n: number, written: () => void): boolean;
  /** The client has its answer, or gets none. */
  ended(n: number): void;
  /** In their order: the greeting, then each open request, with its cancellation if it was cancelled. */
  toRepeat(): SentMessage[];
  /** The requests without an answer, with the client's ids as JSON; one that was cancelled is to get none. */
  open(): { n: number; id: string; isCancelled: boolean }[];
  /** Does the client have all its answers? Subscriptions do not count: they stay open, and nobody waits for their end. */
  isEmpty(): boolean;
}

interface OpenRequest {
  id: string;
  request: SentMessage;
  isSubscription: boolean;
  /** While an answer is written that the client has not read yet: what to call once it has. */
  writing?: (() => void)[];
  cancellation?: SentMessage;
}

export function createSentMessages(): SentMessages {
  let greeting: SentMessage[] = [];
  /** By the number of its arrival. */
  const open = new Map<number, OpenRequest>();
  const withId = (id: string): OpenRequest | undefined => [...open.values()].find((entry) => entry.id === id);

  return {
    sent(message) {
      const { method, id, cancels } = kindOf(message.text);
      if (method === "initialize") greeting = [message];
      if (method === "notifications/initialized") greeting.push(message);
      const cancelled = cancels === undefined ? undefined : withId(cancels);
      if (cancelled) cancelled.cancellation = message;
      if (method === undefined || id === undefined) return;
      // The same id again: only the newer request is answered.
      const older = withId(id);
      if (older) open.delete(older.request.n);
      open.set(message.n, { id, request: message, isSubscription: method === "subscriptions/listen" });
    },
    answered(n, written) {
      const entry = open.get(n);
      if (entry?.writing) {
        entry.writing.push(written);
        return false;
      }
      if (entry) entry.writing = [];
      // The greeting is sent once more to each broker. A request whose id was used again is not open either.
      const isWritten = !entry && greeting.some((message) => message.n === n);
      if (isWritten) written();
      return !isWritten;
    },
    ended(n) {
      const entry = open.get(n);
      open.delete(n);
      for (const written of entry?.writing ?? []) written();
    },
    toRepeat() {
      const requests = [...open.values()].flatMap(({ request, cancellation }) =>
        cancellation ? [request, cancellation] : [request],
      );
      const all = new Map([...greeting, ...requests].map((message) => [message.n, message]));
      return [...all.values()].sort((a, b) => a.n - b.n);
    },
    open: () =>
      [...open.values()]
        .filter(({ writing }) => !writing)
        .map(({ request, id, cancellation }) => ({
          n: request.n,
          id,
          isCancelled: cancellation !== undefined,
        })),
    isEmpty: () => [...open.values()].every(({ isSubscription }) => isSubscription),
  };
}

/** A line that is no message of MCP has no kind: the broker refuses it. */
function kindOf(text: string): { method?: string; id?: string; cancels?: string } {
  try {
    const { method, id, params } = JSON.parse(text) as Record<string, unknown>;
    if (typeof method !== "string") return {};
    const requestId =
      method === "notifications/cancelled" ? (params as Record<string, unknown>).requestId : undefined;
    return {
      method,
      ...(id === undefined ? {} : { id: JSON.stringify(id) }),
      ...(requestId === undefined ? {} : { cancels: JSON.stringify(requestId) }),
    };
  } catch {
    return {};
  }
}
