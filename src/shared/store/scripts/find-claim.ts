/** Finds what a script has claimed whose reply was lost. */
import type { Redis } from "ioredis";
import { keys, queueName } from "../keys.js";
import { readRecord } from "../operations/record.js";
import type { ClaimedOperation } from "../same-process/local-lanes.js";
import type { Claimant } from "./claim.js";
import { WAITING_JOB } from "./job.js";
import { defineScript } from "./script.js";

/**
 * The token of a claim is its own, so the job that is locked with it is the one that was taken. Behind that script on the same connection,
 * so that it has run, or never will.
 *
 * KEYS 3 the list of those that are taken. Answer: applied, log_id, document, mutationSeq, turn, arguments | applied
 */
const FIND_CLAIM = `${WAITING_JOB}
local queue = queueKeys(ask.queue)
for _, id in ipairs(redis.call('LRANGE', KEYS[3], 0, -1)) do
  if redis.call('GET', queue .. id .. ':lock') == ask.token then
    local logId = string.match(id, '%.(.+)$')
    local found = redis.call('HMGET', '${keys.operation("")}' .. logId, 'doc', 'mutationSeq', 'turn', 'arguments')
    if found[1] then return {'applied', logId, found[1], found[2] or '0', found[3] or '0', found[4] or '{}'} end
  end
end
return {'applied'}
`;

export type FindClaim = (claimant: Claimant) => Promise<ClaimedOperation | undefined>;

export function createFindClaim(redis: Redis): FindClaim {
  const run = defineScript(redis, "ujbFindClaim", FIND_CLAIM);
  return async (claimant) => {
    const queue = queueName(claimant.editor, claimant.lane);
    const answer = await run([keys.jobs(queue, "active")], { queue, token: claimant.token });
    const [logId, document, seq, turn, args] = answer.slice(1);
    if (document === undefined) return undefined;
    return { record: readRecord(String(logId), [document, seq, turn]), args: String(args), claimant };
  };
}
