import type { Clock } from '@muster/core/clock'
import { within } from '@muster/core/runtime'
import type { RedisConnection } from '../connection/connection.js'
import { RedisTimedOut } from '../connection/errors.js'
import { COUNT, type Deed } from './count.js'

export interface Batches {
  /** Resolves with the milliseconds to wait; undefined if Redis did not count. Never rejects. */
  count(key: string, deed: Deed, intervalMs: number, windowMs: number): Promise<number | undefined>
}

export interface BatchesOptions {
  readonly redis: RedisConnection
  /** Milliseconds until a batch without an answer counts as failed. */
  readonly timeoutMs: number
  readonly clock: Clock
}

interface Asked {
  readonly key: string
  readonly words: readonly [deed: Deed, intervalMs: number, windowMs: number]
  readonly settle: (waitMs: number | undefined) => void
}

/** Most deeds of one script: it takes Redis less than a millisecond. */
const MOST = 256
/** Milliseconds after a failure during which only one batch tries again. */
const PAUSE_MS = 1000

/** Collects what is asked in one turn of the event loop into one script. */
export function createBatches({ redis, timeoutMs, clock }: BatchesOptions): Batches {
  let asked: Asked[] = []
  let isFailing = false
  let nextTry = 0

  const send = async (batch: readonly Asked[]) => {
    const keys = batch.map(({ key }) => key)
    const words = batch.flatMap((one) => one.words)
    try {
      const answer = redis.run(COUNT, keys, words)
      answer.catch(() => {}) // it may come too late for anybody
      const waits = await within(answer, timeoutMs, clock)
      if (waits === undefined) throw tooSlow(timeoutMs)
      isFailing = false
      batch.forEach(({ settle }, index) => settle(waits[index] as number))
    } catch (error) {
      if (!isFailing) redis.report({ during: 'limits', error })
      isFailing = true
      nextTry = clock.now() + PAUSE_MS
      for (const { settle } of batch) settle(undefined)
    }
  }
  const flush = () => {
    const batch = asked
    asked = []
    for (let from = 0; from < batch.length; from += MOST) void send(batch.slice(from, from + MOST))
  }

  return {
    count: (key, ...words) => {
      if (isFailing && asked.length === 0) {
        if (clock.now() < nextTry) return Promise.resolve(undefined)
        nextTry = clock.now() + PAUSE_MS
      }
      return new Promise((settle) => {
        if (asked.push({ key, words, settle }) === 1) setImmediate(flush)
      })
    },
  }
}

const tooSlow = (ms: number) =>
  new RedisTimedOut(`${COUNT.name}: Redis did not answer within ${ms} ms; each process counts by itself meanwhile`, {
    code: 'TIMEOUT',
    outcome: 'unknown',
  })
