import type { Lobby, PublicPage, StoredLobby } from '@muster/relay'
import { defineScript, type Reply } from '../connection/index.js'

/**
 * Shared Lua functions that update the indexes of lobbies. They require the locals `members`, `players`, `listing` and
 * `traits` with keys, and `keep_ms`, the milliseconds for which keys are kept.
 */
const INDEX_LUA = `
local function lines(text)
  return string.gmatch(text, '[^\\n]+')
end

-- A key that was empty for a moment has lost its expiry.
local function keep(...)
  for _, key in ipairs({...}) do redis.call('PEXPIRE', key, keep_ms) end
end

-- Indexes the lobbies by their members. The text has one member per line, and is empty for a lobby that is gone.
local function index_members(id, text)
  local before = redis.call('HGET', members, id) or ''
  if before == text then return end
  for member in lines(before) do redis.call('ZREM', players, member .. ' ' .. id) end
  for member in lines(text) do redis.call('ZADD', players, 0, member .. ' ' .. id) end
  if text == '' then redis.call('HDEL', members, id) else redis.call('HSET', members, id, text) end
  keep(members, players)
end

-- Indexes the lobbies by their traits. The text has the number of free slots and then one trait per line. It is empty
-- for a lobby that is not listed.
local function index_traits(id, number, text)
  local before = redis.call('HGET', listing, id) or ''
  if before == text then return end
  local place = string.format('\\n%016d', number) .. id
  local had, has = string.match(before, '\\n.*') or '', string.match(text, '\\n.*') or ''
  if had ~= has then
    for trait in lines(had) do redis.call('ZREM', traits, trait .. place) end
    for trait in lines(has) do redis.call('ZADD', traits, 0, trait .. place) end
  end
  if text == '' then redis.call('HDEL', listing, id) else redis.call('HSET', listing, id, text) end
  keep(listing, traits)
end
`

/**
 * Stores a lobby at version 1, unless its id or its code is taken. Keys: head, body, codes, due, members, players,
 * listing, traits, last. Arguments: id, code, JSON, due at, members, listing, milliseconds until the store expires.
 * Reply: 1, or 0 if the id or the code is taken.
 */
export const CREATE = defineScript({
  name: 'lobbies.create',
  lua: `
local head, body, codes, due, members, players, listing, traits, last = unpack(KEYS)
local id, code, json, due_at, member_lines, listing_lines, keep_ms = unpack(ARGV)
${INDEX_LUA}
-- The types are checked first, so that another program's key is found before anything is written.
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

/**
 * Finds the due lobbies, and extends the expiry of the store. Each process calls this once a second. Keys: due, then
 * all others of the store. Arguments: now, maximum number of ids, milliseconds until the store expires. Reply: ids, the
 * earliest first.
 */
export const DUE = defineScript({
  name: 'lobbies.due',
  kind: 'write-if-full',
  lua: `
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[3]) end
return ids
`,
  read: (reply) => reply as readonly string[],
})

/**
 * Lists lobbies that have all traits and enough free slots, the newest first. It searches those with the rarest trait.
 * Keys: traits, listing, body. Arguments: number of the previous lobby (all 9 for the first page), maximum lobbies of
 * the page, maximum to examine, free slots, traits. Reply: the number to continue from, or an empty string at the end;
 * then lobbies as JSON.
 */
export const LIST = defineScript({
  name: 'lobbies.list',
  kind: 'read',
  lua: `
local after, most, looks, least = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local rarest, fewest
for i = 5, #ARGV do
  local count = redis.call('ZLEXCOUNT', KEYS[1], '[' .. ARGV[i] .. '\\n', '[' .. ARGV[i] .. '\\n:')
  if not fewest or count < fewest then rarest, fewest = ARGV[i], count end
end
local from, to = '(' .. rarest .. '\\n' .. after, '[' .. rarest .. '\\n'
local places = redis.call('ZREVRANGEBYLEX', KEYS[1], from, to, 'LIMIT', 0, looks)
local page, last = {''}, ''
for i = 1, #places do
  local number, id = string.match(string.sub(places[i], #rarest + 2), '^(%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d)(.*)$')
  local text, json = redis.call('HGET', KEYS[2], id), redis.call('HGET', KEYS[3], id)
  -- The listing or the JSON can be missing only if Redis evicts keys, against our advice.
  text = text and json and text .. '\\n' or '-1\\n'
  local fits = tonumber(string.match(text, '^-?%d+')) >= least
  for k = 5, #ARGV do fits = fits and string.find(text, '\\n' .. ARGV[k] .. '\\n', 1, true) ~= nil end
  if fits and #page > most then
    page[1] = last
    return page
  end
  if fits then page[#page + 1] = json end
  last = number
end
if #places == looks then page[1] = last end
return page
`,
  read: (reply: Reply): PublicPage => {
    const [next = '', ...json] = reply as readonly string[]
    return { lobbies: json.map((text) => JSON.parse(text) as Lobby), next: next === '' ? undefined : next }
  },
})

const readLobby = (reply: Reply): StoredLobby | undefined => {
  if (reply === null) return undefined
  const [head, json] = reply as readonly [string, string]
  return { version: Number.parseInt(head, 10), lobby: JSON.parse(json) as Lobby }
}

/** Reads a lobby. Keys: head, body. Arguments: id. Reply: head and JSON, or nothing. */
export const READ = defineScript({
  name: 'lobbies.get',
  kind: 'read',
  lua: `
local head, json = redis.call('HGET', KEYS[1], ARGV[1]), redis.call('HGET', KEYS[2], ARGV[1])
return head and json and {head, json}
`,
  read: readLobby,
})

/** Reads the lobby that has a code. Keys: head, body, codes. Arguments: code. Reply: head and JSON, or nothing. */
export const READ_BY_CODE = defineScript({
  name: 'lobbies.getByCode',
  kind: 'read',
  lua: `
local id = redis.call('HGET', KEYS[3], ARGV[1])
if not id then return nil end
local head, json = redis.call('HGET', KEYS[1], id), redis.call('HGET', KEYS[2], id)
return head and json and {head, json}
`,
  read: readLobby,
})

/**
 * Deletes a lobby in the version that was read, and frees its code. Keys: head, body, codes, due, members, players,
 * listing, traits, events. Arguments: id, version, maximum number of events, milliseconds until keys expire. Reply: 1,
 * or 0 if the version is not the current one.
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

/**
 * Replaces the version that was read. It works even while Redis is full, because a lobby must be able to close, and to
 * record that a session was ended. Keys: head, body, due, members, players, listing, traits, events. Arguments: id,
 * version, JSON, due at, members, listing, maximum number of events, milliseconds until keys expire. Reply: 1, or 0 if
 * the version is not the current one.
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
