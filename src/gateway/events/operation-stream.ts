/**
 * One operation as a stream: a snapshot, what happens to it, how far it is, and its end. The id of each event is a place in
 * all of that, so any gateway goes on from it without a gap and without a repetition. No event holds a result: it is read
 * where its delivery is noted (▲6).
 */
import { createHash } from "node:crypto";
import { isFinal } from "../../shared/operation/operation.js";
import { isStoreAway } from "../../shared/store/connect.js";
import type { Store } from "../../shared/store/store.js";
import { createBell } from "./event-feed.js";
import { EVENT_ID, GAP, type LiveEvent, LOOK_MS, shownEntry } from "./live-event.js";

/** What a follower has received. */
interface Place {
  /** Of the stream of events. */
  entry: string;
  /** The number of the last progress report, and of the last Console line. */
  progress: number;
  line: number;
  /** Of the last partial result. */
  partial: string;
}

/** After the answer nothing follows. */
const OVER = ".ended";

/** `<entry>.<progress>.<line>.<partial>`; "over": the answer was received; undefined if a client made it up. */
export function readPlace(id: string): Place | "over" | undefined {
  if (id.endsWith(OVER)) return "over";
  const [entry = "", progress = "", line = "", partial = "", ...rest] = id.split(".");
  const isWhole =
    [progress, line].every((part) => /^\d{1,15}$/.test(part)) && /^[0-9a-f]{0,16}$/.test(partial);
  if (!EVENT_ID.test(entry) || !isWhole || rest.length > 0) return undefined;
  return { entry, progress: Number(progress), line: Number(line), partial };
}

const idOf = ({ entry, progress, line, partial }: Place): string => `${entry}.${progress}.${line}.${partial}`;

export interface FollowedOperation {
  logId: string;
  /** Undefined: from a snapshot on. */
  from?: Place | undefined;
  /** With partial results and Console lines, which are for its own principal. */
  isOwn: boolean;
  /** The operation as it is now, without its result. */
  read(): Promise<unknown>;
  /** As in event-feed.ts. */
  mayGoOn?: (() => Promise<void>) | undefined;
  signal: AbortSignal;
  /** As in event-feed.ts. */
  passed?: ((id: string) => void) | undefined;
}

/** Ends with the operation. While Redis is away it waits. */
export async function* followOperation(
  { events, operations, notifier }: Pick<Store, "events" | "operations" | "notifier">,
  { logId, from, isOwn, read, mayGoOn, signal, passed }: FollowedOperation,
): AsyncGenerator<LiveEvent> {
  const bell = createBell();
  const mine = (changed: string): void => {
    if (changed === logId) bell.ring();
  };
  const stops = [notifier.on("changed", mine, bell.ring), notifier.on("ended", mine, bell.ring)];
  const place: Place = from ? { ...from } : { entry: "", progress: 0, line: 0, partial: "" };
  const make = (event: LiveEvent["event"], data: unknown): LiveEvent => ({ event, id: idOf(place), data });
  async function* happened(): AsyncGenerator<LiveEvent> {
    for (;;) {
      const found = await events.after(place.entry);
      if (!(await events.isKept(place.entry))) {
        place.entry = await events.newest();
        yield make("gap", GAP);
        yield make("snapshot", await read());
        return;
      }
      if (found.length === 0) return;
      for (const entry of found) {
        place.entry = entry.id;
        if (entry.logId === logId) yield make("operation", shownEntry(entry));
      }
      passed?.(idOf(place));
    }
  }

  async function* said(): AsyncGenerator<LiveEvent> {
    const { progress, partialResult } = await operations.live(logId);
    if (progress && progress.seq > place.progress) {
      place.progress = progress.seq;
      yield make("progress", progress);
    }
    if (!isOwn) return;
    const text = partialResult === undefined ? "" : JSON.stringify(partialResult);
    const partial = text && createHash("sha256").update(text).digest("hex").slice(0, 16);
    if (partial && partial !== place.partial) {
      place.partial = partial;
      yield make("partial", { partial_result: partialResult });
    }
    for (;;) {
      const { lines, next, missed, more } = await operations.linesAfter(logId, place.line);
      place.line = next;
      if (lines.length > 0) yield make("log", { lines, ...(missed ? { missed } : {}) });
      if (!more) return;
    }
  }

  try {
    let isNew = from === undefined;
    while (!signal.aborted) {
      try {
        await mayGoOn?.();
        if (isNew) {
          place.entry = await events.newest();
          yield make("snapshot", await read());
          isNew = false;
        }
        // Before the events: what ends later is read the next time.
        const record = await operations.find(logId);
        const hasEnded = !record || isFinal(record.state);
        // After it was read: an end is shown to nobody whose right had ended before.
        await mayGoOn?.();
        yield* happened();
        yield* said();
        if (hasEnded) {
          const ended = make("ended", await read());
          yield { ...ended, id: `${ended.id}${OVER}` };
          return;
        }
      } catch (error) {
        if (!isStoreAway(error)) throw error;
      }
      await bell.rung(LOOK_MS, signal);
    }
  } finally {
    for (const stop of stops) stop();
  }
}
