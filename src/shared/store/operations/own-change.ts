/** Join (▲5): the last change that an asker (a caller, or its whole principal) made to an Editor. */

/** A change, in the form that later ones are compared with. */
export interface OwnChange {
  /** The Editor's count of changes, this one included. */
  seq: number;
  /** When it was accepted, ms, store clock. */
  acceptedAt: number;
}

/**
 * Lua: `noteOwnChange` records a change under keys.askerMutations, unless a later one is recorded there. `countChange`
 * counts a new operation if it is a change, notes it for its askers, and answers the Editor's count.
 */
export const OWN_CHANGE = `
local function noteOwnChange(key, seq, acceptedAt, keptMs)
  local seqBefore, acceptedBefore = string.match(redis.call('GET', key) or '', '^(%d+) (%d+)$')
  seq = math.max(tonumber(seq), tonumber(seqBefore) or 0)
  acceptedAt = math.max(tonumber(acceptedAt), tonumber(acceptedBefore) or 0)
  redis.call('SET', key, string.format('%.0f %.0f', seq, acceptedAt), 'PX', keptMs)
end
local function countChange(isChange, counter, askers, acceptedAt, keptMs)
  if not isChange then return tonumber(redis.call('GET', counter) or '0') end
  local seq = redis.call('INCR', counter)
  for _, key in ipairs(askers) do noteOwnChange(key, seq, acceptedAt, keptMs) end
  return seq
end
`;

export function parseOwnChange(text: string | null | undefined): OwnChange | undefined {
  const [, seq, acceptedAt] = /^(\d+) (\d+)$/.exec(text ?? "") ?? [];
  return seq === undefined ? undefined : { seq: Number(seq), acceptedAt: Number(acceptedAt) };
}
