/** ▲5 The last change that an asker made to an Editor: a caller, or any of its principal. */

/** A change, as a later one is compared with it. */
export interface OwnChange {
  /** The Editor's count of changes with it. */
  seq: number;
  /** When it was accepted, ms, store clock; undefined: an older version noted it. */
  acceptedAt: number | undefined;
}

/** Lua: `noteOwnChange` notes a change under keys.askerMutations; what was noted before and is later stays. */
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
