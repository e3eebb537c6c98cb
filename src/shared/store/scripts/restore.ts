/** Puts back the record of an operation that was sent, and that the store had lost: record recovery (▲10 d). */
import type { Redis } from "ioredis";
import { countsAsChange, type OperationRecord } from "../../operation/operation.js";
import { keys, queueName } from "../keys.js";
import { type Answer, defineScript, type Limits, ownedBy, resourcesFor } from "../operations/limits.js";
import { beganAs, documentOf, targetsOf } from "../operations/record.js";

/**
 * KEYS 3 chain, 4 operation, 5 tombstone, 6 the principal's operations, 7 open, 8 mutations, 9 the caller's, 10 the
 *      principal's, 11 lease, 12 turns, 13 the principal's hashes
 * ARGV 2 record JSON
 * Answer: applied | incarnation | conflict | chain_lost | not_owner
 */
const RESTORE = `
local logId, retention = ask.logId, ask.retentionMs
local chain = readChain(KEYS[3])
if (chain and chain.version or '0') ~= ask.version then return {'conflict'} end
if isChainLost(chain, KEYS[13], ask.hash, ask.acceptedAt, retention) then return {'chain_lost'} end
${ownedBy("KEYS[11]")}
local seq = countChange(ask.isChange, KEYS[8], {KEYS[9], KEYS[10]}, ask.acceptedAt, 3 * retention)
local turn = takeTurn(KEYS[12], KEYS[7], waitingOf(ask.principal), ask.principal, ask.priorityClass)
turnCame(KEYS[12], turn, retention)
redis.call('HSET', KEYS[4], 'doc', ARGV[2], 'mutationSeq', seq, 'turn', turn)
-- It displaces no later operation of its chain.
chain = chain or {version = ask.version}
link(chain, 'newest', logId, ask.isNewest)
for _, target in ipairs(ask.targets) do link(chain, 'at:' .. target, logId, ask.isNewest) end
if ask.supersedes then link(chain, 'forced:' .. ask.supersedes, logId, ask.isNewest) end
dropEndedLinks(chain, string.sub(KEYS[4], 1, -#logId - 1))
noteBegun(chain)
writeChain(KEYS[3], chain)
noteHash(KEYS[13], ask.hash, ask.acceptedAt, retention)
redis.call('SET', KEYS[5], ask.principal)
redis.call('ZADD', KEYS[6], ask.acceptedAt, logId)
redis.call('ZREMRANGEBYSCORE', KEYS[6], '-inf', ask.acceptedAt - 3 * retention)
redis.call('ZADD', KEYS[7], ask.acceptedAt, logId)
noteSent(logId, ask.principal, ask.editor, limitsOn(ask.principal, ask.editor, ask.labels))
for _, key in ipairs({KEYS[6], KEYS[8]}) do redis.call('PERSIST', key) end
redis.call('ZADD', '${keys.principals}', storeTime(), ask.principal)
keepAtLeast('${keys.principals}', 3 * retention)
noteEvent('restored', ask.state, logId, ask.principal, ask.editor, ask.tool, retention)
return {'applied'}
`;

/** What an Editor says of an operation that the store has lost. */
export interface KnownOfLost {
  /** What entered the chain before it; left out: the one that it names. */
  before?: ReadonlySet<string>;
  /** The Editor's labels, whose profile may be lost too. */
  labels?: readonly string[] | undefined;
}

/** `version`: that of the chain which was read. `isNewest`: no operation of the chain is newer. */
export type Restore = (
  record: OperationRecord,
  chain: { version: string; isNewest: boolean },
  only: { fence: string; incarnation: string },
  /** Those of its Editor, whose profile the store may have lost too. */
  labels?: readonly string[],
) => Promise<Answer>;

export function createRestore(redis: Redis, { retentionMs, resources }: Limits): Restore {
  const run = defineScript(redis, "ujbRestore", RESTORE);
  return (record, chain, { fence, incarnation }, labels) => {
    const { logId, editor, principal, createdBy } = record;
    return run(
      [
        keys.chain(record.hash),
        keys.operation(logId),
        keys.tombstone(logId),
        keys.principal(principal),
        keys.open(editor),
        keys.mutations(editor),
        keys.askerMutations(editor, createdBy.caller ?? principal),
        keys.askerMutations(editor, principal),
        keys.lease(editor),
        keys.turns(queueName(editor, record.lane)),
        keys.hashes(principal),
      ],
      {
        ...chain,
        hash: record.hash,
        logId,
        editor,
        principal,
        acceptedAt: record.acceptedAt,
        supersedes: record.supersedes,
        isChange: countsAsChange(record),
        priorityClass: record.priorityClass ?? "interactive",
        began: beganAs(record),
        targets: targetsOf(record),
        ownerNonce: fence,
        incarnation,
        labels,
        state: record.state,
        tool: record.tool,
        resources: resourcesFor(record.lane, resources),
        retentionMs,
      },
      documentOf(record),
    );
  };
}
