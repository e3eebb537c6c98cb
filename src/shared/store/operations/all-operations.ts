/** The operations of several principals as one list, newest first, for operators: it is merged as it is read. */
import type { Redis } from "ioredis";
import type { OperationRecord } from "../../operation/operation.js";
import { keys } from "../keys.js";
import type { Find } from "./record.js";

export interface Search {
  /** Left out: everybody's. */
  principals?: readonly string[] | undefined;
  isWanted?: (record: OperationRecord) => boolean;
  /** `next` of the list before. */
  cursor?: ListCursor | undefined;
  /** None that were accepted later, or earlier, ms since the epoch. */
  until?: number | undefined;
  since?: number | undefined;
  /** Most that are found. */
  limit: number;
  /** Most that are looked at, so that a search for something rare ends: `next` goes on from there. */
  mostSearched?: number;
}

/** The last operation of a list, in its order. */
export interface ListCursor {
  acceptedAt: number;
  logId: string;
}

export interface Found {
  records: OperationRecord[];
  /** How many were looked at. */
  searched: number;
  /** Absent: there are no more. */
  next?: ListCursor;
}

export interface AllOperations {
  /** Newest first; operations that are accepted meanwhile move nothing to another list. */
  search(wanted: Search): Promise<Found>;
}

/** Log_ids, and records, read at once. */
const READ = 100;
const MOST_SEARCHED = 5_000;

export function createAllOperations(redis: Redis, find: Find): AllOperations {
  /** Of one principal. Operations of the same time are ordered by their log_ids, as Redis orders them. */
  async function* listed(principal: string, { cursor, since, until }: Search): AsyncGenerator<ListCursor> {
    const from = Math.min(cursor?.acceptedAt ?? Number.POSITIVE_INFINITY, until ?? Number.POSITIVE_INFINITY);
    for (let at = 0; ; at += READ) {
      const found = await redis.zrevrangebyscore(
        keys.principal(principal),
        from === Number.POSITIVE_INFINITY ? "+inf" : `${from}`,
        `${since ?? "-inf"}`,
        "WITHSCORES",
        "LIMIT",
        at,
        READ,
      );
      for (let i = 0; i < found.length; i += 2) {
        const one = { logId: found[i] ?? "", acceptedAt: Number(found[i + 1]) };
        if (!cursor || isOlder(one, cursor)) yield one;
      }
      if (found.length < 2 * READ) return;
    }
  }

  async function* merged(wanted: Search): AsyncGenerator<ListCursor> {
    const principals = wanted.principals ?? (await redis.zrange(keys.principals, 0, "-1"));
    const lists = await Promise.all(
      principals.map(async (principal) => {
        const rest = listed(principal, wanted);
        return { rest, first: (await rest.next()).value as ListCursor | undefined };
      }),
    );
    for (;;) {
      const newest = lists.reduce<(typeof lists)[number] | undefined>(
        (best, list) => (list.first && (!best?.first || isOlder(best.first, list.first)) ? list : best),
        undefined,
      );
      if (!newest?.first) return;
      yield newest.first;
      newest.first = (await newest.rest.next()).value as ListCursor | undefined;
    }
  }

  return {
    async search(wanted) {
      const { isWanted = () => true, limit, mostSearched = MOST_SEARCHED } = wanted;
      const records: OperationRecord[] = [];
      let searched = 0;
      let last: ListCursor | undefined;
      const entries = merged(wanted);
      for (;;) {
        const some: ListCursor[] = [];
        const most = Math.min(READ, mostSearched - searched);
        while (some.length < most) {
          const { value } = await entries.next();
          if (!value) break;
          some.push(value as ListCursor);
        }
        const read = await Promise.all(some.map(({ logId }) => find(logId)));
        for (const [at, record] of read.entries()) {
          searched += 1;
          last = some[at];
          if (record && isWanted(record)) records.push(record);
          if (records.length === limit) return { records, searched, ...(last ? { next: last } : {}) };
        }
        if (some.length < READ && searched < mostSearched) return { records, searched };
        if (searched >= mostSearched) return { records, searched, ...(last ? { next: last } : {}) };
      }
    },
  };
}

function isOlder(one: ListCursor, other: ListCursor): boolean {
  return one.acceptedAt === other.acceptedAt ? one.logId < other.logId : one.acceptedAt < other.acceptedAt;
}
