import { createManualClock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { timestamp } from '../../service.fixture.js'
import { createOrphanCleanup } from './orphans.js'

const GRACE_MS = 300_000
const MINUTE_MS = 60_000

function setUp() {
  const clock = createManualClock()
  const ordered: string[] = []
  const reaped: string[] = []
  const confirms: (() => void)[] = []
  const reaper = createOrphanCleanup({
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
  /** Reports a listed deployment. @param ageMs undefined if the service reports no age */
  const show = (requestId: string, ageMs?: number, tags: string[] = []) => {
    const start_time = ageMs === undefined ? null : timestamp(clock.now() - ageMs)
    reaper.orphan({ request_id: requestId, tags, start_time })
  }
  return { clock, reaper, ordered, reaped, confirms, show }
}

describe('an orphaned deployment', () => {
  test('an orphaned deployment is stopped at first sight if the service reports that it is old enough', () => {
    const { ordered, show } = setUp()
    show('young', GRACE_MS - 1000)
    show('old', GRACE_MS)
    expect(ordered).toEqual(['old'])
  })

  test('an orphan is stopped after the grace period if its age is unknown or ahead of our clock', async () => {
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

  test('a deployment whose match has ended is stopped immediately', () => {
    const { reaper, ordered, show } = setUp()
    reaper.ended('m')
    show('late', 0, ['match-m'])
    expect(ordered).toEqual(['late'])
  })

  test('an orphaned deployment is stopped once, however often it is listed in between', async () => {
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

test('orphaned deployments count as servers until their stop is confirmed or they are not listed', async () => {
  const { clock, reaper, confirms, show } = setUp()
  show('young', 0)
  show('gone', 0)
  show('old', GRACE_MS)
  expect(reaper.orphans()).toBe(3)
  for (const confirm of confirms) confirm()
  expect(reaper.orphans()).toBe(2)
  await clock.advance(30_000)
  const begunAt = clock.now()
  show('young', 30_000)
  reaper.swept(begunAt)
  expect(reaper.orphans()).toBe(1)
})

test('a deployment that its match stops is not stopped again as an orphan', () => {
  const { reaper, show } = setUp()
  reaper.stopping('mine')
  show('mine', GRACE_MS)
  expect(reaper.orphans()).toBe(0)
})
