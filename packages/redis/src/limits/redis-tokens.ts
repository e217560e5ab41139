import { type RedisConnection, defineScript } from '../connection/index.js'
import type { LimitTimes, TokenGrant, TokenStore } from './token-store.js'

/**
 * A token bucket in Redis. One sorted set holds a limit's used tokens, each by the time at which it is free again, in
 * microseconds of Redis' clock. Its first member, `run:…` at 0, names the run of Redis that wrote it. A new run, or a
 * replica that takes over, may have lost the last writes, so it does not trust the set and treats every token as used.
 *
 * A hash holds the effects of the last 429: its time, the end of the pause of all processes, and the lowered rate.
 */
const SET = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local lifetime = 604800000 -- a week, so that a limit that was not used for days need not begin anew
local function text(number) return string.format('%.0f', number) end
local function reset(key, run, limit, cold)
  redis.call('DEL', key)
  redis.call('ZADD', key, 0, run)
  for n = 1, limit do redis.call('ZADD', key, text(now + cold), 'cold:' .. n) end
  redis.call('PEXPIRE', key, lifetime)
end
local function thisRun() return 'run:' .. string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') end
`

/**
 * The rate, by additive increase and multiplicative decrease, like `createRate` in core: a 429 leaves 70 % of the rate,
 * each window restores 5 % of the limit.
 */
const RATE = `
-- If Redis' clock was set back since the last 429, moves the times by as much, so that no pause becomes longer.
local function moveTimes(key)
  local at, ends, from = unpack(redis.call('HMGET', key, 'at', 'until', 'from'))
  local back = (tonumber(at) or 0) - now
  if back > 0 then redis.call('HSET', key, 'at', text(now), 'until', text(ends - back), 'from', text(from - back)) end
end
local function rateOf(key, limit, window)
  local lowest, from = unpack(redis.call('HMGET', key, 'lowest', 'from'))
  if not lowest then return limit end
  local raised = math.max(0, now - from) / window * 0.05 * limit
  return math.max(1, math.min(limit, math.floor(lowest + raised)))
end
`

/**
 * Takes a token, or reserves the next one that becomes free. Keys: set, hash. Arguments: id, limit, then in
 * microseconds window, ahead, hold and cold. Reply: granted, wait, free, rate.
 */
const takeScript = defineScript<TokenGrant>({
  name: 'limits.take',
  kind: 'write-if-full',
  lua: `${SET}${RATE}
local id, limit = ARGV[1], tonumber(ARGV[2])
local window, ahead, hold, cold = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
moveTimes(KEYS[2])
local pause = tonumber(redis.call('HGET', KEYS[2], 'until') or 0) - now
local rate = rateOf(KEYS[2], limit, window)
local run = thisRun()
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
-- A time beyond any that this script writes shows that Redis' clock was set back.
if not redis.call('ZSCORE', KEYS[1], run) or tonumber(last[2]) > now + cold + 1000000 then
  reset(KEYS[1], run, limit, cold)
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '(0', text(now))
local out = redis.call('ZCARD', KEYS[1]) - 1
local free = math.max(0, rate - out)
if pause > 0 then return {0, pause, 0, rate} end
local due = now
if free == 0 then
  -- The first member is no token.
  local at = out - rate + 1
  local next = redis.call('ZRANGE', KEYS[1], at, at, 'WITHSCORES')
  due = tonumber(next[2])
  -- Tokens of requests in flight may become free sooner than their times say. So a distant time is not promised.
  if due > now + ahead then return {0, ahead, 0, rate} end
  redis.call('ZREM', KEYS[1], next[1])
end
redis.call('ZADD', KEYS[1], text(due + hold), id)
redis.call('PEXPIRE', KEYS[1], lifetime)
return {1, due - now, math.max(0, free - 1), rate}`,
  read: (reply) => {
    const [granted, wait, free, rate] = reply as readonly [number, number, number, number]
    return { granted: granted === 1, waitMs: wait / 1000, free, rate }
  },
})

const nothing = () => {}

/** Sets the times at which tokens become free. Keys: set. Arguments: two flags of ZADD, microseconds from now, ids. */
const moveScript = defineScript<void>({
  name: 'limits.move',
  kind: 'write-if-full',
  lua: `${SET}
local back = text(now + ARGV[3])
for n = 4, #ARGV do redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2], back, ARGV[n]) end
redis.call('PEXPIRE', KEYS[1], lifetime)`,
  read: nothing,
})

/**
 * Records a 429. Keys: hash. Arguments: limit, microseconds of the pause and of a window. Refusals within a window of
 * the first, or within its pause, count as one, because their requests were concurrent.
 */
const refusedScript = defineScript<void>({
  name: 'limits.refused',
  kind: 'write-if-full',
  lua: `${SET}${RATE}
local limit, pause, window = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
moveTimes(KEYS[1])
local ends = math.max(now + pause, tonumber(redis.call('HGET', KEYS[1], 'until') or 0))
local from = tonumber(redis.call('HGET', KEYS[1], 'from') or 0)
if now < from then
  from = math.max(from, ends)
else
  local lowered = math.floor(0.7 * rateOf(KEYS[1], limit, window))
  redis.call('HSET', KEYS[1], 'lowest', text(math.max(1, 0.1 * limit, lowered)))
  from = math.max(now + window, ends)
end
redis.call('HSET', KEYS[1], 'at', text(now), 'until', text(ends), 'from', text(from))
redis.call('PEXPIRE', KEYS[1], text((from - now + 20 * window) / 1000))`,
  read: nothing,
})

/** Marks every token as used. Keys: set. Arguments: limit, microseconds. */
const resetScript = defineScript<void>({
  name: 'limits.reset',
  kind: 'write-if-full',
  lua: `${SET}reset(KEYS[1], thisRun(), tonumber(ARGV[1]), tonumber(ARGV[2]))`,
  read: nothing,
})

/**
 * How the time of a token changes. A token whose time is extended is added again if Redis has lost it. A report about a
 * free token changes nothing.
 */
const moves = {
  earlier: ['XX', 'LT'],
  later: ['GT', 'CH'],
  exactly: ['XX', 'CH'],
} as const

const micros = (ms: number) => Math.ceil(ms * 1000)

/** Opens the tokens of one limit: at most `limit` + 1 members of a sorted set, and a small hash after a 429. */
export function createRedisTokens(
  redis: RedisConnection,
  tag: string,
  limit: number,
  { windowMs, settleMs, aheadMs, holdMs, coldMs }: LimitTimes,
): TokenStore {
  const key = redis.keys(tag)
  const [out, refusal] = [key('out'), key('refused')]
  const window = micros(windowMs)
  const move = (how: keyof typeof moves, ms: number, ids: readonly string[]) =>
    redis.run(moveScript, [out], [...moves[how], micros(ms), ...ids])

  return {
    take: (id) => redis.run(takeScript, [out, refusal], [id, limit, window, ...[aheadMs, holdMs, coldMs].map(micros)]),
    counted: (ids) => move('earlier', windowMs, ids),
    keep: (ids) => move('later', holdMs, ids),
    settle: (ids) => move('exactly', settleMs + windowMs, ids),
    unused: (id, dueMs) => move('earlier', Math.max(0, dueMs), [id]),
    refused: (pauseMs) => redis.run(refusedScript, [refusal], [limit, micros(pauseMs), window]),
    reset: () => redis.run(resetScript, [out], [limit, micros(coldMs)]),
  }
}
