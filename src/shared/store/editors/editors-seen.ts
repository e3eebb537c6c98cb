/**
 * What a process saw of the Editors a moment ago, in a form that a script can compare: a call may rest on it, because the
 * script that creates its operation refuses if an Editor has come, gone, or changed since.
 */
import { createHash } from "node:crypto";
import { keys } from "../keys.js";

export interface EditorsSeen {
  ids: readonly string[];
  /** SHA-1 of their signs. */
  mark: string;
}

/** Of what a decision depends on: identity, signs of life, the last import, and whether a worker owns it. */
export function signOf(
  id: string,
  [profile, live, imported]: readonly (string | null)[],
  leases: number,
): string {
  return [id, profile ?? "", live ? "1" : "0", imported ?? "", leases].join("\n");
}

/** More are read again for each call. */
const MOST_EDITORS = 16;

export function editorsSeen(editors: readonly { id: string; sign: string }[]): EditorsSeen | undefined {
  if (editors.length > MOST_EDITORS) return undefined;
  const text = editors.map(({ sign }) => sign).join("\n");
  return { ids: editors.map(({ id }) => id), mark: createHash("sha1").update(text).digest("hex") };
}

/** Lua: are these the known Editors, as they were seen? */
export const EDITORS_SEEN = `
local function areAsSeen(seen)
  if redis.call('ZCARD', '${keys.editors}') ~= #seen.ids then return false end
  local signs = {}
  for i, id in ipairs(seen.ids) do
    if not redis.call('ZSCORE', '${keys.editors}', id) then return false end
    local found = redis.call('HMGET', '${keys.editor("")}' .. id, 'profile', 'live', 'imported')
    signs[i] = table.concat({id, found[1] or '', found[2] and '1' or '0', found[3] or '',
      redis.call('EXISTS', '${keys.lease("")}' .. id)}, '\\n')
  end
  return redis.sha1hex(table.concat(signs, '\\n')) == seen.mark
end
`;
