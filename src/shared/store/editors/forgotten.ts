/**
 * Removes keys of forgotten Editors that have no expiry: their queues with the jobs of ended operations, and diagnoses that
 * a dead worker left. Epoch and mutation counter expire by themselves, long after nothing knows a higher value (keys.ts).
 */

import type { Redis, Result } from "ioredis";
import { isPool } from "../../editors/pool.js";
import { LANES } from "../../tools/tool.js";
import { BULL_PREFIX, keys, queueName } from "../keys.js";
import { bullmq } from "../libraries.js";
import { guard, guarded } from "../schema.js";
import { DIAGNOSIS_STANDS_MS } from "./editors.js";

export interface ForgottenEditors {
  /** The Editors that a worker once owned and that are no longer known, or were never introduced; and pools that are not used any more. */
  ids(): Promise<string[]>;
  /**
   * Removes the rest of such an Editor, some thousand jobs at a time. False: some is left, or it must not be removed now
   * because it is known again, has an owner, or has an operation in flight. In the last case it is put back among the
   * known Editors, so that the janitor ends operations that wait too long.
   */
  remove(editor: string): Promise<boolean>;
  /** Removes diagnoses that are no longer reported. */
  dropDiagnoses(): Promise<void>;
}

/** Jobs of one queue removed in one step. */
const JOBS_AT_ONCE = 1_000;

/** A diagnosis that still holds would have been reported again by now. */
const STALE_MS = 4 * DIAGNOSIS_STANDS_MS;

/**
 * KEYS 1 served Editors, 2 known Editors or, of a pool, pools, 3 lease, 4 open index, 5 editor, 6 catalogue, 7 schema,
 *      8… for each lane the list of its queue's keys: wait, paused, active, prioritized, delayed, completed, failed, others
 * ARGV 1 editor, 2 keys of a queue, 3 those of them that hold job ids, 4 most jobs of a list, 5… the prefix of each queue
 * Answer: 1 when nothing is left, else 0.
 */
const REMOVE = `${guard("KEYS[7]")}
if redis.call('ZSCORE', KEYS[2], ARGV[1]) or redis.call('EXISTS', KEYS[3]) == 1 then return 0 end
if redis.call('EXISTS', KEYS[4]) == 1 then
  local time = redis.call('TIME')
  redis.call('ZADD', KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1])
  return 0
end
local size, lists, most = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local isLeft = false
for queue = 0, (#KEYS - 7) / size - 1 do
  local prefix = ARGV[5 + queue]
  for i = 1, lists do
    local key = KEYS[7 + queue * size + i]
    local isList = redis.call('TYPE', key).ok == 'list'
    local ids = redis.call(isList and 'LRANGE' or 'ZRANGE', key, 0, most - 1)
    for _, id in ipairs(ids) do
      redis.call('DEL', prefix .. id, prefix .. id .. ':lock', prefix .. id .. ':logs')
    end
    if isList then redis.call('LTRIM', key, #ids, -1)
    elseif #ids > 0 then redis.call('ZREMRANGEBYRANK', key, 0, #ids - 1) end
    isLeft = isLeft or redis.call('EXISTS', key) == 1
  end
end
if isLeft then return 0 end
redis.call('DEL', unpack(KEYS, 8))
redis.call('DEL', KEYS[5], KEYS[6])
redis.call('ZREM', KEYS[1], ARGV[1])
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

const WITH_JOB_IDS = ["wait", "paused", "active", "prioritized", "delayed", "completed", "failed"];

/** Every key of a queue except its jobs, from BullMQ's own list. */
function queueKeys(): string[] {
  const all = Object.keys(new (bullmq().QueueKeys)(BULL_PREFIX).getKeys(""));
  return [...WITH_JOB_IDS, ...all.filter((name) => !WITH_JOB_IDS.includes(name))];
}

export function createForgottenEditors(redis: Redis): ForgottenEditors {
  redis.defineCommand("ujbRemoveForgotten", { lua: REMOVE });
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
      const queues = LANES.map((lane) => queueName(editor, lane));
      const names = queueKeys();
      const keyList = [
        ...[keys.served, isPool(editor) ? keys.pools : keys.editors, keys.lease(editor), keys.open(editor)],
        ...[keys.editor(editor), keys.catalog(editor), keys.schema],
        ...queues.flatMap((queue) => names.map((name) => keys.queue(queue, name))),
      ];
      const prefixes = queues.map((queue) => keys.queue(queue, ""));
      const counts = [names.length, WITH_JOB_IDS.length, JOBS_AT_ONCE];
      return (
        (await guarded(
          redis.ujbRemoveForgotten(keyList.length, ...keyList, editor, ...counts, ...prefixes),
        )) === 1
      );
    },

    async dropDiagnoses() {
      await redis.ujbDropDiagnoses(keys.diagnoses, STALE_MS);
    },
  };
}
