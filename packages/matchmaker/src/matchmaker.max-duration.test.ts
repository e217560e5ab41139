import { createManualClock, type Clock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { deploy, duel, setUp } from './matchmaker.fixture.js'
import { createMemoryServerLog } from '@muster/hosting/internal'
import { createTestService } from '@muster/hosting/service-fixture'

describe('a match with maxDurationMs', () => {
  test('a match with maxDurationMs is stopped when its duration is over', async () => {
    const queues = [{ ...duel, deploy: { ...deploy, maxDurationMs: 20_000 } }]
    const { matchmaker, service, seen, join, run } = setUp({ queues })
    join('ann', 'ben')
    await run(24_000)
    expect(service.unstopped()).toEqual(['r1'])
    await run(3000)
    expect(seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason: 'max-duration' }])
    expect(matchmaker.inspect().matches).toEqual([])
  })

  /** Returns a clock whose wall clock time is wrong by `byMs`. */
  const wrong = (clock: Clock, byMs: number): Clock => ({
    ...clock,
    now: () => clock.now() + byMs,
    sleep: (ms, signal) => clock.sleep(ms, signal),
  })
  const DAY_MS = 25 * 3_600_000

  test.each([
    ['both clocks are right', 0, 0],
    ['the first clock was slow by a day', -DAY_MS, 0],
    ['the first clock was fast by a day', DAY_MS, 0],
    ['the second clock is slow by a day', 0, -DAY_MS],
    ['the second clock is fast by a day', 0, DAY_MS],
  ])('after a restart a match with maxDurationMs is stopped at the same time when %s', async (_, before, now) => {
    const clock = createManualClock()
    const service = createTestService({ clock })
    const serverLog = createMemoryServerLog()
    const setUpWith = (byMs: number) =>
      setUp({
        serverLog,
        clock: wrong(clock, byMs),
        deployments: service.deployments,
        queues: [{ ...duel, deploy: { ...deploy, maxDurationMs: 20_000 } }],
      })
    const run = async ({ matchmaker }: ReturnType<typeof setUp>, ms: number) => {
      for (let passed = 0; passed < ms; passed += 250) {
        await matchmaker.tick()
        await clock.advance(250)
      }
    }
    const first = setUpWith(before)
    first.join('ann', 'ben')
    await run(first, 10_000)
    expect(await serverLog.open()).toMatchObject({
      servers: [{ isUp: true, assignment: { fqdn: 'r1.example.com' } }],
      matches: [{ playerIds: ['ann', 'ben'] }],
    })
    const second = setUpWith(now)
    await run(second, 14_000)
    expect(service.unstopped()).toEqual(['r1'])
    await run(second, 5000)
    expect(second.seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason: 'max-duration' }])
    expect(service.unstopped()).toEqual([])
  })
})
