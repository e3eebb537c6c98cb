/** What is listed beside the records: operations by principal and by queue, how long a tool took, and what is left of the ended ones. */
import type { Redis } from "ioredis";
import type { OperationRecord } from "../../operation/operation.js";
import { keys } from "../keys.js";
import type { Find } from "./record.js";

export interface Listings {
  /** The principal of an operation whose retention ended, as long as its tombstone exists. */
  tombstone(logId: string): Promise<string | undefined>;
  /** Newest first; `isWanted` chooses among them, and `before` is the last one of an earlier list. */
  listOf(principal: string, limit: number, wanted?: Wanted): Promise<OperationRecord[]>;
  /** Of an Editor or a pool; with `most`, so many of the oldest. */
  openOf(editor: string, most?: number): Promise<OperationRecord[]>;
  /** How long the tool's recent calls took; newest first. */
  durationsOf(tool: string): Promise<RecordedDuration[]>;
}

/** How long a call took, by the Editor that ran it. */
export interface RecordedDuration {
  ms: number;
  /** Undefined: recorded by an earlier version. */
  editor: string | undefined;
}

export interface Wanted {
  isWanted?: (record: OperationRecord) => boolean;
  before?: string | undefined;
}

/** Records read at once while some are looked for. */
const READ = 100;

export function createListings(redis: Redis, find: Find): Listings {
  const findAll = async (logIds: string[]): Promise<OperationRecord[]> =>
    (await Promise.all(logIds.map(find))).filter((record) => record !== undefined);

  return {
    tombstone: async (logId) => (await redis.get(keys.tombstone(logId))) ?? undefined,
    async listOf(principal, limit, { isWanted = () => true, before } = {}) {
      const key = keys.principal(principal);
      // By its rank now: operations that came meanwhile move nothing to another list.
      const rank = before === undefined ? -1 : await redis.zrevrank(key, before);
      if (rank === null) return [];
      const listed: OperationRecord[] = [];
      for (let at = rank + 1; listed.length < limit; ) {
        const count = Math.min(READ, limit - listed.length);
        const logIds = await redis.zrevrange(key, at, at + count - 1);
        listed.push(...(await findAll(logIds)).filter(isWanted));
        at += count;
        if (logIds.length < count) break;
      }
      return listed;
    },
    openOf: async (editor, most = 0) => findAll(await redis.zrange(keys.open(editor), 0, `${most - 1}`)),
    durationsOf: async (tool) => (await redis.lrange(keys.durations(tool), 0, -1)).map(readDuration),
  };
}

/** <ms> <editor id> */
function readDuration(text: string): RecordedDuration {
  const [ms, editor] = text.split(" ");
  return { ms: Number(ms), editor };
}
