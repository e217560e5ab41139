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
