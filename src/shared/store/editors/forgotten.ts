/**
 * Removes keys of forgotten Editors that have no expiry: their queues with the jobs of ended operations, and diagnoses that
 * a dead worker left. Epoch and mutation counter expire by themselves, long after nothing knows a higher value (keys.ts).
 */

import type { Redis, Result } from "ioredis";
import { isPool } from "../../editors/target.js";
import { keys } from "../keys.js";
import type { Queues } from "../queue.js";
import { guard, guarded } from "../schema.js";
import { DIAGNOSIS_STANDS_MS } from "./editors.js";

export interface ForgottenEditors {
  /** The Editors that a worker once owned and that are no longer known, or were never introduced; and pools that are not used any more. */
  ids(): Promise<string[]>;
  /**
   * Removes the rest of such an Editor. False: it must not be removed now
   * because it is known again, has an owner, or has an operation in flight. In the last case it is put back among the
   * known Editors, so that the janitor ends operations that wait too long.
   */
  remove(editor: string): Promise<boolean>;
  /** Removes diagnoses that are no longer reported. */
  dropDiagnoses(): Promise<void>;
}

/** A diagnosis that still holds would have been reported again by now. */
const STALE_MS = 4 * DIAGNOSIS_STANDS_MS;

/**
 * KEYS 1 served Editors, 2 known Editors or, of a pool, pools, 3 lease, 4 open index, 5 editor, 6 catalogue, 7 schema
 * ARGV 1 editor, 2 "1": its queues are gone, so remove the rest. Answer: 1 if nothing stands in the way, else 0
 */
const REMOVE = `${guard("KEYS[7]")}
if redis.call('ZSCORE', KEYS[2], ARGV[1]) or redis.call('EXISTS', KEYS[3]) == 1 then return 0 end
if redis.call('EXISTS', KEYS[4]) == 1 then
  local time = redis.call('TIME')
  redis.call('ZADD', KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1])
  return 0
end
if ARGV[2] == '1' then
  redis.call('DEL', KEYS[5], KEYS[6])
  redis.call('ZREM', KEYS[1], ARGV[1])
end
return 1`;

/** KEYS 1 diagnoses; ARGV 1 the age from which a diagnosis is removed, ms. */
const DROP_DIAGNOSES = `
local time = redis.call('TIME')
local before = time[1] * 1000 + math.floor(time[2] / 1000) - tonumber(ARGV[1])
local diagnoses = redis.call('HGETALL', KEYS[1])
for i = 1, #diagnoses, 2 do
  if cjson.decode(diagnoses[i + 1]).at < before then redis.call('HDEL', KEYS[1], diagnoses[i]) end
end`;

declare module "ioredis" {
  interface RedisCommander<Context> {
    ujbRemoveForgotten(...keysAndArguments: (string | number)[]): Result<0 | 1, Context>;
    ujbDropDiagnoses(diagnoses: string, olderThanMs: number): Result<null, Context>;
  }
}

export function createForgottenEditors(redis: Redis, queues: Pick<Queues, "obliterate">): ForgottenEditors {
  redis.defineCommand("ujbRemoveForgotten", { numberOfKeys: 7, lua: REMOVE });
  redis.defineCommand("ujbDropDiagnoses", { numberOfKeys: 1, lua: DROP_DIAGNOSES });

  return {
    async ids() {
      const [served, ...known] = await Promise.all([
        redis.zrange(keys.served, 0, "-1"),
        redis.zrange(keys.editors, 0, "-1"),
        redis.zrange(keys.pools, 0, "-1"),
      ]);
      const listed = new Set(known.flat());
      return served.filter((editor) => !listed.has(editor));
    },

    async remove(editor) {
      const keyList = [
        ...[keys.served, isPool(editor) ? keys.pools : keys.editors, keys.lease(editor), keys.open(editor)],
        ...[keys.editor(editor), keys.catalog(editor), keys.schema],
      ];
      const mayBe = async (isLast: boolean): Promise<boolean> =>
        (await guarded(redis.ujbRemoveForgotten(...keyList, editor, isLast ? 1 : 0))) === 1;
      if (!(await mayBe(false))) return false;
      // An operation that is accepted for it at this moment gets its job again by the janitor.
      await queues.obliterate(editor);
      return mayBe(true);
    },

    async dropDiagnoses() {
      await redis.ujbDropDiagnoses(keys.diagnoses, STALE_MS);
    },
  };
}
