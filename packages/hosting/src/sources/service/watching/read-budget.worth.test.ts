import { describe, expect, test } from 'vitest'
import type { DeployTimes } from './deploy-times.js'
import {
  mostWorthListing,
  mostWorthReading,
  newWatched,
  readingWorth,
  seeingWorth,
  type Watched,
} from './read-budget.js'

const NOW = 100_000
/** A deployment is equally likely to become READY in each of the first ten seconds. */
const times: DeployTimes = { took: () => {}, chance: (_, seenMs, ageMs) => (ageMs - seenMs) / 10_000 }
const watched = (changes: Partial<Watched>): Watched => ({
  ...newWatched('r', 'k', NOW - 5000),
  seenAt: NOW - 1000,
  readAt: NOW - 4000,
  ...changes,
})

describe('the worth of reading the status of a deployment', () => {
  test('readingWorth is 0 for a deployment being read, just read, or running without a hint of a change', () => {
    expect(readingWorth(watched({ reading: true }), NOW, times)).toBe(0)
    expect(readingWorth(watched({ readAt: NOW - 100 }), NOW, times)).toBe(0)
    expect(readingWorth(watched({ phase: 'running' }), NOW, times)).toBe(0)
    expect(readingWorth(watched({ phase: 'running', suspect: true, readAt: NOW - 500 }), NOW, times)).toBe(0)
    expect(readingWorth(watched({ phase: 'running', suspect: true }), NOW, times)).toBeGreaterThan(0)
  })

  test('readingWorth is 0 right after a deployment was seen, when a read would save no wait time', () => {
    expect(readingWorth(watched({ seenAt: NOW, readAt: NOW - 300, since: NOW - 300 }), NOW, times)).toBe(0)
  })

  test('readingWorth is highest after a hint of a change, and lowest right after a list covered it', () => {
    const order = [
      watched({ suspect: true }),
      watched({ seenAt: NOW - 2000 }),
      watched({}),
      watched({ coveredAt: NOW - 200 }),
    ]
    const worths = order.map((one) => readingWorth(one, NOW, times))
    expect(worths).toEqual(worths.toSorted((a, b) => b - a))
    expect(new Set(worths).size).toBe(order.length)
  })

  test('readingWorth grows with the time since the deployment was last read', () => {
    expect(readingWorth(watched({ readAt: 0, since: 0 }), NOW, times)).toBeGreaterThan(
      readingWorth(watched({}), NOW, times),
    )
  })
})

test('mostWorthReading returns the given number of deployments with the highest readingWorth', () => {
  const all = [
    watched({ requestId: 'a' }),
    watched({ requestId: 'b', seenAt: NOW - 3000 }),
    watched({ requestId: 'c', reading: true }),
  ]
  expect(mostWorthReading(all, NOW, times, 1).map(({ requestId }) => requestId)).toEqual(['b'])
  expect(mostWorthReading(all, NOW, times, 9).map(({ requestId }) => requestId)).toEqual(['b', 'a'])
  expect(mostWorthReading(all, NOW, times, 0.9)).toEqual([])
})

describe('the choice of the page to list', () => {
  const running = watched({ phase: 'running' })
  test.each<[string, Watched[], number | undefined]>([
    ['none, if no deployment is starting', [running, running, running], undefined],
    ['none, if all starting deployments were just seen', [watched({ seenAt: NOW }), running], undefined],
    ['the page with the most starting deployments', [watched({}), running, watched({}), watched({}), running], 2],
    [
      'the page with a deployment not seen for long',
      [watched({}), watched({}), running, running, watched({ seenAt: NOW - 4000 })],
      3,
    ],
    [
      'another page than the page being read',
      [watched({ coveredAt: NOW }), watched({ coveredAt: NOW }), watched({})],
      2,
    ],
  ])('the page of the deployment list to read next is %s', (_, newestFirst, page) => {
    expect(mostWorthListing(newestFirst, NOW, times, 2)).toBe(page)
  })
})

test('seeingWorth is 0 for a running deployment, which is READY already', () => {
  expect(seeingWorth(watched({ phase: 'running', suspect: true }), NOW, times)).toBe(0)
})
