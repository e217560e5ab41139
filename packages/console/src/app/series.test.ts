import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { History, HistoryStep } from '../wire.js'
import { HOUR_MS, seriesOf, shownSpan, withStep } from './series.js'

const STEP = 10_000
const empty: History = { step: STEP, from: 0, length: 0, queues: [], servers: [], missing: [] }
const stepAt = (at: number, players = 1, name = 'duel'): HistoryStep => ({
  at,
  servers: 2,
  queues: [{ name, players, arrivals: 5, matches: 1, waitP50: null, waitP95: 900 }],
})

test('the console converts counts per history step to counts per minute', () => {
  const history: History = {
    ...empty,
    from: STEP,
    length: 2,
    servers: [0, 1],
    queues: [
      { name: 'duel', players: [3, 4], arrivals: [1, 2], matches: [0, 1], waitP50: [null, 5], waitP95: [null, 9] },
    ],
  }
  const { times, queues, servers } = withStep(seriesOf(history), stepAt(3 * STEP, 7))
  expect(times).toEqual([STEP, 2 * STEP, 3 * STEP])
  expect(servers).toEqual([0, 1, 2])
  expect(queues.get('duel')).toEqual({
    players: [3, 4, 7],
    arrivals: [6, 12, 30],
    matches: [0, 6, 6],
    waitP50: [null, 5, null],
    waitP95: [null, 9, 900],
  })
})

test('the console shows missed history steps, and the time before a queue’s first step, as gaps', () => {
  const first = withStep(seriesOf(empty), stepAt(STEP))
  const later = withStep(first, stepAt(4 * STEP, 9, 'ranked'))
  expect(later.times).toEqual([STEP, 2 * STEP, 3 * STEP, 4 * STEP])
  expect(later.queues.get('duel')?.players).toEqual([1, null, null, null])
  expect(later.queues.get('ranked')?.players).toEqual([null, null, null, 9])
  expect(later.servers).toEqual([2, null, null, 2])
  expect(withStep(later, stepAt(4 * STEP))).toBe(later)
})

test('the history series keeps one hour, in columns of equal length, for any steps', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 500 }), fc.constantFrom('a', 'b')), { maxLength: 20 }),
      (hops) => {
        let series = seriesOf(empty)
        let at = 0
        for (const [hop, name] of hops) series = withStep(series, stepAt((at += hop * STEP), 1, name))
        expect(series.times.length).toBeLessThanOrEqual(HOUR_MS / STEP)
        expect(series.times.every((time, index) => index === 0 || time - (series.times[index - 1] ?? 0) === STEP)).toBe(
          true,
        )
        for (const column of [
          series.servers,
          ...[...series.queues.values()].flatMap((queue) => Object.values(queue)),
        ]) {
          expect(column).toHaveLength(series.times.length)
        }
      },
    ),
  )
})

test('history plots show at least ten minutes and at most one hour', () => {
  const spanOf = (length: number) => shownSpan(seriesOf({ ...empty, length }))
  expect([0, 60, 90, 360, 400].map(spanOf)).toEqual([600_000, 600_000, 900_000, HOUR_MS, HOUR_MS])
})
