/** Which events a principal may follow: those of its own operations; with the role "operate" everybody's, without what they said. */
import { isPool } from "../../../shared/editors/target.js";
import { BrokerError } from "../../../shared/errors.js";
import { answerOf, notFound } from "../../../shared/operation/answer.js";
import { hasRole, type Principal } from "../../../shared/principal.js";
import { head } from "../../../shared/printable.js";
import type { Store } from "../../../shared/store/store.js";
import { type Principals, seesEditor, seesEveryEditor } from "../../auth/authenticator.js";
import type { Broker } from "../../broker.js";
import { followAll } from "../../events/event-feed.js";
import { EVENT_ID, type LiveEvent } from "../../events/live-event.js";
import { followOperation, readPlace } from "../../events/operation-stream.js";
import { entryWantedBy } from "../../listing-filter.js";
import { rowOf } from "../routes/list.js";

export interface FollowDeps {
  broker: Pick<Broker, "look" | "operate">;
  /** Undefined: everybody may do everything. */
  principals: Principals | undefined;
  store: Pick<Store, "events" | "operations" | "notifier">;
}

export interface EventFilter {
  tool?: string | undefined;
  editor?: string | undefined;
  state?: string | undefined;
  /** An id, or "*": everybody. Undefined: the caller itself. */
  principal?: string | undefined;
}

/** How a follower reads: until the signal aborts; `passed` hears how far it is. */
export interface Reader {
  from: string | undefined;
  signal: AbortSignal;
  passed?: (id: string) => void;
}

const madeUp = (): BrokerError =>
  new BrokerError("INVALID_ARGUMENTS", "The id of the last event is not one that an event had.");

/** Throws INVALID_ARGUMENTS or FORBIDDEN before the first event. */
export function followedEvents(
  { store, principals }: FollowDeps,
  principal: Principal,
  { principal: whose = principal.id, ...filter }: EventFilter,
): (reader: Reader) => AsyncIterable<LiveEvent> {
  const check = (now: Principal): void => {
    if (whose !== principal.id && !hasRole(now, "operate"))
      throw new BrokerError("FORBIDDEN", 'Others\' operations require the role "operate".');
  };
  check(principal);
  const matches = entryWantedBy(filter);
  return ({ from, signal, passed }) => {
    if (from !== undefined && !EVENT_ID.test(from)) throw madeUp();
    let now = principal;
    const sees = (editor: string): boolean => seesEditor(now)(editor);
    // An Editor that it may not use is unknown to it, and so is what others run there.
    const mayShow = (editor: string): boolean => (isPool(editor) ? seesEveryEditor(now) : sees(editor));
    // What a principal may do can change. That it was revoked, or the file cannot be read, is for the route's guard.
    const mayGoOn = async (): Promise<void> => {
      now = (await principals?.find(principal.id).catch(() => undefined)) ?? now;
      check(now);
    };
    const isWanted = (of: Parameters<typeof matches>[0] & { principal: string }): boolean =>
      (whose === "*" || of.principal === whose) &&
      (of.principal === principal.id || mayShow(of.editor)) &&
      matches(of);
    return followAll(store, { from, isWanted, sees, mayGoOn, passed, signal });
  };
}

export type FollowedOne =
  | { kind: "events"; follow(reader: Reader): AsyncIterable<LiveEvent> }
  /** Its end was received before: there is nothing to follow. */
  | { kind: "over" };

/** Throws NOT_FOUND (invariant 8), or INVALID_ARGUMENTS. */
export async function followedOperation(
  { broker, store }: FollowDeps,
  principal: Principal,
  logId: string,
  from: string | undefined,
): Promise<FollowedOne> {
  const own = await broker.look(principal.id, logId);
  const isOwn = typeof own === "object";
  if (!isOwn && typeof (await broker.operate.read(principal.id, logId)) !== "object") {
    const { message } = notFound(head(logId, 100), own === "retention_ended");
    throw new BrokerError("NOT_FOUND", message);
  }
  const place = from === undefined ? undefined : readPlace(from);
  if (from !== undefined && place === undefined) throw madeUp();
  if (place === "over") return { kind: "over" };
  const read = async (): Promise<unknown> => {
    if (!isOwn) {
      const seen = await broker.operate.read(principal.id, logId);
      return typeof seen === "object"
        ? rowOf({ view: seen, duplicates: 0 }, new Map())
        : notFound(logId, true);
    }
    const view = await broker.look(principal.id, logId);
    return typeof view === "object" ? answerOf(view, { brief: true }) : notFound(logId, true);
  };
  const mayGoOn = async (): Promise<void> => {
    if (!isOwn && (await broker.operate.read(principal.id, logId)) === undefined)
      throw new BrokerError("NOT_FOUND", notFound(logId, false).message);
  };
  return {
    kind: "events",
    follow: ({ signal, passed }) =>
      followOperation(store, { logId, from: place, isOwn, read, mayGoOn, signal, passed }),
  };
}
