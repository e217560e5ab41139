import { expect, test } from 'vitest'
import { entryOf, modelOf, noChecks, spanOf } from './plain.fixture.js'
import { createPool, STEP } from './pool.js'

test('a parked ticket with a place is tried again when a ticket without a place arrives from its network', () => {
  const pool = createPool(modelOf(2, { radius: { by: 'each', squared: Float64Array.of(0.01), unknown: 'network' } }))
  const add = (id: string, place: [number, number, number] | undefined, network: string) =>
    pool.add(entryOf(id, { place, network }))
  const lisa = add('lisa', [1, 0, 0], 'home')
  add('far', [0, 1, 0], 'elsewhere')
  expect(pool.group(1).length).toBe(0)
  const tom = add('tom', undefined, 'home')
  expect([...pool.group(2)].map(({ slots }) => [...slots])).toEqual([[lisa, tom]])
})

test('a relaxed ticket is tried again, even if another search read its level in between', () => {
  const levels = Float64Array.of(0, 5000)
  const checks = { ...noChecks, pair: (one: string, other: string) => one === other }
  const pool = createPool(modelOf(2, { levels, spans: [spanOf(1, 4)], checks }))
  const add = (id: string, skill: number, since: number, facts: string) =>
    pool.add(entryOf(id, { since, values: [skill, skill], facts }))
  const relaxing = [add('a', 1, 0, 'x'), add('b', 4, 0, 'x')]
  expect([...pool.group(1000)]).toEqual([])
  const round = pool.round(5001, { anchors: [add('c', 2, 5001, 'y')] })
  while (round.step(STEP));
  expect([...round.take()]).toEqual([])
  expect([...pool.group(5250)]).toMatchObject([{ slots: relaxing }])
})

test('a ticket indexed before its first round is found in that round by its relaxed limits', () => {
  const levels = Float64Array.of(0, 5000)
  const pool = createPool(modelOf(2, { levels, spans: [spanOf(1, 40)], checks: { ...noChecks, pair: () => true } }))
  const add = (id: string, skill: number, since: number) => pool.add(entryOf(id, { since, values: [skill, skill] }))
  const younger = add('younger', 0, 500)
  // A round without anchors adds all tickets to the index.
  while (pool.round(600, { anchors: [] }).step(Infinity));
  const older = add('older', 30, 0)
  expect([...pool.group(6000)].map(({ slots }) => [...slots])).toEqual([[older, younger]])
})

test('a backfill takes two tickets together if the second ticket fits only together with the first', () => {
  const countOf = (role: string) => (role === 'healer' ? 1 : 0)
  const checks = { ...noChecks, quotas: [{ countOf, teams: [0], least: Uint16Array.of(1, 1) }] }
  const levels = Float64Array.of(0, 100)
  const pool = createPool(modelOf(3, { levels, lastResortLevel: 1, spans: [spanOf(0, Infinity)], checks }))
  const { size: _, ...vacant } = entryOf('opening', { since: 1000, values: [0, 0] })
  const opening = pool.addOpening({ ...vacant, rooms: [2], present: [['tank']] })
  // The healer is too far from the opening. Nobody may join without a healer.
  const healer = pool.add(entryOf('healer', { since: 1000, values: [1, 1], facts: 'healer' }))
  const last = pool.add(entryOf('last', { since: 900, values: [0, 0], facts: 'tank' }))
  expect([...pool.group(1000)]).toMatchObject([{ opening, slots: [last, healer] }])
})

test.each([
  ['alone', 1000],
  ['beside a ticket at the last resort that fits nobody', 0],
])('a backfill whose search ran out of tries is tried again although nothing has changed, %s', (_, since) => {
  const whole = ([team = []]: readonly (readonly string[])[]) => team.length === 2 && team.includes('fits')
  const levels = Float64Array.of(0, 500)
  const model = { levels, lastResortLevel: 1, spans: [spanOf(1, 1)], checks: { ...noChecks, whole } }
  const pool = createPool(modelOf(30, model))
  const now = { since: 1000, values: [0, 0] } as const
  for (let at = 0; at < 20; at += 1) pool.add(entryOf(`t${at}`, { ...now, facts: at === 13 ? 'fits' : 'other' }))
  pool.add(entryOf('far', { since, values: [9, 9] }))
  const { size: _size, ...match } = entryOf('match', { ...now, facts: 'match' })
  const opening = pool.addOpening({ ...match, rooms: [29], present: [['there']] })
  const found = Array.from({ length: 130 }, (_round, at) => [...pool.group(1000 + at)]).find(({ length }) => length > 0)
  expect(found).toMatchObject([{ opening, slots: [13] }])
})
