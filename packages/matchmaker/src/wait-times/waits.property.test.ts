import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { binOf, BINS, EDGES, LifeTable } from './life-table.js'
import { type MatchRateCurve, curveOf, estimateOf } from './wait-estimate.js'
import { kindOf, KINDS, regionOf, REGIONS } from './regions.js'
import { createQueueWaits } from './queue-waits.js'
import { WaitCell, WaitingTickets } from './wait-cell.js'

const place = fc.record({
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
})
const wait = fc.double({ min: 0, max: 20_000_000, noNaN: true })
const curve: fc.Arbitrary<MatchRateCurve> = fc.array(fc.double({ min: 0, max: 2, noNaN: true }), {
  maxLength: BINS - 1,
})

describe('bins of waiting time', () => {
  test('each waiting time is in exactly one bin, and the bins start at 0 and follow each other', () => {
    expect(EDGES[0]).toBe(0)
    expect(EDGES.toSorted((one, other) => one - other)).toEqual(EDGES)
    expect([binOf(10_000), EDGES[binOf(10_000)]]).toEqual([binOf(10_001), 10_000])
    fc.assert(
      fc.property(wait, (ms) => {
        const bin = binOf(ms)
        expect(ms).toBeGreaterThanOrEqual(EDGES[bin] as number)
        expect(ms).toBeLessThan(EDGES[bin + 1] ?? Infinity)
      }),
    )
  })
})

describe('regions and kinds of tickets', () => {
  test('regions and kinds in wait statistics are limited in number, for any claimed places and sizes', () => {
    fc.assert(
      fc.property(fc.option(place, { nil: undefined }), fc.integer({ min: 1, max: 500 }), (at, players) => {
        const kind = kindOf({ place: at, players })
        expect(Number.isInteger(kind) && kind >= 0 && kind < KINDS).toBe(true)
        if (at !== undefined) expect(regionOf(at)).toBeLessThan(REGIONS)
      }),
    )
  })

  test('a region in wait statistics is the same on both sides of the date line', () => {
    expect(regionOf({ latitude: -17, longitude: 179.9 })).toBe(regionOf({ latitude: -17, longitude: -179.9 }))
    expect(regionOf({ latitude: 51, longitude: -9 })).toBe(regionOf({ latitude: 48, longitude: 14 }))
  })
})

describe('an estimate of a wait', () => {
  test('property: an estimated wait is never negative, and its p90 is not below its p50', () => {
    fc.assert(
      fc.property(fc.array(curve, { maxLength: 3 }), wait, (curves, waited) => {
        const estimate = estimateOf(curves, waited)
        if (estimate === undefined) return
        expect(estimate.p50Ms).toBeGreaterThanOrEqual(0)
        if (estimate.p90Ms !== undefined) expect(estimate.p90Ms).toBeGreaterThanOrEqual(estimate.p50Ms)
      }),
    )
  })

  test('property: an estimated total wait never shrinks while a ticket waits', () => {
    fc.assert(
      fc.property(curve, fc.double({ min: 0, max: 600_000, noNaN: true }), wait, (rates, waited, more) => {
        const [before, after] = [estimateOf([rates], waited), estimateOf([rates], waited + more)]
        if (before === undefined || after === undefined) return
        // Both estimates are rounded to milliseconds.
        expect(waited + more + after.p50Ms).toBeGreaterThanOrEqual(waited + before.p50Ms - 1)
      }),
    )
  })

  test('an estimated wait is not longer for a ticket in several queues than in each of them', () => {
    fc.assert(
      fc.property(curve, curve, wait, (one, other, waited) => {
        const p50Of = (curves: readonly MatchRateCurve[]) => estimateOf(curves, waited)?.p50Ms ?? Infinity
        expect(p50Of([one, other])).toBeLessThanOrEqual(Math.min(p50Of([one]), p50Of([other])))
      }),
    )
  })

  test('the estimated wait for matches at a steady rate equals that of the exponential distribution', () => {
    const of = (value: number) => new Float64Array(BINS).fill(value)
    const steady = curveOf([
      { bins: BINS, tickets: 50 * BINS, weight: 50 * BINS, matched: of(50), entered: of(60), waited: of(500_000) },
    ])
    const tenSeconds = 10_000
    for (const waited of [0, 700, 33_333]) {
      expect(estimateOf([steady as MatchRateCurve], waited)).toEqual({
        p50Ms: Math.round(tenSeconds * Math.LN2),
        p90Ms: Math.round(tenSeconds * Math.LN10),
      })
    }
  })
})

/** Generates what tickets did, each from its creation on, in the order of their ends. */
const ends = fc.array(
  fc.record({
    createdAt: fc.integer({ min: 0, max: 100_000 }),
    waited: fc.integer({ min: 0, max: 300_000 }),
    isMatched: fc.boolean(),
  }),
  { maxLength: 40 },
)
const byEnd = (one: { createdAt: number; waited: number }, other: { createdAt: number; waited: number }) =>
  one.createdAt + one.waited - (other.createdAt + other.waited)

describe('wait statistics', () => {
  test('without decay, wait statistics count each matched ticket and each millisecond of waiting', () => {
    fc.assert(
      fc.property(ends, (tickets) => {
        const table = new LifeTable(1e12, 0)
        for (const { createdAt, waited, isMatched } of tickets.toSorted(byEnd))
          table.leave(createdAt, createdAt + waited, isMatched)
        const { matched, waited } = table.rates([], 400_000)
        expect(sum(matched)).toBeCloseTo(tickets.filter((one) => one.isMatched).length, 3)
        expect(sum(waited) / 1000).toBeCloseTo(tickets.reduce((total, one) => total + one.waited, 0) / 1000, -1)
      }),
    )
  })

  test('wait statistics are the same if a ticket keeps waiting, or leaves and enters again at once', () => {
    fc.assert(
      fc.property(ends, fc.integer({ min: 0, max: 300_000 }), (tickets, after) => {
        const [straight, interrupted] = [new LifeTable(60_000, 0), new LifeTable(60_000, 0)]
        for (const { createdAt, waited, isMatched } of tickets.toSorted(byEnd)) {
          straight.leave(createdAt, createdAt + waited, isMatched)
          if (after > 50 && after < waited) {
            interrupted.leave(createdAt, createdAt + after, false)
            interrupted.enter(createdAt, createdAt + after)
          }
          interrupted.leave(createdAt, createdAt + waited, isMatched)
        }
        const [one, other] = [straight.rates([], 400_000), interrupted.rates([], 400_000)]
        for (let bin = 0; bin < BINS; bin += 1) {
          expect(other.matched[bin]).toBeCloseTo(one.matched[bin] as number, 6)
          expect(other.waited[bin]).toBeCloseTo(one.waited[bin] as number, 3)
        }
      }),
    )
  })

  test('wait statistics count tickets that still wait for as long as they have waited', () => {
    const table = new LifeTable(1e12, 0)
    const { waited } = table.rates([[0, 3]], 10_250)
    expect(sum(waited)).toBeCloseTo(3 * 10_250, 0)
    expect(waited[binOf(10_000)]).toBeCloseTo(3 * 250, 0)
  })

  test('wait statistics weigh an event by 1/e after the memory time, and stay exact over months', () => {
    const table = new LifeTable(60_000, 0)
    const month = 30 * 24 * 3_600_000
    table.leave(month, month + 5000, true)
    for (const later of [0, 60_000, 120_000]) {
      const { matched } = table.rates([], month + 5000 + later)
      expect(sum(matched)).toBeCloseTo(Math.exp(-later / 60_000), 9)
    }
  })
})

test('waiting tickets are counted by second, and nothing remains of those that left', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 50_000 }), fc.integer({ min: 1, max: 5 }))), (tickets) => {
      const waiting = new WaitingTickets()
      for (const [createdAt, players] of tickets) waiting.add(createdAt, players)
      expect([waiting.tickets, waiting.players]).toEqual([tickets.length, sum(tickets.map(([, players]) => players))])
      expect(sum(waiting.byCreation().map(([, count]) => count))).toBe(tickets.length)
      for (const [createdAt, players] of tickets.toReversed()) waiting.remove(createdAt, players)
      expect([waiting.tickets, waiting.players, waiting.byCreation()]).toEqual([0, 0, []])
    }),
  )
})

test('a queue has no wait estimate before enough tickets were matched, and none again a day later', () => {
  const waits = createQueueWaits()
  const kind = { place: { latitude: 50, longitude: 8 }, players: 1 }
  const known: boolean[] = []
  for (let ticket = 0; ticket < 40; ticket += 1) {
    const now = ticket * 2000
    waits.cellOf(kind, now).enter(now, 1, now)
    waits.cellOf(kind, now).leave(now, 1, now + 1500, true)
    known.push(waits.survey(now + 1999).ofKind(kind) !== undefined)
  }
  expect(known.indexOf(true)).toBe(20)
  expect(known.lastIndexOf(false)).toBe(19)
  expect(waits.survey(24 * 3_600_000).ofKind(kind)).toBeUndefined()
})

const sum = (values: Iterable<number>) => {
  let total = 0
  for (const value of values) total += value
  return total
}

describe('a burst of tickets', () => {
  const MINUTE = 60_000

  interface Phase {
    readonly lastsMs: number
    readonly everyMs: number
    readonly waitMs: number
  }

  /** Tickets arrive at intervals, and each is matched later. Returns the observations when the last one arrives. */
  function seenAfter(phases: readonly Phase[]) {
    const cell = new WaitCell(0)
    const changes: { at: number; createdAt: number; isEnter: boolean }[] = []
    let now = 0
    for (const { lastsMs, everyMs, waitMs } of phases)
      for (const end = now + lastsMs; now < end; now += everyMs)
        changes.push({ at: now, createdAt: now, isEnter: true }, { at: now + waitMs, createdAt: now, isEnter: false })
    for (const { at, createdAt, isEnter } of changes.toSorted((one, other) => one.at - other.at)) {
      if (at > now) break
      if (isEnter) cell.enter(createdAt, 1, at)
      else cell.leave(createdAt, 1, at, true)
    }
    return cell.observed(now)
  }

  /** Returns the estimate for a ticket that arrives last. */
  function estimateAfter(phases: readonly Phase[]) {
    const { lately, longer } = seenAfter(phases)
    return estimateOf([curveOf([lately, longer]) ?? []], 0)?.p50Ms ?? NaN
  }

  const usual = { lastsMs: 30 * MINUTE, everyMs: 1000, waitMs: 30_000 }
  const burst = { lastsMs: 20_000, everyMs: 25, waitMs: 1000 }

  test('a burst of tickets that matches immediately does not promise short waits to later tickets', () => {
    expect(estimateAfter([usual])).toBeGreaterThan(25_000)
    for (const minutes of [0.5, 1, 2, 5]) {
      const estimate = estimateAfter([usual, burst, { ...usual, lastsMs: minutes * MINUTE }])
      expect(estimate, `${minutes} min`).toBeGreaterThan(20_000)
    }
  })

  test('a burst of tickets weighs by its duration, not by its ticket count, even early in the data', () => {
    expect(estimateAfter([burst, { ...usual, lastsMs: 2 * MINUTE }])).toBeGreaterThan(15_000)
  })

  test('a repeated burst of tickets weighs by its duration, not by its ticket count', () => {
    const quiet = { lastsMs: 15 * MINUTE, everyMs: 10_000, waitMs: 30_000 }
    const { matched } = seenAfter([quiet, burst, quiet, burst, quiet, burst, quiet]).lately
    const ofBursts = sum(matched.subarray(0, binOf(2000))) / sum(matched)
    // Bursts have 90 % of the tickets, but only 2 % of the time.
    expect(ofBursts).toBeGreaterThan(0.01)
    expect(ofBursts).toBeLessThan(0.12)
  })

  test('tickets of a burst that lasts get full weight in wait estimates after a while', () => {
    expect(estimateAfter([usual, { ...burst, lastsMs: 3 * MINUTE }])).toBeLessThan(2000)
  })
})
