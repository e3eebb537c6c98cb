/**
 * Everything that happens to the operations that somebody may see, as one feed. Any gateway goes on with it from the id of
 * the last event that was received: no event is left out and none is sent twice.
 */
import { createBoundedMemory } from "../../shared/bounded-memory.js";
import { isSent } from "../../shared/operation/operation.js";
import { isStoreAway } from "../../shared/store/connect.js";
import type { OperationEventEntry } from "../../shared/store/operations/events.js";
import type { Store } from "../../shared/store/store.js";
import { GAP, type LiveEvent, LOOK_MS, shownEntry } from "./live-event.js";

export interface Following {
  /** The id of the last event that was received; undefined: from now on. */
  from?: string | undefined;
  isWanted(of: Pick<OperationEventEntry, "logId" | "principal" | "editor" | "tool" | "state">): boolean;
  sees(editor: string): boolean;
  /** Throws once the follower may not see these any more; asked again each time that it looks. */
  mayGoOn?: (() => Promise<void>) | undefined;
  /** Everything up to this id was read, also what was not wanted: another gateway may go on from it. */
  passed?: ((id: string) => void) | undefined;
  signal: AbortSignal;
}

/** Progress of so many operations is read at once; of the rest the next time. */
const MOST_PROGRESS = 50;
const MOST_SHOWN = 1_000;

/** While Redis is away it waits; ends when the signal aborts. */
export async function* followAll(
  { events, operations, notifier }: Pick<Store, "events" | "operations" | "notifier">,
  { from, isWanted, sees, mayGoOn, passed, signal }: Following,
): AsyncGenerator<LiveEvent> {
  const bell = createBell();
  const changed = new Set<string>();
  const editors = new Set<string>();
  const noting = (subjects: Set<string>) => (subject: string) => {
    subjects.add(subject);
    bell.ring();
  };
  const stops = [
    notifier.on("changed", noting(changed), bell.ring),
    notifier.on("ended", bell.ring, bell.ring),
    notifier.on("editors", noting(editors), bell.ring),
  ];
  /** The number of the progress report that was sent last. */
  const shown = createBoundedMemory<number>(MOST_SHOWN);
  let at = from;

  async function* read(): AsyncGenerator<LiveEvent> {
    for (;;) {
      if (at === undefined) {
        at = await events.newest();
        yield { event: "ready", id: at, data: {} };
      }
      const found = await events.after(at);
      // It is still there: so none after it had been dropped when they were read.
      if (!(await events.isKept(at))) {
        at = await events.newest();
        yield { event: "gap", id: at, data: GAP };
        continue;
      }
      if (found.length === 0) return;
      for (const entry of found) {
        at = entry.id;
        if (isWanted(entry)) yield { event: "operation", id: entry.id, data: shownEntry(entry) };
      }
      passed?.(at);
    }
  }

  async function* readProgress(): AsyncGenerator<LiveEvent> {
    const some = [...changed].slice(0, MOST_PROGRESS);
    for (const logId of some) changed.delete(logId);
    const found = await Promise.all(
      some.map(async (logId) => ({
        record: await operations.find(logId),
        live: await operations.live(logId),
      })),
    );
    for (const { record, live } of found)
      if (record && live.progress && isSent(record.state) && isWanted(record)) {
        const { seq } = live.progress;
        if (shown.get(record.logId) === seq) continue;
        shown.set(record.logId, seq);
        yield { event: "progress", data: { log_id: record.logId, ...live.progress } };
      }
  }

  try {
    while (!signal.aborted) {
      let isAway = false;
      try {
        await mayGoOn?.();
        yield* read();
        yield* readProgress();
        for (const editor of editors) if (sees(editor)) yield { event: "editors", data: { editor } };
        editors.clear();
      } catch (error) {
        if (!isStoreAway(error)) throw error;
        isAway = true;
      }
      if (isAway || changed.size === 0) await bell.rung(LOOK_MS, signal);
    }
  } finally {
    for (const stop of stops) stop();
  }
}

// Wakes a loop that waits: a ring while it does not wait is not lost.

export interface Bell {
  ring(): void;
  /** Resolves at once if it rang since the last time, else with the next ring, after `ms`, or when the signal aborts. */
  rung(ms: number, signal: AbortSignal): Promise<void>;
}

export function createBell(): Bell {
  let hasRung = false;
  let wake: () => void = () => undefined;
  return {
    ring() {
      hasRung = true;
      wake();
    },
    async rung(ms, signal) {
      if (!hasRung && !signal.aborted)
        await new Promise<void>((resolve) => {
          const done = (): void => {
            clearTimeout(timer);
            signal.removeEventListener("abort", done);
            resolve();
          };
          const timer = setTimeout(done, ms);
          signal.addEventListener("abort", done, { once: true });
          wake = done;
        });
      wake = () => undefined;
      hasRung = false;
    },
  };
}
