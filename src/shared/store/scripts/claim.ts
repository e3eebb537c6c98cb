/**
 * The claim of a waiting operation by a script: by the one that creates it, if its Editor's owner is in the same process and its
 * lane is idle, and by the one that ends the operation before it in the lane. Else the owner claims it by a transition of
 * its own (src/worker/execution/claims.ts). The rules are those of that claim.
 */
import { LANE_PLACES, type Lane } from "../../tools/tool.js";
import { channels, keys, queueName } from "../keys.js";
import { FAIR_PRIORITY } from "../operations/fair-priority.js";
import { PRINCIPAL_LIMIT } from "../operations/principal-limits.js";
import { RESOURCE_LIMIT } from "../operations/resource-limits.js";
import { NEXT_JOB, TAKE_JOB, WAITING_JOB } from "./job.js";

/** What an owner claims with. */
export interface Claimant {
  editor: string;
  lane: Lane;
  /** Fence (▲11): the owner's nonce, compared with the lease. */
  fence: string;
  /** Resubmission (▲12): the Editor session that will be asked; it is stored before the first byte leaves. */
  session: string;
  /** Store incarnation (▲13) in which the Editor's operations were imported. */
  incarnation: string;
  /** BullMQ's lock on the job, and its duration, ms. */
  token: string;
  lockMs: number;
}

const WAITING = '{"state":"queued",';

/** The document of a waiting operation after its claim, as the script writes it. */
export function claimedDocument(document: string, { session }: Claimant, now: number): string {
  return `${claimedState(String(now), JSON.stringify(session))}${document.slice(WAITING.length)}`;
}

const claimedState = (now: string, session: string): string =>
  `{"state":"dispatched","dispatchedAt":${now},"sentIn":${session},`;

/** As the scripts read it. */
export function claimOf(claimant: Claimant): Record<string, unknown> {
  const { editor, lane, session } = claimant;
  const queue = queueName(editor, lane);
  return { ...claimant, session: JSON.stringify(session), queue, places: LANE_PLACES[lane] };
}

/**
 * Lua. `claimed`: a document after the claim; nil if its operation does not wait. `mayClaim`: does the claimant own the
 * Editor (▲11), in the present incarnation (▲13), and has its lane room?
 */
export const CLAIM = `${FAIR_PRIORITY}${PRINCIPAL_LIMIT}${RESOURCE_LIMIT}${WAITING_JOB}${TAKE_JOB}${NEXT_JOB}
local function claimed(document, claim, now)
  if string.sub(document, 1, ${WAITING.length}) ~= '${WAITING}' then return nil end
  return '${claimedState("' .. string.format('%.0f', now) .. '", "' .. claim.session .. '")}' .. string.sub(document, ${WAITING.length + 1})
end
local function mayClaim(claim, incarnation)
  return redis.call('GET', '${keys.lease("")}' .. claim.editor) == claim.fence and incarnation == claim.incarnation
    and hasPlace(queueKeys(claim.queue), claim.places)
end
`;

/**
 * Lua, after NOTE_EVENT: claims the next operation of the claimant's lane, with its job. Answers log_id, document, mutationSeq, turn and arguments; nil if
 * there is none that may be claimed here: BullMQ's worker takes the job then, and the owner decides.
 */
export const CLAIM_NEXT = `
local function claimNext(claim, now, max, resources, retention)
  local queue = queueKeys(claim.queue)
  local id = nextJob(queue, now)
  local logId = id and string.match(id, '%.(.+)$')
  if not logId then return nil end
  local key = '${keys.operation("")}' .. logId
  local found = redis.call('HMGET', key, 'doc', 'mutationSeq', 'turn', 'arguments')
  if not found[1] or not found[4] then return nil end
  local record, turn = cjson.decode(found[1]), tonumber(found[3] or 0)
  local document = claimed(found[1], claim, math.max(now, record.acceptedAt))
  if not document then return nil end
  if record.hash .. '.' .. logId ~= id or record.editor ~= claim.editor or record.lane ~= claim.lane then return nil end
  -- One of a pool may have been taken by another Editor, in a write that the store lost (▲13).
  if record.pool and record.incarnation ~= claim.incarnation then return nil end
  -- No plain claim: its cancellation was requested, another operation answers for it (▲10 b), or it was sent before.
  if record.cancel or record.executedAs or record.sentIn then return nil end
  if not mayBeSent(logId, record.principal, claim.queue, turn, record.acceptedAt, max) then return nil end
  if not mayUse(logId, claim.editor, resources, claim.queue, turn, record.acceptedAt) then return nil end
  redis.call('ZREM', queue .. 'prioritized', id)
  takeJob(queue, id, claim, now)
  noteSent(logId, record.principal, claim.editor)
  noteUsed(logId, claim.editor, resources)
  turnCame('${keys.turns("")}' .. claim.queue, turn, retention)
  local chain = '${keys.chain("")}' .. record.hash
  redis.call('HSETNX', chain, 'newest', logId)
  redis.call('HINCRBY', chain, 'version', 1)
  redis.call('PERSIST', chain)
  -- The record last: with a job that could not be taken it waits.
  redis.call('HSET', key, 'doc', document)
  noteEvent('sent', 'dispatched', logId, record.principal, record.editor, record.tool, retention)
  redis.call('PUBLISH', '${channels.changed}', logId)
  return {logId, document, found[2] or '0', found[3] or '0', found[4]}
end
`;
