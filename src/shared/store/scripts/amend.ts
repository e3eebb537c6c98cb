/** Changes the record of an operation that has ended: who received its outcome, and who asked for it. */
import type { Redis } from "ioredis";
import type { OperationRecord } from "../../operation/operation.js";
import { INCARNATION } from "../incarnation.js";
import { keys } from "../keys.js";
import { type Answer, defineScript, IN_INCARNATION, ownedBy } from "./script.js";

/**
 * KEYS 3 chain, 4 operation, 5 lease; ARGV 2 the record JSON that was read, 3 the new one
 * Answer: applied | incarnation | conflict | not_owner
 */
const AMEND = `${INCARNATION}${IN_INCARNATION}
if redis.call('HGET', KEYS[4], 'doc') ~= ARGV[2] then return {'conflict'} end
${ownedBy("KEYS[5]")}
redis.call('HSET', KEYS[4], 'doc', ARGV[3])
-- A chain that has run out is not begun again.
if redis.call('EXISTS', KEYS[3]) == 1 then redis.call('HINCRBY', KEYS[3], 'version', 1) end
return {'applied'}
`;

/** `expected`: the record as it was read. */
export type Amend = (
  record: OperationRecord,
  texts: { expected: string; text: string },
  only: { fence?: string | undefined; incarnation?: string | undefined },
) => Promise<Answer>;

export function createAmend(redis: Redis): Amend {
  const run = defineScript(redis, "ujbAmend", AMEND);
  return ({ hash, logId, editor }, { expected, text }, { fence, incarnation }) =>
    run(
      [keys.chain(hash), keys.operation(logId), keys.lease(editor)],
      { ownerNonce: fence, incarnation },
      expected,
      text,
    );
}
