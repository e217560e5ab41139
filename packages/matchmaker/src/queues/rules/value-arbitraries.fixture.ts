import fc from 'fast-check'
import type { TimedLimit } from '../rule-parts/relaxing.js'

export const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })

export const wait = fc.integer({ min: 0, max: 20 }).map((hundreds) => hundreds * 100)

/** Generates a limit between two numbers, the strictest first. It changes at multiples of 100 ms. */
export function relaxingBetween(strictest: number, loosest: number): fc.Arbitrary<TimedLimit> {
  const sign = Math.sign(loosest - strictest)
  const value = fc.integer({ min: Math.min(strictest, loosest), max: Math.max(strictest, loosest) })
  const values = fc.uniqueArray(value, { minLength: 2, maxLength: 4 })
  const steps = fc.tuple(values, fc.array(wait, { minLength: 4, maxLength: 4 })).map(([values, gaps]) => {
    let afterMs = 0
    return values
      .toSorted((a, b) => sign * (a - b))
      .map((value, index) => {
        afterMs += index === 0 ? 0 : 100 + (gaps[index] ?? 0)
        return { afterMs, value }
      })
  })
  const line = fc
    .record({ startMs: optional(wait), overMs: fc.constantFrom(1600, 3200) })
    .map((when) => ({ from: strictest, to: loosest, ...when }))
  return fc.oneof(value, steps, line)
}

/** Returns the same limit with each value divided by 20, e.g. for a probability. */
export function inTwentieths(limit: TimedLimit): TimedLimit {
  if (typeof limit === 'number') return limit / 20
  if ('from' in limit) return { ...limit, from: limit.from / 20, to: limit.to / 20 }
  return limit.map(({ afterMs, value }) => ({ afterMs, value: value / 20 }))
}

export const skill = fc.integer({ min: 0, max: 8 })
export const word = fc.constantFrom('a', 'b')
export const maps = ['a', 'b', 'c', 'd']
export const role = fc.constantFrom('tank', 'healer', 'scout')
