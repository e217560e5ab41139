import { expect, test } from 'vitest'
import type { Entry } from './data/model.js'
import { entryOf, modelOf, noChecks, spanOf } from './plain.fixture.js'
import { createPool } from './pool.js'

const NOW = 1_000_000_000_000
const CROWD = 10_500

/** Creates a crowd of tickets, the oldest first. */
const crowd = (taste: (at: number) => string, valuesOf: (at: number) => number[]): Entry<string>[] =>
  Array.from({ length: CROWD }, (_, at) =>
    entryOf(`t${at}`, { since: NOW + at, values: valuesOf(at), facts: taste(at) }),
  )

const ANYBODY = () => true

test.each([
  ['searched again when something changes', undefined, 1],
  ['searched again each second', ANYBODY, 1000],
])('the only two compatible tickets in a crowd, far apart and %s, are matched within 130 rounds', (_, whole, gapMs) => {
  const pair = (one: string, other: string) => one === other
  const pool = createPool(modelOf(2, { checks: { ...noChecks, pair, whole, timed: whole !== undefined } }))
  const mates = new Set([500, 900])
  const taste = (at: number) => (mates.has(at) ? 'mates' : `t${at}`)
  for (const entry of crowd(taste, () => [])) pool.add(entry)
  let found: number | undefined
  for (let round = 1; round <= 130 && found === undefined; round++) {
    const [match] = pool.group(NOW + CROWD + round * gapMs)
    if (match === undefined) continue
    expect(match.slots.map((slot) => pool.entryOf(slot).facts)).toEqual(['mates', 'mates'])
    found = round
  }
  // The slots read in the first search do not include the partner.
  expect(found).toBeGreaterThan(1)
})

test('of two difference rules the search uses the rule that leaves fewer candidates', () => {
  const pool = createPool(modelOf(2, { spans: [spanOf(10), spanOf(0.5)] }))
  // Only the last ticket shares its second value with another.
  const tasteOf = (at: number) => (at === CROWD - 1 ? 5000 : at)
  for (const entry of crowd(String, (at) => [at % 10, at % 10, tasteOf(at), tasteOf(at)])) pool.add(entry)
  const matches = [...pool.group(NOW + CROWD)]
  expect(matches.map(({ slots }) => [...slots].map((slot) => pool.entryOf(slot).id))).toEqual([
    ['t5000', `t${CROWD - 1}`],
  ])
})

const places = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
] as const

test.each([
  ['with a distance rule', { radius: { by: 'each', squared: Float64Array.of(0.01), unknown: 'any' } }],
  ['without a distance rule', {}],
] as const)('a rule that allows no difference holds for every match of a crowd, %s', (_, more) => {
  const pool = createPool(modelOf(6, { spans: [spanOf(0)], ...more }))
  for (let at = 0; at < 700; at += 1) {
    const value = (at * 7) % 5
    pool.add(entryOf(`t${at}`, { since: NOW, place: places[at % 3], values: [value, value] }))
  }
  const matches = [...pool.group(NOW)].map(({ slots }) => slots.map((slot) => pool.entryOf(slot)))
  expect(matches.length).toBeGreaterThan(90)
  for (const match of matches) expect(new Set(match.map(({ values }) => values[0])).size).toBe(1)
})

test('a crowd without a distance rule is matched in bulk, with little work', () => {
  const pool = createPool(modelOf(6, { spans: [spanOf(10)] }))
  for (let at = 0; at < 6000; at += 1) pool.add(entryOf(`t${at}`, { since: NOW, values: [at, at] }))
  const round = pool.round(NOW)
  let steps = 1
  while (round.step(1)) steps += 1
  expect(round.take().length).toBe(1000)
  expect(steps).toBeLessThan(10)
})

test.each(['each', 'average'] as const)(
  'no ticket of a crowd is in a match twice if some values are close to the largest number (by: %s)',
  (by) => {
    const pool = createPool(modelOf(3, { spans: [{ by, limit: Float64Array.of(2) }] }))
    for (let at = 0; at < 700; at += 1) {
      const value = at % 50 === 0 ? (at % 100 === 0 ? 1 : -1) * Number.MAX_VALUE : at % 20
      pool.add(entryOf(`t${at}`, { since: NOW, values: [value, value] }))
    }
    const slots = [...pool.group(NOW)].flatMap((match) => match.slots)
    expect(slots.length).toBeGreaterThan(600)
    expect(new Set(slots).size).toBe(slots.length)
  },
)

test('parties that do not fit into the free places of any team take little time', () => {
  const teams = ['red', 'blue'].map((name) => ({ name, max: 5, min: Uint16Array.of(5) }))
  const pool = createPool(modelOf(5, { teams, spans: [spanOf(1000)] }))
  for (let at = 0; at < 400; at += 1) pool.add(entryOf(`t${at}`, { size: 2, since: NOW, values: [at % 50, at % 50] }))
  const began = performance.now()
  expect(pool.group(NOW).length).toBe(0)
  expect(performance.now() - began).toBeLessThan(10_000)
}, 60_000)
