import { defineScript } from '../../connection/script.js'
import { INDEX_LUA } from './index-lua.js'

/**
 * Replaces the version that was read. Also done while Redis is full: a lobby must be able to close, and to note that a
 * session was ended.
 * Keys: head, body, due, members, players, listing, traits, events.
 * Arguments: id, version, JSON, due at, members, listing, most events, milliseconds until keys expire.
 * Answer: 1, or 0 if this is not the present version.
 */
export const REPLACE = defineScript({
  name: 'lobbies.replace',
  kind: 'write-if-full',
  lua: `
local head, body, due, members, players, listing, traits, events = unpack(KEYS)
local id, version, json, due_at, member_lines, listing_lines, most_events, keep_ms = unpack(ARGV)
${INDEX_LUA}
local present, number, code = string.match(redis.call('HGET', head, id) or '', '^(%d+) (%d+) (.*)$')
if present ~= version then return 0 end
redis.call('HSET', head, id, (version + 1) .. ' ' .. number .. ' ' .. code)
redis.call('HSET', body, id, json)
redis.call('ZADD', due, due_at, id)
index_members(id, member_lines)
index_traits(id, number, listing_lines)
redis.call('XADD', events, 'MAXLEN', '~', most_events, '*', 'id', id)
keep(events)
return 1
`,
  read: (reply) => reply === 1,
})
