/** Tests that estimates are right, and how many computations they take in a queue with many kinds of tickets. */
import { seededRandom } from '@muster/core/clock'
import { afterEach, expect, test, vi } from 'vitest'
import { createQueueWaits } from './queue-waits.js'
import type { Kind } from './regions.js'
import type { WaitCell } from './wait-cell.js'
import { addRates, LifeTable, noRates } from './life-table.js'
import { curveOf } from './wait-estimate.js'

const SECOND = 1000
const PLACES = 34
const SIZES = 6
const START = 1_800_000_000_000

afterEach(() => vi.restoreAllMocks())

/** Creates a queue with tickets of 204 kinds, which are matched within half a minute. */
function busyQueue(perSecond: number) {
  const waits = createQueueWaits()
  const random = seededRandom(1)
  const kinds = Array.from({ length: PLACES * SIZES }, (_, nth): Kind => ({
    place: { latitude: 30 * Math.floor(nth / SIZES / 12) - 45, longitude: 30 * (Math.floor(nth / SIZES) % 12) - 170 },
    players: 1 + (nth % SIZES),
  }))
  const cells = new Set<WaitCell>()
  let waiting: { readonly cell: WaitCell; readonly createdAt: number; readonly until: number }[] = []
  let now = START
  return {
    waits,
    kinds,
    cells,
    now: () => now,
    /** Lets a second pass. */
    pass: () => {
      now += SECOND
      for (const { cell, createdAt, until } of waiting) if (until <= now) cell.leave(createdAt, 1, now, true)
      waiting = waiting.filter(({ until }) => until > now)
      for (let each = 0; each < perSecond; each += 1) {
        const cell = waits.cellOf(kinds[Math.floor(kinds.length * random() ** 2)] as Kind, now)
        cell.enter(now, 1, now)
        cells.add(cell)
        waiting.push({ cell, createdAt: now, until: now + 30 * SECOND * random() })
      }
    },
  }
}

test('reading the estimates of 204 kinds of tickets every second recomputes each twice a minute', () => {
  const { waits, kinds, pass, now } = busyQueue(400)
  for (let second = 0; second < 600; second += 1) pass()
  const computed = vi.spyOn(LifeTable.prototype, 'rates')
  for (let second = 0; second < 60; second += 1) {
    pass()
    const survey = waits.survey(now())
    expect(kinds.filter((kind) => survey.ofKind(kind) === undefined)).toEqual([])
    survey.learned()
  }
  // Two tables of each kind, computed at the start and every 20 to 30 s. Computing them every second would take 24,480
  // computations.
  expect(computed.mock.calls.length).toBeLessThanOrEqual(2 * kinds.length * 4)
})

test('the wait statistics of all tickets are the sum of those of each kind of ticket', () => {
  const { waits, cells, pass, now } = busyQueue(20)
  for (let minute = 0; minute < 10; minute += 1) {
    for (let second = 0; second < 60; second += 1) pass()
    const [lately, longer] = [noRates(), noRates()]
    for (const cell of cells) {
      const seen = cell.observed(now())
      addRates(lately, seen.lately)
      addRates(longer, seen.longer)
    }
    expect(waits.survey(now()).ofPlace()).toEqual(curveOf([lately, longer]))
  }
})

test('waiting tickets are counted over all kinds, and kinds without recent tickets are forgotten', () => {
  const { waits, kinds, pass, now } = busyQueue(20)
  for (let second = 0; second < 60; second += 1) pass()
  const before = waits.count().tickets
  const cell = waits.cellOf(kinds[7] as Kind, now())
  cell.enter(now(), 3, now())
  cell.enter(now(), 2, now())
  cell.leave(now(), 3, now() + 10, false)
  expect(waits.count()).toEqual({ tickets: before + 1, players: before + 2 })
  const late = now() + 24 * 3600 * SECOND
  expect(waits.survey(late).ofKind(kinds[7] as Kind)).toBeUndefined()
  expect(waits.count()).toEqual({ tickets: before + 1, players: before + 2 })
})

test('a wait estimate follows a change of load within ten seconds, and a pause immediately', () => {
  const { waits, kinds, pass, now } = busyQueue(20)
  for (let second = 0; second < 1200; second += 1) pass()
  const rateOf = () => waits.survey(now()).ofPlace()?.[0] ?? Number.NaN
  const before = rateOf()
  const cell = waits.cellOf(kinds[0] as Kind, now())
  for (let each = 0; each < 500; each += 1) cell.enter(now(), 1, now())
  for (let each = 0; each < 500; each += 1) cell.leave(now(), 1, now() + 50, true)
  expect(rateOf()).toBe(before)
  for (let second = 0; second < 10; second += 1) pass()
  expect(rateOf()).toBeGreaterThan(before)
  waits.setPaused(true, now())
  expect(rateOf()).toBeNaN()
  waits.setPaused(false, now())
  expect(rateOf()).toBeGreaterThan(before)
})

test('wait statistics that fade within seconds stay numbers although a ticket waits for hours', () => {
  const table = new LifeTable(3 * SECOND, START)
  table.enter(START, START)
  for (let now = START; now < START + 3 * 3600 * SECOND; now += 60 * SECOND) {
    table.enter(now, now)
    table.leave(now, now + SECOND, true)
  }
  const end = START + 3 * 3600 * SECOND
  const isNumber = ({ waited, entered }: ReturnType<LifeTable['rates']>) =>
    [...waited, ...entered].every((value) => Number.isFinite(value))
  expect(isNumber(table.rates([[START, 1]], end))).toBe(true)
  table.leave(START, end, false)
  expect(isNumber(table.rates([], end))).toBe(true)
})
