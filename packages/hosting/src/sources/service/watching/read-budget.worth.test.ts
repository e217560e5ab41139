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
/** Deployments become READY in each of the first ten seconds with the same probability. */
const times: DeployTimes = { took: () => {}, chance: (_, seenMs, ageMs) => (ageMs - seenMs) / 10_000 }
const watched = (changes: Partial<Watched>): Watched => ({
  ...newWatched('r', 'k', NOW - 5000),
  seenAt: NOW - 1000,
  readAt: NOW - 4000,
  ...changes,
})

describe('the worth of reading a status is', () => {
  test('zero for a deployment that is being read, was just read, or runs without suspicion', () => {
    expect(readingWorth(watched({ reading: true }), NOW, times)).toBe(0)
    expect(readingWorth(watched({ readAt: NOW - 100 }), NOW, times)).toBe(0)
    expect(readingWorth(watched({ phase: 'running' }), NOW, times)).toBe(0)
    expect(readingWorth(watched({ phase: 'running', suspect: true, readAt: NOW - 500 }), NOW, times)).toBe(0)
    expect(readingWorth(watched({ phase: 'running', suspect: true }), NOW, times)).toBeGreaterThan(0)
  })

  test('zero where it saves no waiting time', () => {
    expect(readingWorth(watched({ seenAt: NOW, readAt: NOW - 300, since: NOW - 300 }), NOW, times)).toBe(0)
  })

  test('higher the longer it was not read, lower during a list, and highest under suspicion', () => {
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

  test('higher the longer no status showed whether it is in error', () => {
    expect(readingWorth(watched({ readAt: 0, since: 0 }), NOW, times)).toBeGreaterThan(
      readingWorth(watched({}), NOW, times),
    )
  })
})

test('the deployments most worth reading are chosen, up to a number', () => {
  const all = [
    watched({ requestId: 'a' }),
    watched({ requestId: 'b', seenAt: NOW - 3000 }),
    watched({ requestId: 'c', reading: true }),
  ]
  expect(mostWorthReading(all, NOW, times, 1).map(({ requestId }) => requestId)).toEqual(['b'])
  expect(mostWorthReading(all, NOW, times, 9).map(({ requestId }) => requestId)).toEqual(['b', 'a'])
  expect(mostWorthReading(all, NOW, times, 0.9)).toEqual([])
})

describe('the page most worth listing', () => {
  const running = watched({ phase: 'running' })
  test.each<[string, Watched[], number | undefined]>([
    ['none without any that start', [running, running, running], undefined],
    ['none where all were just seen', [watched({ seenAt: NOW }), running], undefined],
    ['where most are expected', [watched({}), running, watched({}), watched({}), running], 2],
    [
      'where one was not seen for long',
      [watched({}), watched({}), running, running, watched({ seenAt: NOW - 4000 })],
      3,
    ],
    ['not the one that is under way', [watched({ coveredAt: NOW }), watched({ coveredAt: NOW }), watched({})], 2],
  ])('%s', (_, newestFirst, page) => {
    expect(mostWorthListing(newestFirst, NOW, times, 2)).toBe(page)
  })
})

test('a running deployment is not looked for', () => {
  expect(seeingWorth(watched({ phase: 'running', suspect: true }), NOW, times)).toBe(0)
})
