/**
 * The events of all operations, in the order in which they happened: one stream, written by the scripts that write the
 * records, in the same step. So an event exists exactly if its change does, whichever process made it, and who follows
 * reads on from an id, at any gateway. What changes often and matters only as it is now (progress, partial results, Console
 * lines) is not in it.
 */
import type { Redis } from "ioredis";
import type { State } from "../../operation/operation.js";
import type { OperationEventName } from "../../operation/operation-event.js";
import { keys } from "../keys.js";

/** About how many are kept. */
const EVENTS_KEPT = 10_000;
/** Most that are read at once. */
const MOST_READ = 500;

export interface OperationEventEntry {
  /** Its place in the stream: `<ms>-<number>`; later ones are larger. */
  id: string;
  /** ms since the epoch, store clock. */
  at: number;
  event: OperationEventName;
  logId: string;
  state: State;
  principal: string;
  editor: string;
  tool: string;
}

/** An id before every event of a stream. */
export const BEFORE_ALL = "0-0";

export interface Events {
  /** The id of the newest event. */
  newest(): Promise<string>;
  /** Those after an id, oldest first, at most 500. */
  after(id: string): Promise<OperationEventEntry[]>;
  /** Is nothing after this id lost? Not if the event itself is not kept any more, or was never here. */
  isKept(id: string): Promise<boolean>;
}

/** Lua, in the scripts that write records. The stream lives for `retention` after the last event, at the least. */
export const NOTE_EVENT = `
local function noteEvent(event, state, logId, principal, editor, tool, retention)
  redis.call('XADD', '${keys.events}', 'MAXLEN', '~', ${EVENTS_KEPT}, '*', 'event', event, 'state', state, 'log_id', logId,
    'principal', principal, 'editor', editor, 'tool', tool)
  keepAtLeast('${keys.events}', retention)
end
`;

export function createEvents(redis: Redis): Events {
  return {
    async newest() {
      const [last] = await redis.xrevrange(keys.events, "+", "-", "COUNT", 1);
      return last?.[0] ?? BEFORE_ALL;
    },
    async after(id) {
      return (await redis.xrange(keys.events, `(${id}`, "+", "COUNT", MOST_READ)).map(readEntry);
    },
    async isKept(id) {
      // Redis drops none before there are more than so many, and then leaves so many at least.
      if (id === BEFORE_ALL) return (await redis.xlen(keys.events)) < EVENTS_KEPT;
      return (await redis.xrange(keys.events, id, id)).length > 0;
    },
  };
}

/** As Redis answers it. */
function readEntry([id, fields]: [string, string[]]): OperationEventEntry {
  const field = (name: string): string => fields[fields.indexOf(name) + 1] ?? "";
  return {
    id,
    at: Number(id.split("-")[0]),
    event: field("event") as OperationEventName,
    logId: field("log_id"),
    state: field("state") as State,
    principal: field("principal"),
    editor: field("editor"),
    tool: field("tool"),
  };
}
