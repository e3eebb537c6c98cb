/** What is listed beside the records: operations by principal and by queue, how long a tool took, and what is left of the ended ones. */
import type { Redis } from "ioredis";
import type { RecordedDuration } from "../../operation/estimate.js";
import type { OperationRecord } from "../../operation/operation.js";
import { keys } from "../keys.js";
import type { Find } from "./record.js";

export interface Listings {
  /** The principal of an operation whose retention ended, as long as its tombstone exists. */
  tombstone(logId: string): Promise<string | undefined>;
  /** Newest first. */
  listOf(principal: string, limit: number): Promise<OperationRecord[]>;
  /** Of an Editor or a pool; with `most`, so many of the oldest. */
  openOf(editor: string, most?: number): Promise<OperationRecord[]>;
  /** How long the tool's recent calls took; newest first. */
  durationsOf(tool: string): Promise<RecordedDuration[]>;
}

export function createListings(redis: Redis, find: Find): Listings {
  const findAll = async (logIds: string[]): Promise<OperationRecord[]> =>
    (await Promise.all(logIds.map(find))).filter((record) => record !== undefined);

  return {
    tombstone: async (logId) => (await redis.get(keys.tombstone(logId))) ?? undefined,
    listOf: async (principal, limit) =>
      findAll(await redis.zrevrange(keys.principal(principal), 0, limit - 1)),
    openOf: async (editor, most = 0) => findAll(await redis.zrange(keys.open(editor), 0, `${most - 1}`)),
    durationsOf: async (tool) => (await redis.lrange(keys.durations(tool), 0, -1)).map(readDuration),
  };
}

/** <ms> <editor id> */
function readDuration(text: string): RecordedDuration {
  const [ms, editor] = text.split(" ");
  return { ms: Number(ms), editor };
}
