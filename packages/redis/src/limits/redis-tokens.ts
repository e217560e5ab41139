import type { RedisConnection } from '../connection/connection.js'
import { moveScript, refusedScript, resetScript, takeScript } from './scripts.js'
import type { LimitTimes } from './times.js'
import type { TokenStore } from './token-store.js'

/**
 * How the time of a token changes. One that is out for longer is added again where Redis has lost it; what is told of a
 * token that is back changes nothing.
 */
const moves = {
  earlier: ['XX', 'LT'],
  later: ['GT', 'CH'],
  exactly: ['XX', 'CH'],
} as const

const micros = (ms: number) => Math.ceil(ms * 1000)

/** The tokens of one limit in Redis: at most `limit` + 1 members of a sorted set, and a small hash after a 429. */
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
    take: (id) =>
      redis.run(takeScript, [out, refusal], [id, limit, window, ...[aheadMs, holdMs, coldMs].map(micros)]),
    counted: (ids) => move('earlier', windowMs, ids),
    keep: (ids) => move('later', holdMs, ids),
    settle: (ids) => move('exactly', settleMs + windowMs, ids),
    unused: (id, dueMs) => move('earlier', Math.max(0, dueMs), [id]),
    refused: (pauseMs) => redis.run(refusedScript, [refusal], [limit, micros(pauseMs), window]),
    reset: () => redis.run(resetScript, [out], [limit, micros(coldMs)]),
  }
}
