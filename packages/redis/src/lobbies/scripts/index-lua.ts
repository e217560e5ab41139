/**
 * Functions of several scripts, in Lua, that keep the indexes of lobbies. They expect the keys as locals, `members`,
 * `players`, `listing` and `traits`, and the milliseconds for which keys are kept, `keep_ms`.
 */
export const INDEX_LUA = `
local function lines(text)
  return string.gmatch(text, '[^\\n]+')
end

-- A key that was empty for a moment has lost its end.
local function keep(...)
  for _, key in ipairs({...}) do redis.call('PEXPIRE', key, keep_ms) end
end

-- In which lobbies a player is. The text holds one member a line; nothing for a lobby that is gone.
local function index_members(id, text)
  local before = redis.call('HGET', members, id) or ''
  if before == text then return end
  for member in lines(before) do redis.call('ZREM', players, member .. ' ' .. id) end
  for member in lines(text) do redis.call('ZADD', players, 0, member .. ' ' .. id) end
  if text == '' then redis.call('HDEL', members, id) else redis.call('HSET', members, id, text) end
  keep(members, players)
end

-- By which traits a lobby is found. The text holds the free slots and the traits, one a line; nothing if it is not
-- listed.
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
