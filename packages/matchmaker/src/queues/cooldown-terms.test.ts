import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InvalidQueue } from '../errors.js'
import { type CooldownState, type CooldownTerms, forgottenAt, offencesLeft, offend } from './cooldown-terms.js'
import { defineQueue } from './queue.js'

const defaults: CooldownTerms = {
  name: undefined,
  firstMs: 30_000,
  factor: 2,
  maxMs: 900_000,
  forgiveAfterMs: 3_600_000,
  for: ['declined', 'not-accepted', 'left'],
}
const HOUR_MS = 3_600_000

/** Returns the milliseconds of each cooldown, for offences at these times. */
function lengths(terms: CooldownTerms, times: readonly number[]): number[] {
  let state: CooldownState | undefined
  return times.map((at) => {
    state = offend(state, terms, at)
    return state.until - at
  })
}

describe('the length of a cooldown', () => {
  test('a cooldown grows with each offence up to the maximum', () => {
    const times = [0, 30_000, 90_000, 210_000, 450_000, 930_000, 1_830_000]
    expect(lengths(defaults, times)).toEqual([30_000, 60_000, 120_000, 240_000, 480_000, 900_000, 900_000])
  })

  test('the offences of a player decrease by one for each decay time after the end of the cooldown', () => {
    const state = offend(offend(undefined, defaults, 0), defaults, 30_000)
    expect(state).toMatchObject({ offences: 2, until: 90_000 })
    expect([0, 90_000, 90_000 + HOUR_MS - 1].map((at) => offencesLeft(state, at))).toEqual([2, 2, 2])
    expect([90_000 + HOUR_MS, 90_000 + 2 * HOUR_MS].map((at) => offencesLeft(state, at))).toEqual([1, 0])
    expect(offend(state, defaults, 90_000 + HOUR_MS).until - (90_000 + HOUR_MS)).toBe(60_000)
    expect(offend(state, defaults, 90_000 + 2 * HOUR_MS).until - (90_000 + 2 * HOUR_MS)).toBe(30_000)
  })

  test('a cooldown is never shortened by an offence with shorter terms', () => {
    const state = offend(undefined, { ...defaults, firstMs: 600_000 }, 0)
    expect(offend(state, { ...defaults, firstMs: 1000 }, 1000)).toMatchObject({ until: 600_000, offences: 2 })
  })

  /** A simple model: a list of offences, of which one is removed after each `forgiveAfterMs`. */
  const model = (terms: CooldownTerms, gaps: readonly number[]) => {
    let [now, until, strikes, struckAt] = [0, 0, 0, 0]
    return gaps.map((gap) => {
      now += gap
      while (strikes > 0 && now - struckAt >= terms.forgiveAfterMs) {
        strikes -= 1
        struckAt += terms.forgiveAfterMs
      }
      let ms = terms.firstMs
      for (let nth = 0; nth < strikes && ms < terms.maxMs; nth += 1) ms *= terms.factor
      strikes += 1
      until = Math.max(until, now + Math.min(ms, terms.maxMs))
      struckAt = until
      return { until, strikes }
    })
  }
  const someTerms = fc
    .record({
      firstMs: fc.integer({ min: 1, max: 1000 }),
      factor: fc.integer({ min: 1, max: 10 }),
      more: fc.integer({ min: 0, max: 5000 }),
      forgiveAfterMs: fc.integer({ min: 1, max: 5000 }),
    })
    .map(({ more, ...given }) => ({ ...defaults, ...given, maxMs: given.firstMs + more }))

  test('property: the length of a cooldown equals that of a simple model for any offences', () => {
    fc.assert(
      fc.property(someTerms, fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 30 }), (terms, gaps) => {
        let [now, state]: [number, CooldownState | undefined] = [0, undefined]
        const states = gaps.map((gap) => {
          now += gap
          state = offend(state, terms, now)
          return { until: state.until, strikes: state.offences }
        })
        expect(states).toEqual(model(terms, gaps))
      }),
    )
  })

  test('property: a cooldown is between first and maximum, and is the first again after full decay', () => {
    fc.assert(
      fc.property(someTerms, fc.array(fc.integer({ min: 0, max: 9000 }), { minLength: 1 }), (terms, gaps) => {
        let [now, state]: [number, CooldownState | undefined] = [0, undefined]
        for (const gap of gaps) {
          now += gap
          state = offend(state, terms, now)
          expect(state.until - now).toBeGreaterThanOrEqual(terms.firstMs)
          expect(state.until - now).toBeLessThanOrEqual(terms.maxMs)
        }
        const last = state as unknown as CooldownState
        const end = forgottenAt(last)
        expect(offencesLeft(last, end)).toBe(0)
        expect(offencesLeft(last, end - 1)).toBe(1)
        expect(offend(last, terms, end)).toEqual(offend(undefined, terms, end))
      }),
    )
  })
})

describe('the `cooldown` of a queue', () => {
  const queue = { name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }

  test('the `cooldown` of a queue has defaults, and is undefined in a queue without `cooldown`', () => {
    expect(defineQueue(queue).cooldown).toBeUndefined()
    const defined = defineQueue({ ...queue, cooldown: {} })
    expect(defined.cooldown).toEqual(defaults)
    expect(defineQueue(defined)).toEqual(defined)
    const declining = { ...defaults, for: ['declined', 'not-accepted'] }
    const asking = defineQueue({ ...queue, acceptance: { withinMs: 9000 } })
    expect(asking.cooldown).toEqual(declining)
    expect(defineQueue(asking)).toEqual(asking)
    const none = defineQueue({ ...queue, acceptance: { withinMs: 9000 }, cooldown: { for: [] } })
    expect(none.cooldown).toEqual({ ...defaults, for: [] })
    expect(defineQueue(none)).toEqual(none)
    expect(defineQueue({ ...queue, cooldown: { firstMs: HOUR_MS } }).cooldown?.maxMs).toBe(HOUR_MS)
  })

  test.each([
    [{ firstMs: 0 }, 'firstMs'],
    [{ firstMs: 1e12 }, 'firstMs'],
    [{ factor: 0.5 }, 'factor'],
    [{ factor: Number.NaN }, 'factor'],
    [{ firstMs: 1000, maxMs: 999 }, 'maxMs'],
    [{ forgiveAfterMs: 0 }, 'forgiveAfterMs'],
    [{ for: ['lost'] }, 'for.0'],
    [{ name: '' }, 'name'],
    [{ first: 1 }, 'first'],
  ])('the `cooldown` %j of a queue is refused with the field %s', (cooldown, field) => {
    expect(() => defineQueue({ ...queue, cooldown: cooldown as never })).toThrow(InvalidQueue)
    expect(() => defineQueue({ ...queue, cooldown: cooldown as never })).toThrow(`cooldown.${field}`)
  })
})
