/** Join (▲5): the last change that an asker (a caller, or its whole principal) made to an Editor. */

/** A change, in the form that later ones are compared with. */
export interface OwnChange {
  /** The Editor's count of changes, this one included. */
  seq: number;
  /** When it was accepted, ms, store clock; undefined if an older version recorded it. */
  acceptedAt: number | undefined;
}

/** Lua: `noteOwnChange` records a change under keys.askerMutations, unless a later one is recorded there. */
export const OWN_CHANGE = `
local function noteOwnChange(key, seq, acceptedAt, keptMs)
  local seqBefore, acceptedBefore = string.match(redis.call('GET', key) or '', '^(%d+) ?(%d*)$')
  seq = math.max(tonumber(seq), tonumber(seqBefore) or 0)
  acceptedAt = math.max(tonumber(acceptedAt), tonumber(acceptedBefore) or 0)
  redis.call('SET', key, string.format('%.0f %.0f', seq, acceptedAt), 'PX', keptMs)
end
`;

export function parseOwnChange(text: string | null | undefined): OwnChange | undefined {
  const [, seq, acceptedAt] = /^(\d+) ?(\d*)$/.exec(text ?? "") ?? [];
  return seq === undefined
    ? undefined
    : { seq: Number(seq), acceptedAt: acceptedAt ? Number(acceptedAt) : undefined };
}
