import { defineScript } from '../../connection/script.js'
import { INDEX_LUA } from './index-lua.js'

/**
 * Deletes a lobby in the version that was read, and frees its code.
 * Keys: head, body, codes, due, members, players, listing, traits, events.
 * Arguments: id, version, most events, milliseconds until keys expire.
 * Answer: 1, or 0 if this is not the present version.
 */
export const REMOVE = defineScript({
  name: 'lobbies.delete',
  kind: 'write-if-full',
  lua: `
local head, body, codes, due, members, players, listing, traits, events = unpack(KEYS)
local id, version, most_events, keep_ms = unpack(ARGV)
${INDEX_LUA}
local present, number, code = string.match(redis.call('HGET', head, id) or '', '^(%d+) (%d+) (.*)$')
if present ~= version then return 0 end
index_members(id, '')
index_traits(id, number, '')
redis.call('HDEL', head, id)
redis.call('HDEL', body, id)
redis.call('HDEL', codes, code)
redis.call('ZREM', due, id)
redis.call('XADD', events, 'MAXLEN', '~', most_events, '*', 'id', id)
keep(events)
return 1
`,
  read: (reply) => reply === 1,
})
