import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defineQueue, type RuleDefinition } from '@muster/matchmaker'
import type { TimedLimit } from '@muster/matchmaker/internal'
import { scheduleOf, shapeOf, type ScheduleShape, type ScheduleSpace } from './schedule.js'

const part = fc.double({ min: 0, max: 1, noNaN: true })
const shapes: fc.Arbitrary<ScheduleShape> = fc.record({ start: part, end: part, time: part, delay: part })

const spaces: fc.Arbitrary<ScheduleSpace> = fc
  .record({
    form: fc.constantFrom('steps' as const, 'line' as const),
    steps: fc.integer({ min: 2, max: 20 }),
    endsFree: fc.boolean(),
    hasStart: fc.boolean(),
    ends: fc.tuple(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 5000 })),
    whole: fc.boolean(),
    latestMs: fc.integer({ min: 2000, max: 600_000 }),
  })
  .map(({ ends, ...space }) => {
    const endsFree = space.endsFree && space.form === 'steps'
    const [least, most] = [Math.min(...ends), Math.max(...ends)]
    return { ...space, endsFree, strictest: least, loosest: most }
  })

const pointsOf = (relaxing: TimedLimit): { readonly ms: number; readonly value: number }[] => {
  if (typeof relaxing === 'number') return [{ ms: 0, value: relaxing }]
  if (!('from' in relaxing)) return relaxing.map(({ afterMs, value }) => ({ ms: afterMs, value }))
  const { from, to, startMs = 0, overMs } = relaxing
  return [
    { ms: startMs, value: from },
    { ms: startMs + overMs, value: to },
  ]
}

test('every searched schedule is valid for a queue, within its bounds, in whole seconds (property)', () => {
  fc.assert(
    fc.property(spaces, shapes, (space, shape) => {
      const relaxing = scheduleOf(space, shape)
      const rule: RuleDefinition = { kind: 'difference', attribute: 'skill', max: relaxing }
      const deploy = { application: 'game', version: '1' }
      expect(() => defineQueue({ name: 'duel', matchSize: 2, rules: [rule], deploy })).not.toThrow()
      for (const { ms, value } of pointsOf(relaxing)) {
        expect(ms % 1000).toBe(0)
        const isFree = value === Infinity && space.endsFree
        expect(isFree || (value >= space.strictest && value <= space.loosest)).toBe(true)
        if (space.whole && !isFree) expect(Number.isInteger(value)).toBe(true)
      }
    }),
  )
})

test('the schedule of a falling limit mirrors that of a rising limit', () => {
  const space = { form: 'steps', steps: 3, endsFree: false, hasStart: false, whole: true, latestMs: 60_000 } as const
  const shape = { start: 0, end: 1, time: 1, delay: 0.5 }
  expect(scheduleOf({ ...space, strictest: 10, loosest: 6 }, shape)).toEqual([
    { afterMs: 0, value: 10 },
    { afterMs: 30_000, value: 8 },
    { afterMs: 60_000, value: 6 },
  ])
})

test.each<[string, TimedLimit, Partial<ScheduleSpace>]>([
  ['line', { from: 100, to: 400, startMs: 4000, overMs: 16_000 }, { form: 'line', hasStart: true }],
  ['line from the start on', { from: 100, to: 400, overMs: 16_000 }, { form: 'line' }],
  [
    'steps',
    [
      { afterMs: 0, value: 100 },
      { afterMs: 10_000, value: 200 },
      { afterMs: 40_000, value: 400 },
    ],
    { steps: 3 },
  ],
  [
    'steps to no limit',
    [
      { afterMs: 0, value: 100 },
      { afterMs: 20_000, value: 400 },
      { afterMs: 40_000, value: Infinity },
    ],
    { steps: 3, endsFree: true },
  ],
])('a limit in the file that is a %s can be expressed as a searched schedule', (_, relaxing, more) => {
  const space: ScheduleSpace = {
    form: 'steps',
    steps: 2,
    endsFree: false,
    hasStart: false,
    strictest: 100,
    loosest: 400,
    whole: false,
    latestMs: 120_000,
    ...more,
  }
  expect(scheduleOf(space, shapeOf(space, relaxing))).toEqual(relaxing)
})

test('equal steps of a schedule are merged, and a limit that does not relax becomes a number', () => {
  const space = { steps: 4, endsFree: false, hasStart: false, strictest: 4, loosest: 5, whole: true, latestMs: 9000 }
  const steps = scheduleOf({ ...space, form: 'steps' }, { start: 0, end: 1, time: 1, delay: 0.5 })
  expect(steps).toEqual([
    { afterMs: 0, value: 4 },
    { afterMs: 6000, value: 5 },
  ])
  for (const form of ['steps', 'line'] as const)
    expect(scheduleOf({ ...space, form }, { start: 1, end: 0, time: 1, delay: 0.5 })).toBe(5)
})
