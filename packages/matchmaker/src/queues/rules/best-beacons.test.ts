import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defineQueue } from '../queue.js'
import { bestBeacons } from './best-beacons.js'
import type { LatencyRule } from './latency.js'

const rulesOf = (rule: Omit<LatencyRule, 'kind'>) =>
  defineQueue({
    name: 'q',
    matchSize: 2,
    rules: [{ kind: 'latency', ...rule }],
    deploy: { application: 'a', version: '1' },
  }).rules

/** Creates one player for each of these latencies. */
const players = (...latencies: Readonly<Record<string, number>>[]) => latencies.map((one) => ({ latencies: one }))
const names = (found: ReturnType<typeof bestBeacons>) => found?.beacons.map(({ name }) => name)

describe('the best beacon', () => {
  test('the best beacon has the shortest worst round trip, and among equals the shortest mean round trip', () => {
    const found = bestBeacons(
      rulesOf({ maxMs: 100 }),
      players({ a: 20, b: 50, c: 50, d: 99 }, { a: 90, b: 40, c: 30, d: 101 }),
      0,
    )
    expect(found).toEqual({
      beacons: [
        { name: 'c', worstMs: 50, meanMs: 40 },
        { name: 'b', worstMs: 50, meanMs: 45 },
        { name: 'a', worstMs: 90, meanMs: 55 },
      ],
      limitMs: 100,
    })
  })

  test('the best beacon was measured by all players, except for those without any measurement', () => {
    expect(
      names(bestBeacons(rulesOf({ maxMs: 100, missing: 'any' }), players({ a: 1, b: 2 }, { b: 3, c: 1 }, {}), 0)),
    ).toEqual(['b'])
    expect(bestBeacons(rulesOf({ maxMs: 100, missing: 'any' }), players({}, {}), 0)).toEqual({
      beacons: [],
      limitMs: undefined,
    })
  })

  test('the best beacon has the least difference if the rule limits the difference', () => {
    expect(
      names(bestBeacons(rulesOf({ maxDifferenceMs: 10 }), players({ a: 10, b: 60 }, { a: 40, b: 60 }), 0)),
    ).toEqual(['b'])
  })

  test('the best beacon is within the limit that applies to the match', () => {
    const relaxing = rulesOf({
      maxMs: [
        { afterMs: 0, value: 50 },
        { afterMs: 5000, value: 100 },
      ],
    })
    const match = players({ a: 40, b: 60 }, { a: 45, b: 60 })
    expect(bestBeacons(relaxing, match, 0)).toMatchObject({ limitMs: 50, beacons: [{ name: 'a' }] })
    expect(names(bestBeacons(relaxing, match, 5000))).toEqual(['a', 'b'])
    // The other ticket has waited longer, and the rule counts the oldest ticket's wait.
    expect(bestBeacons(relaxing, players({ b: 60 }, { b: 70 }), 0)).toMatchObject({
      limitMs: 100,
      beacons: [{ name: 'b' }],
    })
  })

  test('once the latency rule is optional, the best beacon is returned without a latency limit', () => {
    const found = bestBeacons(
      rulesOf({ maxMs: 50, optionalAfterMs: 1000 }),
      players({ a: 90, b: 80 }, { a: 60, b: 80 }),
      1000,
    )
    expect(found).toMatchObject({ beacons: [{ name: 'b' }, { name: 'a' }], limitMs: undefined })
  })

  test('the best beacon is undefined without a latency rule', () => {
    const rules = defineQueue({ name: 'q', matchSize: 2, deploy: { application: 'a', version: '1' } }).rules
    expect(bestBeacons(rules, players({ a: 1 }), 0)).toBeUndefined()
  })
})

test('property: best beacons are all common beacons within the limit, or else all common beacons, best first', () => {
  const latencies = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.integer({ min: 1, max: 200 }), {
    maxKeys: 5,
  })
  fc.assert(
    fc.property(fc.array(latencies, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 200 }), (all, maxMs) => {
      const found = bestBeacons(rulesOf({ maxMs, missing: 'any' }), players(...all), 0)
      const known = all.filter((one) => Object.keys(one).length > 0)
      const worst = (name: string) => Math.max(...known.map((one) => one[name] ?? Infinity))
      const common = ['a', 'b', 'c', 'd', 'e'].filter((name) => known.length > 0 && worst(name) < Infinity)
      const allowed = common.filter((name) => worst(name) <= maxMs)
      expect(names(found)?.toSorted()).toEqual(allowed.length > 0 ? allowed : common)
      expect(found?.limitMs).toBe(allowed.length > 0 ? maxMs : undefined)
      const order = found?.beacons.map(({ worstMs }) => worstMs) ?? []
      expect(order).toEqual(order.toSorted((a, b) => a - b))
    }),
  )
})
