import { defineScript } from '../connection/script.js'

/** More than anybody has: no bound, and nothing to remember of it. */
export const UNBOUNDED = 1e12

/** What a partition may have from now on. */
export interface Lease {
  /** Names this state of the partition's lease; told at the next ask. */
  readonly version: string
  /** Undefined if the lease is in another state than the asker knows: somebody else asked for the same partition. */
  readonly granted: { readonly servers: number; readonly creates: number } | undefined
}

/**
 * Gives a partition the servers that it has, some ahead, and some creates, as far as the others leave any. Keys: a hash
 * with a field `p:<partition>` of the time, the servers and the creates that it may have; a sorted set of the creates
 * of the last minute. Words: partition, known version, whether the asker is new, servers that exist, servers wanted
 * beside them, most servers, creates planned since it asked last, creates wanted, most creates a minute.
 *
 * A new asker does not know which of the creates were planned that its predecessor had been given, so all count. When
 * Redis has begun anew, nobody gets more than he has until all that live have asked.
 */
export const leaseScript = defineScript<Lease>({
  name: 'spending.lease',
  kind: 'write-if-full',
  lua: `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function text(number) return string.format('%.0f', number) end
local me = 'p:' .. ARGV[1]
local known, isNew, count = ARGV[2], ARGV[3] == '1', tonumber(ARGV[4])
local ahead, most = tonumber(ARGV[5]), tonumber(ARGV[6])
local planned, wanted, mostCreates = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local day, minute, quietFor, unbounded = 86400000000, 60000000, 5000000, ${UNBOUNDED}

local mine, servers, creates, stale = '', 0, 0, {}
local fields = redis.call('HGETALL', KEYS[1])
redis.call('ZCARD', KEYS[2])
for n = 1, #fields, 2 do
  local at, cap, left = string.match(fields[n + 1], '^(%d+) (%d+) (%d+)$')
  if fields[n] == me then
    mine = at
    if isNew then planned = planned + tonumber(left) end
  elseif at and tonumber(at) < now - day then
    stale[#stale + 1] = fields[n]
  elseif at then
    servers = servers + tonumber(cap)
    creates = creates + tonumber(left)
  end
end
if mine ~= known then return {mine, -1, 0} end

local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
if redis.call('HGET', KEYS[1], 'run') ~= run then
  redis.call('HSET', KEYS[1], 'run', run, 'quiet', text(now + quietFor))
end
local quiet = now < tonumber(redis.call('HGET', KEYS[1], 'quiet'))
for _, field in ipairs(stale) do redis.call('HDEL', KEYS[1], field) end

redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', text(now - minute))
if mostCreates >= unbounded then planned = 0 end
for n = 1, planned do redis.call('ZADD', KEYS[2], text(now), text(now) .. '.' .. n .. me) end
local left = mostCreates - redis.call('ZCARD', KEYS[2]) - creates
if quiet then ahead, wanted = 0, 0 end
local cap = math.max(count, math.min(count + ahead, most - servers))
local grant = math.max(0, math.min(wanted, left))
redis.call('HSET', KEYS[1], me, text(now) .. ' ' .. text(cap) .. ' ' .. text(grant))
redis.call('PEXPIRE', KEYS[1], day / 1000)
redis.call('PEXPIRE', KEYS[2], minute / 1000)
return {text(now), cap, grant}`,
  read: (reply) => {
    const [version, servers, creates] = reply as readonly [string, number, number]
    return { version, granted: servers < 0 ? undefined : { servers, creates } }
  },
})
