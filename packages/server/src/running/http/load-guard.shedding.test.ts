import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createShedding, URGENCIES, type Urgency } from './load-guard.js'

/** Records the same delay ten times a second. */
function lateFor(shedding: ReturnType<typeof createShedding>, delayMs: number, ms: number, from = 0): number {
  let now = from
  for (; now <= from + ms; now += 100) shedding.note(delayMs, now)
  return now
}

const refusedOf = (shedding: ReturnType<typeof createShedding>, urgency: Urgency, of = 1000) =>
  Array.from({ length: of }, () => shedding.refuses(urgency, 0)).filter(Boolean).length

describe('the load guard of a process', () => {
  test('the load guard refuses no request while the process is on time', () => {
    const shedding = createShedding({ delayMs: 1000 })
    lateFor(shedding, 250, 600_000)
    for (const urgency of URGENCIES) expect(refusedOf(shedding, urgency)).toBe(0)
  })

  test('the load guard refuses no request after a single pause of any length', () => {
    const shedding = createShedding({ delayMs: 1000 })
    const now = lateFor(shedding, 0, 10_000)
    shedding.note(30_000, now + 30_000)
    shedding.note(0, now + 30_100)
    expect(shedding.level()).toBe(0)
  })
})

describe('the load guard of a process that stays late', () => {
  test('the load guard of a late process refuses new work first, then changes, and reads and cancels last', () => {
    const shedding = createShedding({ delayMs: 1000 })
    const levels: [number, number, number][] = []
    for (let now = 0; now < 5000; now = lateFor(shedding, 600, 400, now))
      levels.push([refusedOf(shedding, 'begin'), refusedOf(shedding, 'change'), refusedOf(shedding, 'keep')])
    for (const [begin, change, keep] of levels) {
      if (change > 0) expect(begin).toBe(1000)
      if (keep > 0) expect(change).toBe(1000)
    }
    expect(levels[0]).toEqual([0, 0, 0])
    expect(levels.at(-1)).toEqual([1000, 1000, 1000])
  })

  test('the load guard accepts all requests again within 7 seconds of calm', () => {
    const shedding = createShedding({ delayMs: 1000 })
    const now = lateFor(shedding, 5000, 60_000)
    expect(shedding.level()).toBe(3)
    lateFor(shedding, 0, 7000, now)
    expect(shedding.level()).toBe(0)
  })
})

test('the load guard refuses a very late request at once', () => {
  const shedding = createShedding({ delayMs: 1000 })
  const at = (lateMs: number) => URGENCIES.map((urgency) => shedding.refuses(urgency, lateMs))
  expect([at(500), at(501), at(1001), at(2001)]).toEqual([
    [false, false, false],
    [true, false, false],
    [true, true, false],
    [true, true, true],
  ])
})

test('the load guard refuses more important requests no more often, for any delays (property)', () => {
  const note = fc.record({ delay: fc.nat(5000), gap: fc.integer({ min: 0, max: 3000 }), late: fc.nat(5000) })
  fc.assert(
    fc.property(fc.array(note, { maxLength: 200, size: 'max' }), (notes) => {
      const shedding = createShedding({ delayMs: 1000 })
      const refused = { begin: 0, change: 0, keep: 0 }
      let now = 0
      for (const { delay, gap, late } of notes) {
        shedding.note(delay, (now += gap))
        for (const urgency of URGENCIES) if (shedding.refuses(urgency, late)) refused[urgency] += 1
        expect(shedding.level()).toBeGreaterThanOrEqual(0)
        expect(shedding.level()).toBeLessThanOrEqual(3)
        // The shares to refuse add up from request to request, so a request may be refused a moment later than another.
        expect(refused.begin + 1).toBeGreaterThanOrEqual(refused.change)
        expect(refused.change + 1).toBeGreaterThanOrEqual(refused.keep)
      }
    }),
  )
})

/**
 * Simulates a process that handles requests in order of arrival: 1 ms for an answer, 0.1 ms for a refusal. Like an
 * event loop, it reads the time only after it has handled everything that had arrived before.
 */
function simulate(load: number, seconds: number) {
  const shedding = createShedding({ delayMs: 1000 })
  const late: Record<Urgency, number[]> = { begin: [], change: [], keep: [] }
  let [now, next, worked, dueAt] = [0, 0, 0, 100]
  const arrived = (index: number) => index / load
  while (now < seconds * 1000) {
    if (now >= dueAt) {
      shedding.note(now - dueAt, now)
      dueAt = now + 100
    }
    const until = now
    for (; arrived(next) <= until; next += 1) {
      const urgency = next % 10 === 0 ? 'keep' : 'begin'
      if (shedding.refuses(urgency, Math.max(0, now - dueAt))) {
        now += 0.1
        continue
      }
      now += 1
      worked += 1
      late[urgency].push(now - arrived(next))
    }
    if (arrived(next) > now) now = Math.min(arrived(next), Math.max(now, dueAt))
  }
  const p99 = (times: number[]) => times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.99)] ?? 0
  return { begin: p99(late.begin), keep: p99(late.keep), use: worked / now, reads: late.keep.length }
}

test.each([0.9, 1.5, 3])(
  'under %d times its maximum load, a process answers within a second, and answers every read',
  (load) => {
    const { begin, keep, use, reads } = simulate(load, 120)
    expect(begin).toBeLessThan(1000)
    expect(keep).toBeLessThan(1000)
    expect(reads).toBeGreaterThan(0.099 * load * 120_000)
    // Refusals take time too. Nearly all other time is used for answers.
    expect(use).toBeGreaterThan(load < 1 ? 0.89 : 0.6)
  },
)
