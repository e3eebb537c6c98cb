/**
 * Lua, for the scripts that write operations: sets the lifetime of the keys beside a record, and drops links of a chain.
 * With these nothing that the script writes stays for ever (docs/reference/store.md).
 */

/** Links checked per new operation. Each operation adds at most two, so dead links stay a small part. */
const LINKS_LOOKED_AT = 8;

/**
 * `keepFor`: without expiry while `inFlight`, else for `ms`. `dropEndedLinks`: checks some of a chain's links and removes
 * those whose record is gone, since they lead nowhere. `records`: the prefix of the records' keys.
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
