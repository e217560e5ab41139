import { defineScript } from '../../connection/script.js'
import { INDEX_LUA } from './index-lua.js'

/**
 * Stores a lobby at version 1, unless its id or its code is taken.
 * Keys: head, body, codes, due, members, players, listing, traits, last.
 * Arguments: id, code, JSON, due at, members, listing, milliseconds until the store expires.
 * Answer: 1, or 0 if the id or the code is taken.
 */
export const CREATE = defineScript({
  name: 'lobbies.create',
  lua: `
local head, body, codes, due, members, players, listing, traits, last = unpack(KEYS)
local id, code, json, due_at, member_lines, listing_lines, keep_ms = unpack(ARGV)
${INDEX_LUA}
-- So that another program's key is found before anything is written.
local types = {'hash', 'hash', 'hash', 'zset', 'hash', 'zset', 'hash', 'zset', 'string'}
for i, key in ipairs(KEYS) do
  local found = redis.call('TYPE', key).ok
  if found ~= 'none' and found ~= types[i] then return redis.error_reply('WRONGTYPE another program uses this key') end
end
if redis.call('HEXISTS', head, id) == 1 or redis.call('HEXISTS', codes, code) == 1 then return 0 end
local number = redis.call('INCR', last)
redis.call('HSET', head, id, '1 ' .. number .. ' ' .. code)
redis.call('HSET', body, id, json)
redis.call('HSET', codes, code, id)
redis.call('ZADD', due, due_at, id)
index_members(id, member_lines)
index_traits(id, number, listing_lines)
keep(unpack(KEYS))
return 1
`,
  read: (reply) => reply === 1,
})
