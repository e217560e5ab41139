import { defineScript, type Reply } from '../connection/script.js'

/*
 * The keys of a group store, all in one slot:
 *
 *   g   hash: id → `version s|g JSON` (searches or gathers)      p   hash: player → id of the group they gather in
 *   z   sorted set: id by the time until which it is kept        all expire when no group was asked about for long
 */

/** Shared by all: reads the clock of Redis, and forgets groups that nobody asked about, a hundred at most. */
const SWEEP = `
local groups, players, kept = unpack(KEYS)
local gather_ms, search_ms = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function forget(id, record)
  for _, member in ipairs(cjson.decode(string.match(record, '^%d+ [sg] (.*)$')).members) do
    local player = member.player.id
    if redis.call('HGET', players, player) == id then redis.call('HDEL', players, player) end
  end
  redis.call('HDEL', groups, id)
  redis.call('ZREM', kept, id)
end
local function keep(id, state)
  local ms = state == 's' and search_ms or gather_ms
  redis.call('ZADD', kept, now + ms, id)
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, math.max(gather_ms, search_ms) * 2) end
end
for _, id in ipairs(redis.call('ZRANGE', kept, '-inf', now, 'BYSCORE', 'LIMIT', 0, 100)) do
  local record = redis.call('HGET', groups, id)
  if record then forget(id, record) else redis.call('ZREM', kept, id) end
end
local function enter(id, version, state, json)
  redis.call('HSET', groups, id, version .. ' ' .. state .. ' ' .. json)
  if state == 'g' then
    for _, member in ipairs(cjson.decode(json).members) do redis.call('HSET', players, member.player.id, id) end
  end
  keep(id, state)
end
`

/** Version and JSON; null for no group. */
const readFound = (reply: Reply): readonly [version: number, json: string] | undefined => {
  if (reply === null) return undefined
  const [version, json] = reply as readonly [string, string]
  return [Number(version), json]
}

/**
 * Finds a group by its id, or by a player who gathers there, and keeps it longer. Arguments after the times: `id` or
 * `player`, and which.
 */
export const FIND = defineScript({
  name: 'groups.find',
  kind: 'write-if-full',
  lua: `${SWEEP}
local id = ARGV[4]
if ARGV[3] == 'player' then id = redis.call('HGET', players, id) end
local record = id and redis.call('HGET', groups, id)
if not record then return false end
local version, state, json = string.match(record, '^(%d+) ([sg]) (.*)$')
keep(id, state)
return {version, json}
`,
  read: readFound,
})

/** Creates a group at version 1. Arguments after the times: id, JSON, state, most groups. Answer: groups, or -1. */
export const CREATE = defineScript({
  name: 'groups.create',
  lua: `${SWEEP}
local id, json, state, most = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local count = redis.call('HLEN', groups)
if redis.call('HEXISTS', groups, id) == 1 then return count end
if count >= most then return -1 end
enter(id, 1, state, json)
return count + 1
`,
  read: Number,
})

/**
 * Replaces a version, or deletes the group if there is no state. Arguments after the times: id, JSON, state, version.
 * Answer: groups, or -1 if this is not the present version.
 */
export const REPLACE = defineScript({
  name: 'groups.replace',
  kind: 'write-if-full',
  lua: `${SWEEP}
local id, json, state, version = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local record = redis.call('HGET', groups, id)
if not record or string.match(record, '^%d+') ~= version then return -1 end
forget(id, record)
if state ~= '' then enter(id, version + 1, state, json) end
return redis.call('HLEN', groups)
`,
  read: Number,
})
