import { createManualClock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { timestamp } from '../../service.fixture.js'
import { createReaper } from './strays.js'

const GRACE_MS = 300_000
const MINUTE_MS = 60_000

function setUp() {
  const clock = createManualClock()
  const ordered: string[] = []
  const reaped: string[] = []
  const confirms: (() => void)[] = []
  const reaper = createReaper({
    stops: {
      order: ({ handle, confirmed }) => {
        ordered.push(handle)
        confirms.push(confirmed)
      },
    },
    clock,
    graceMs: GRACE_MS,
    listLagMs: 1000,
    reaped: (requestId) => reaped.push(requestId),
  })
  /**
   * Lists a deployment.
   * @param ageMs undefined if the service gives no age.
   */
  const show = (requestId: string, ageMs?: number, tags: string[] = []) => {
    const start_time = ageMs === undefined ? null : timestamp(clock.now() - ageMs)
    reaper.stray({ request_id: requestId, tags, start_time })
  }
  return { clock, reaper, ordered, reaped, confirms, show }
}

describe('a deployment without a match is stopped', () => {
  test('at first sight, if the service says that it is old enough', () => {
    const { ordered, show } = setUp()
    show('young', GRACE_MS - 1000)
    show('old', GRACE_MS)
    expect(ordered).toEqual(['old'])
  })

  test('after the grace period, if the service gives no age or one ahead of our clock', async () => {
    const { clock, ordered, show } = setUp()
    show('silent')
    show('ahead', -3_600_000)
    await clock.advance(GRACE_MS - 1)
    show('silent')
    show('ahead', -3_600_000)
    expect(ordered).toEqual([])
    await clock.advance(1)
    show('silent')
    show('ahead', -3_600_000)
    expect(ordered).toEqual(['silent', 'ahead'])
  })

  test('at once if its match has ended', () => {
    const { reaper, ordered, show } = setUp()
    reaper.ended('m')
    show('late', 0, ['match-m'])
    expect(ordered).toEqual(['late'])
  })

  test('once, however often it is listed meanwhile', async () => {
    const { clock, ordered, reaped, confirms, show } = setUp()
    show('old', GRACE_MS)
    for (const confirm of confirms) confirm()
    await clock.advance(5 * MINUTE_MS)
    show('old', GRACE_MS)
    expect([ordered, reaped]).toEqual([['old'], ['old']])
    await clock.advance(10 * MINUTE_MS)
    show('old', GRACE_MS)
    expect(ordered).toEqual(['old', 'old'])
  })
})

test('such deployments count as servers until their stop is confirmed or they are no longer listed', async () => {
  const { clock, reaper, confirms, show } = setUp()
  show('young', 0)
  show('gone', 0)
  show('old', GRACE_MS)
  expect(reaper.strays()).toBe(3)
  for (const confirm of confirms) confirm()
  expect(reaper.strays()).toBe(2)
  await clock.advance(30_000)
  const begunAt = clock.now()
  show('young', 30_000)
  reaper.swept(begunAt)
  expect(reaper.strays()).toBe(1)
})

test('a deployment that its match stops is not reaped', () => {
  const { reaper, show } = setUp()
  reaper.stopping('mine')
  show('mine', GRACE_MS)
  expect(reaper.strays()).toBe(0)
})
