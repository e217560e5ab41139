import { seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { faults } from './judge.fixture.js'
import type { Entry, Grouped } from './data/model.js'
import { entryOf, modelOf, spanOf } from './plain.fixture.js'
import { createPool } from './pool.js'

const NOW = 1_000_000_000_000
const team = { max: 3, min: new Uint16Array(3).fill(3) }
const model = modelOf(6, {
  levels: Float64Array.of(0, 5000, 10_000),
  teams: ['one', 'other'].map((name) => ({ name, ...team })),
  radius: { by: 'each', squared: Float64Array.of(0.005, 0.02, 0.08), unknown: 'network' },
  spans: [spanOf(20, 40, 80)],
})

/** Creates tickets with two keys, spread so thinly that hardly any can be matched before they relax. */
function thinCrowd(count: number, largest: number): Entry<string>[] {
  const random = seededRandom(7)
  return Array.from({ length: count }, (_, at) => {
    const north = 0.6 + 0.4 * random()
    const east = 2 * random()
    const skill = 1000 * random()
    return entryOf(`t${at}`, {
      size: 1 + Math.floor(largest * random()),
      since: NOW - Math.floor(20_000 * random()),
      key: at % 3 === 0 ? 'few' : 'many',
      place: [Math.cos(north) * Math.cos(east), Math.cos(north) * Math.sin(east), Math.sin(north)],
      values: [skill, skill],
    })
  })
}

const poolOf = (tickets: readonly Entry<string>[]) => {
  const pool = createPool(model)
  return { pool, entries: new Map(tickets.map((entry) => [pool.add(entry), entry])) }
}

test.each([1, 3])(
  'the bulk search matches 98 % as many players of a thin crowd as single searches (parties up to %i)',
  (largest) => {
    const tickets = thinCrowd(1000, largest)
    const { pool, entries } = poolOf(tickets)
    const matches: Grouped[] = [...pool.group(NOW)]
    const world = { model, tickets: entries, openings: new Map(), now: NOW }
    expect(matches.flatMap((match) => faults(world, match))).toEqual([])
    const matched = matches.flatMap(({ slots }) => slots)
    expect(new Set(matched).size).toBe(matched.length)

    const one = poolOf(tickets)
    const anchors = [...one.entries.keys()].toSorted(
      (a, b) => (one.entries.get(a)?.since ?? 0) - (one.entries.get(b)?.since ?? 0),
    )
    const round = one.pool.round(NOW, { anchors })
    while (round.step(20_000));
    const players = (some: readonly Grouped[], of: ReadonlyMap<number, Entry<string>>) =>
      some.flatMap(({ slots }) => slots).reduce((sum, slot) => sum + (of.get(slot)?.size ?? 0), 0)
    const here = players(matches, entries)
    expect(here).toBeGreaterThan(100)
    expect(here).toBeGreaterThanOrEqual(0.98 * players([...round.take()], one.entries))
  },
)

test('a ticket proven unmatchable is tried again when a compatible ticket arrives', () => {
  const tickets = thinCrowd(1000, 1)
  const { pool, entries } = poolOf(tickets)
  const matched = new Set([...pool.group(NOW)].flatMap(({ slots }) => slots))
  for (const slot of matched) pool.remove(slot)
  const [, lonely] = [...entries].find(([slot]) => !matched.has(slot)) as [number, Entry<string>]
  for (let more = 0; more < 5; more++) pool.add({ ...lonely, id: `more${more}` })
  const [match] = [...pool.group(NOW)]
  expect(match?.slots.some((slot) => entries.has(slot))).toBe(true)
})

test.each([1, 3])('the bulk search matches waiting tickets with new tickets (parties up to %i)', (largest) => {
  const tickets = thinCrowd(2400, largest)
  const pool = createPool(model)
  const entries = new Map<number, Entry<string>>()
  const matched = { tickets: 0, mixed: 0 }
  for (let round = 0; round < 4; round++) {
    const now = NOW + 1000 * round
    for (const entry of tickets.slice(600 * round, 600 * (round + 1))) entries.set(pool.add(entry), entry)
    const before = new Set(tickets.slice(0, 600 * round))
    const world = { model, tickets: entries, openings: new Map(), now }
    for (const match of pool.group(now)) {
      expect(faults(world, match)).toEqual([])
      const waited = match.slots.filter((slot) => before.has(entries.get(slot) as Entry<string>)).length
      matched.tickets += match.slots.length
      if (waited > 0 && waited < match.slots.length) matched.mixed += 1
      for (const slot of match.slots) {
        expect(entries.delete(slot)).toBe(true)
        pool.remove(slot)
      }
    }
  }
  expect(matched.tickets).toBeGreaterThan(1000)
  expect(matched.mixed).toBeGreaterThan(100)
})
