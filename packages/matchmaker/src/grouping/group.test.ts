import { greatCircleKm } from '@muster/core'
import { seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Candidate } from './candidate.js'
import { createGrouping, type GroupingRules } from './group.js'
import { levelAt, type DistanceStep } from './reach.js'

const NOW = 1_000_000
const steps: readonly DistanceStep[] = [
  { afterMs: 0, km: 300 },
  { afterMs: 10_000, km: 1500 },
  { afterMs: 30_000, km: 'any' },
]
const bounded = steps.slice(0, 2)

/** Whether two may meet, said as plainly as the rule is: slow, and on other formulas than the code. */
function mayMeet(distance: readonly DistanceStep[], a: Candidate, b: Candidate, toleranceKm: number): boolean {
  const kmOf = (one: Candidate) => distance[levelAt(distance, NOW - one.createdAt)]?.km
  const limits = [kmOf(a), kmOf(b)]
  if (limits.every((km) => km === 'any')) return true
  const limit = Math.min(...limits.map((km) => (typeof km === 'number' ? km : Infinity)))
  if (a.place !== undefined && b.place !== undefined) return greatCircleKm(a.place, b.place) <= limit + toleranceKm
  return a.place === undefined && b.place === undefined && a.network !== undefined && a.network === b.network
}

// Clumps, so that there is something to match; the poles and the date line among them.
const centres = [
  [52, 13],
  [48, 11],
  [0, 179.9],
  [0, -179.9],
  [89.9, 0],
  [-89.9, 120],
  [-34, 151],
] as const
const place = fc
  .tuple(fc.constantFrom(...centres), fc.double({ min: -4, max: 4, noNaN: true }), fc.double({ min: -4, max: 4, noNaN: true }))
  .map(([[latitude, longitude], north, east]) => ({
    latitude: Math.max(-90, Math.min(90, latitude + north)),
    longitude: ((longitude + east + 540) % 360) - 180,
  }))
const candidate = (largest: number) =>
  fc.record({
    size: fc.integer({ min: 1, max: largest }),
    createdAt: fc.integer({ min: NOW - 40_000, max: NOW }),
    where: fc.oneof(
      { weight: 5, arbitrary: place.map((where) => ({ place: where, network: 'n' })) },
      { weight: 1, arbitrary: fc.constantFrom('a', 'b', undefined).map((network) => ({ place: undefined, network })) },
    ),
  })
const pool = (largest: number, maxLength = 60) =>
  fc
    .array(candidate(largest), { maxLength })
    .map((many) => many.map(({ size, createdAt, where }, index): Candidate => ({ id: `t${index}`, size, createdAt, ...where })))
const rules = fc.record({
  matchSize: fc.integer({ min: 1, max: 8 }),
  distance: fc.constantFrom(
    steps,
    bounded,
    steps.slice(2).map(() => ({ afterMs: 0, km: 'any' as const })),
  ),
})

const groupsOf = (rule: GroupingRules, tickets: readonly Candidate[]) => createGrouping(rule)(tickets, NOW)

describe('for any pool', () => {
  test('groups are full, nobody is in two, and all pairs may meet', () => {
    fc.assert(
      fc.property(
        rules.chain((rule) => fc.tuple(fc.constant(rule), pool(rule.matchSize))),
        ([rule, tickets]) => {
          const groups = groupsOf(rule, tickets)
          const members = groups.flat()
          expect(new Set(members).size).toBe(members.length)
          for (const group of groups) {
            expect(group.reduce((sum, { size }) => sum + size, 0)).toBe(rule.matchSize)
            for (const [index, one] of group.entries()) {
              for (const other of group.slice(index + 1))
                expect(mayMeet(rule.distance, one, other, 0.01), `${one.id} ${other.id}`).toBe(true)
            }
          }
        },
      ),
    )
  })

  test('the order of the pool makes no difference', () => {
    fc.assert(
      fc.property(rules, pool(3), fc.integer(), (rule, tickets, seed) => {
        const random = seededRandom(seed)
        const shuffled = tickets
          .map((ticket) => ({ ticket, at: random() }))
          .toSorted((a, b) => a.at - b.at)
          .map(({ ticket }) => ticket)
        const ids = (groups: readonly (readonly Candidate[])[]) => groups.map((group) => group.map(({ id }) => id))
        expect(ids(groupsOf(rule, shuffled))).toEqual(ids(groupsOf(rule, tickets)))
      }),
    )
  })

  test('of pairs, none that could be made is left', () => {
    fc.assert(
      fc.property(fc.constantFrom(steps, bounded), pool(2), (distance, tickets) => {
        const taken = new Set(groupsOf({ matchSize: 2, distance }, tickets).flat())
        const left = tickets.filter((ticket) => !taken.has(ticket))
        expect(left.filter(({ size }) => size === 2)).toEqual([])
        for (const [index, one] of left.entries()) {
          for (const other of left.slice(index + 1))
            expect(mayMeet(distance, one, other, -0.01), `${one.id} ${other.id}`).toBe(false)
        }
      }),
    )
  })
})

const at = (id: string, longitude: number, waitedMs = 0, size = 1): Candidate => ({
  id,
  size,
  createdAt: NOW - waitedMs,
  place: { latitude: 0, longitude },
  network: undefined,
})
const idsOf = (groups: readonly (readonly Candidate[])[]) => groups.map((group) => group.map(({ id }) => id))

test('the oldest chooses first, and takes the nearest', () => {
  const tickets = [at('young', 0.1), at('old', 0, 5000), at('near', 0.2, 100), at('far', 2, 4000)]
  expect(idsOf(groupsOf({ matchSize: 2, distance: bounded }, tickets))).toEqual([
    ['old', 'young'],
    ['far', 'near'],
  ])
})

test('both must have waited long enough', () => {
  const tickets = [at('patient', 0, 20_000), at('new', 5)]
  expect(groupsOf({ matchSize: 2, distance: bounded }, tickets)).toEqual([])
  expect(createGrouping({ matchSize: 2, distance: bounded })(tickets, NOW + 10_000)).toHaveLength(1)
})

test('a full party is a match by itself, wherever it is', () => {
  expect(idsOf(groupsOf({ matchSize: 5, distance: bounded }, [{ ...at('five', 0, 0, 5), place: undefined }]))).toEqual([['five']])
})

test('goes back on a choice that leads nowhere', () => {
  // Nearest first would take the three, and nothing fills the last place.
  const tickets = [at('anchor', 0, 100), at('three', 0.1, 0, 3), at('two', 0.2, 0, 2), at('also-two', 0.3, 0, 2)]
  expect(idsOf(groupsOf({ matchSize: 5, distance: bounded }, tickets))).toEqual([['anchor', 'two', 'also-two']])
})

test('many parties that fit nobody do not hide the few tickets that fit', () => {
  const crowd = Array.from({ length: 500 }, (_, index) => at(`five${index}`, 0, 9000 - index, 5))
  expect(idsOf(groupsOf({ matchSize: 8, distance: bounded }, [...crowd, at('three', 0, 0, 3)]))).toEqual([['five0', 'three']])
})

test('of unknown places, those of one network meet, and nobody else until there is no limit', () => {
  const unknown = (id: string, network: string, waitedMs: number): Candidate => ({
    ...at(id, 0, waitedMs),
    place: undefined,
    network,
  })
  const tickets = [unknown('a1', 'a', 20_000), unknown('b1', 'b', 20_000), unknown('a2', 'a', 0), at('known', 0, 20_000)]
  expect(idsOf(groupsOf({ matchSize: 2, distance: steps }, tickets))).toEqual([['a1', 'a2']])
  const patient = [unknown('a1', 'a', 40_000), at('known', 0, 40_000)]
  expect(idsOf(groupsOf({ matchSize: 2, distance: steps }, patient))).toEqual([['a1', 'known']])
  expect(groupsOf({ matchSize: 2, distance: bounded }, patient)).toEqual([])
})
