/**
 * Lua, for the script in apply.ts: how long what it writes beside a record is kept, and which links of a chain go. With
 * them nothing that the script writes stays for ever (docs/store.md).
 */

/** Of a chain, with each new operation: each adds two at most, so those that lead nowhere stay a small part. */
const LINKS_LOOKED_AT = 8;

/**
 * `keepFor`: without end while `inFlight`, else for so long. `dropEndedLinks`: looks at some of a chain's links, and
 * removes those whose record is gone: nobody finds anything by them. `records`: the prefix of the records' keys.
 */
export const LIFETIME = `
local function keepFor(key, ms, inFlight)
  if inFlight then redis.call('PERSIST', key) else redis.call('PEXPIRE', key, ms) end
end
local function dropEndedLinks(chain, records)
  local links = redis.call('HRANDFIELD', chain, ${LINKS_LOOKED_AT}, 'WITHVALUES')
  for i = 1, #links, 2 do
    local kind = string.match(links[i], '^(%a+):')
    if (kind == 'forced' or kind == 'at' or kind == 'began') and redis.call('EXISTS', records .. links[i + 1]) == 0 then
      redis.call('HDEL', chain, links[i])
    end
  end
end
`;
