import { describe, expect, test } from 'vitest'
import { mostWorthReading, readingWorth, type Watched } from './due.js'

const NOW = 100_000
const watched = (changes: Partial<Watched>): Watched => ({
  requestId: 'r',
  since: 0,
  phase: 'starting',
  readAt: NOW - 10_000,
  listedAt: 0,
  reading: false,
  suspect: false,
  unreadable: false,
  ...changes,
})

describe('reading a status is worth', () => {
  test('nothing for one that is being read, was just read, or runs without suspicion', () => {
    expect(readingWorth(watched({ reading: true }), NOW)).toBe(0)
    expect(readingWorth(watched({ readAt: NOW - 100 }), NOW)).toBe(0)
    expect(readingWorth(watched({ listedAt: NOW, readAt: NOW - 500 }), NOW)).toBe(0)
    expect(readingWorth(watched({ phase: 'running' }), NOW)).toBe(0)
    expect(readingWorth(watched({ phase: 'running', suspect: true, readAt: NOW - 500 }), NOW)).toBe(0)
  })

  test('more the longer it is unread, less while the list shows it, and most under suspicion', () => {
    const order = [
      watched({ phase: 'running', suspect: true }),
      watched({}),
      watched({ readAt: NOW - 5000 }),
      watched({ listedAt: NOW - 1000 }),
    ]
    const worths = order.map((one) => readingWorth(one, NOW))
    expect(worths).toEqual(worths.toSorted((a, b) => b - a))
    expect(Math.min(...worths)).toBeGreaterThan(0)
  })
})

test('the most worth reading, at most so many', () => {
  const all = [
    watched({ requestId: 'a', readAt: NOW - 1000 }),
    watched({ requestId: 'b' }),
    watched({ requestId: 'c', reading: true }),
  ]
  expect(mostWorthReading(all, NOW, 1).map(({ requestId }) => requestId)).toEqual(['b'])
  expect(mostWorthReading(all, NOW, 9).map(({ requestId }) => requestId)).toEqual(['b', 'a'])
  expect(mostWorthReading(all, NOW, -1)).toEqual([])
})
