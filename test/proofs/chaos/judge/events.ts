/** What was done to the system during a run: the other half of every story. */

export interface FaultEvent {
  /** ms since the epoch, this process's clock. */
  readonly at: number;
  /** When it was healed; undefined while it lasts. */
  until: number | undefined;
  readonly kind: string;
  readonly target: string;
  /** The Editors that it may have touched. */
  readonly editors: readonly string[];
  detail: string | undefined;
}

export interface Events {
  /** Begins one. */
  note(event: Pick<FaultEvent, "kind" | "target" | "editors">): FaultEvent;
  all(): readonly FaultEvent[];
  /** Those of an Editor that lasted into this time. */
  around(editor: string, from: number, to: number): FaultEvent[];
}

export function createEvents(): Events {
  const events: FaultEvent[] = [];
  return {
    note(event) {
      const noted: FaultEvent = { ...event, at: Date.now(), until: undefined, detail: undefined };
      events.push(noted);
      return noted;
    },
    all: () => events,
    around: (editor, from, to) =>
      events.filter(
        ({ editors, at, until }) => editors.includes(editor) && at <= to && (until ?? to) >= from,
      ),
  };
}

const STORE_LOST = /^Redis (flushed|restored)/;

/** Redis forgot something at or after this time: within a fault that may have begun before. */
export function storeWasLost(events: Events, since = 0): boolean {
  return events.all().some(({ kind, until }) => (until ?? since) >= since && STORE_LOST.test(kind));
}
