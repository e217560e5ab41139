// pure: shared parts of scripts
/** Checks the fencing token: the start of every script of a leader. KEYS[1] is the epoch, ARGV[1] the token. */
export const FENCE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return redis.error_reply('DEPOSED another leader has taken over, or Redis has lost its data')
end`

/** `now()`: epoch milliseconds as a string. */
export const NOW = `
local function now()
  local t = redis.call('TIME')
  return string.format('%d%03d', t[1], math.floor(t[2] / 1000))
end`

/** Runs a command with many arguments in limited pieces of a list, because Lua can pass only about 8000. */
export const MANY = `
local function many(command, key, list, from, to)
  for i = from, to, 4000 do redis.call(command, key, unpack(list, i, math.min(i + 3999, to))) end
end
local function get(key, list, from, to)
  if to < from then return {} end
  if to - from < 4000 then return redis.call('HMGET', key, unpack(list, from, to)) end
  local all = {}
  for i = from, to, 4000 do
    for _, value in ipairs(redis.call('HMGET', key, unpack(list, i, math.min(i + 3999, to)))) do
      all[#all + 1] = value
    end
  end
  return all
end`

/**
 * `free(key, ticket, from, to)`: removes the ticket from each of the players ARGV[from] to ARGV[to]. A player's entry
 * is the ids of the tickets, separated by spaces.
 */
export const FREE = `
local function free(key, ticket, from, to)
  local entries, gone = get(key, ARGV, from, to), {}
  for i = 1, #entries do
    local player = ARGV[from + i - 1]
    if entries[i] == ticket then
      gone[#gone + 1] = player
    elseif entries[i] then
      local all = ' ' .. (redis.call('HGET', key, player) or '') .. ' '
      local first, last = string.find(all, ' ' .. ticket .. ' ', 1, true)
      if first then
        redis.call('HSET', key, player, string.sub(string.sub(all, 1, first - 1) .. string.sub(all, last), 2, -2))
      end
    end
  end
  many('HDEL', key, gone, 1, #gone)
end`
