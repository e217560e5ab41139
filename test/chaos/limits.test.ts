import { seededRandom, systemClock } from '@muster/core/clock'
import { createEmulator } from '@muster/emulator'
import { skipsRedis, startRedisServer } from '@muster/redis-server'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { endAll, start, type Victim } from './processes.js'

const seed = Number(process.env['CHAOS_SEED'] ?? 1)
/** The documented limit of `deployments.get`. */
const LIMIT = 20
const busy = { together: 16 }
const light = { together: 1, gapMs: 400 }
afterEach(endAll)

interface Counts {
  readonly answered: number
  readonly slowestMs: number
  readonly failures: Readonly<Record<string, number>>
}

async function openWorld(works: readonly object[]) {
  const redis = await startRedisServer({ appendOnly: 'everysec' })
  const emulator = createEmulator({ random: seededRandom(seed), latencyMs: 5, jitterMs: 30, page: false })
  onTestFinished(async () => {
    endAll()
    await emulator.close()
    await redis.close()
  })
  const { url } = await emulator.listen()
  const wrong: string[] = []
  const hear = (message: { readonly kind: string }) => {
    if (message.kind === 'unhandled') wrong.push(JSON.stringify(message))
  }
  const live = (work: object) => start('limits-process.mjs', { url, redisUrl: redis.url, ...work }, hear)
  const processes = works.map(live)
  await Promise.all(processes.map((one) => one.first('started')))
  const answered = () => emulator.counters.requests['deployments.get']?.[400] ?? 0
  /**
   * Returns the used share of the limit, measured over `ms` milliseconds. It is approximate, because requests come in
   * bursts.
   */
  const part = async (ms: number) => {
    const [before, began] = [answered(), systemClock.now()]
    await systemClock.sleep(ms)
    return ((answered() - before) * 1000) / LIMIT / (systemClock.now() - began)
  }
  return {
    redis,
    processes,
    live,
    part,
    answered,
    /** Waits until `LIMIT` requests were answered, because a new limiter treats all tokens as used. */
    warm: async () => {
      for (let n = 0; answered() < LIMIT; n++) {
        if (n === 200) throw new Error('the limit gives no permits')
        await systemClock.sleep(50)
      }
    },
    counts: (one: Victim) => one.ask<Counts>({}, 'counts'),
    /** Returns the faults found. */
    wrong: () => [...wrong, ...(emulator.counters.rejected['status'] ? ['over the limit'] : [])],
  }
}

describe.skipIf(skipsRedis())('rate limits shared by processes', () => {
  test('a busy process uses the rate-limit shares of three idle processes, which still never wait', async () => {
    const { warm, part, wrong, processes, counts } = await openWorld([busy, light, light, light])
    await warm()
    expect(await part(6000)).toBeGreaterThan(0.75)
    const [first, ...others] = await Promise.all(processes.map(counts))
    expect(first?.answered).toBeGreaterThan(4 * Math.max(...others.map(({ answered }) => answered)))
    for (const { answered } of others) expect(answered).toBeGreaterThan(5)
    expect(wrong()).toEqual([])
  })

  test(`shared rate limits hold under kill -9 and SIGSTOP of processes in turn (seed ${seed})`, async () => {
    const { warm, wrong, processes, live, part } = await openWorld([busy, busy, busy, busy])
    await warm()
    const random = seededRandom(seed)
    for (let mishap = 0; mishap < 12; mishap++) {
      const nth = Math.floor(random() * processes.length)
      const one = processes[nth] as Victim
      if (random() < 0.5) {
        await one.kill()
        processes[nth] = live(busy)
      } else {
        one.signal('SIGSTOP')
        void systemClock.sleep(200 + random() * 3000).then(() => one.signal('SIGCONT'))
      }
      await systemClock.sleep(200 + random() * 1000)
    }
    await systemClock.sleep(3500)
    expect(await part(4000)).toBeGreaterThan(0.7)
    expect(wrong()).toEqual([])
  })

  test('shared rate limits hold, and calls continue, when Redis is emptied, killed and restored', async () => {
    const { warm, wrong, part, redis } = await openWorld([busy, busy, busy])
    await warm()
    await redis.ask('FLUSHALL')
    await systemClock.sleep(5000)
    expect(await part(3000)).toBeGreaterThan(0.6)
    await redis.kill()
    await systemClock.sleep(300)
    await redis.restart()
    await systemClock.sleep(5000)
    expect(await part(3000)).toBeGreaterThan(0.6)
    expect(wrong()).toEqual([])
  })

  test('calls under shared rate limits time out while Redis hangs, and continue afterwards', async () => {
    const { warm, wrong, part, redis, processes, counts, answered } = await openWorld([
      { ...busy, timeoutMs: 1500 },
      { ...busy, timeoutMs: 1500 },
    ])
    await warm()
    redis.pause()
    // A permit may have been granted for a time up to a second ahead.
    await systemClock.sleep(1500)
    const before = answered()
    await systemClock.sleep(4000)
    expect(answered()).toBe(before)
    const { failures } = await counts(processes[0] as Victim)
    expect(failures['TimedOut by LimitsUnavailable']).toBeGreaterThan(0)
    redis.resume()
    await systemClock.sleep(3000)
    expect(await part(3000)).toBeGreaterThan(0.6)
    expect(wrong()).toEqual([])
  })
})
