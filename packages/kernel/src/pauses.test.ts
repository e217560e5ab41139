import { expect, test } from 'vitest'
import type { Model } from './data/model.js'
import { entryOf, modelOf, noChecks, spanOf } from './plain.fixture.js'
import { createPool } from './pool.js'

const NOW = 1_000_000

const entry = (id: string, at: number) => entryOf(id, { since: NOW - 1000 + at })

/**
 * Returns the match of four tickets if one of them leaves at a given pause of the round. Undefined if the match was
 * made before that pause.
 */
function matchWithout(leaving: string, checks: Checks, pauses: number): (string | undefined)[] | undefined {
  const pool = createPool(modelOf(3, { checks }))
  const ids = new Map(['a', 'b', 'c', 'd'].map((id, at) => [pool.add(entry(id, at)), id]))
  const round = pool.round(NOW)
  for (let pause = 0; pause < pauses; pause += 1) {
    round.step(Infinity, () => true)
    if (round.take().length > 0) return undefined
  }
  for (const [slot, id] of ids) if (id === leaving) pool.remove(slot)
  // A ticket that arrives during the pause does not replace the one that left.
  ids.set(pool.add(entry('e', 4)), 'e')
  while (round.step(Infinity));
  return [...round.take()].flatMap(({ slots }) => slots.map((slot) => ids.get(slot)))
}

type Checks = Model<string>['checks']
const always = () => true
const asks = { ...noChecks, whole: always }
const three = { countOf: () => 1, teams: [0], least: Uint16Array.of(3) }
const kinds: readonly [name: string, checks: Checks][] = [
  ['no checks', undefined],
  ['a check of whole matches', asks],
  ['checks of parts and of whole matches', { ...asks, part: always }],
  ['quotas', { ...asks, part: always, quotas: [three] }],
]

test.each(kinds)('a ticket that leaves while its search is paused is not in the resulting match: %s', (_, checks) => {
  for (const leaving of ['b', 'c']) {
    let pauses = 0
    for (; pauses < 1000; pauses += 1) {
      const match = matchWithout(leaving, checks, pauses)
      if (match === undefined) break
      expect(match, `${leaving} at pause ${pauses}`).toEqual(['a', 'b', 'c', 'd'].filter((id) => id !== leaving))
    }
    // The match was made after some pauses, also during the search.
    expect(pauses).toBeGreaterThan(3)
    expect(pauses).toBeLessThan(1000)
  }
})

test('a round can pause between single matches that are made after a ticket left', () => {
  const pool = createPool(modelOf(2))
  const slots = Array.from({ length: 4000 }, (_, at) => pool.add(entry(`${at}`, at)))
  const round = pool.round(NOW)
  round.step(1, () => true)
  pool.remove(slots[0] as number)
  // The time is up only at every third check.
  let asked = 0
  const made: number[] = []
  for (let goesOn = true; goesOn;) {
    goesOn = round.step(Infinity, () => ++asked % 3 === 0)
    made.push(round.take().length)
  }
  expect(made.reduce((sum, count) => sum + count, 0)).toBe(1999)
  expect(Math.max(...made)).toBeLessThan(600)
})

test('no ticket is matched twice in a round, even if tickets arrive while the round lists its tickets', () => {
  const pool = createPool(modelOf(3))
  const add = (count: number) => Array.from({ length: count }, (_, at) => pool.add(entry(`${at}`, at)))
  add(600)
  // Add and remove tickets in the same slots until the list of slots to search is almost full.
  for (let time = 0; time < 5; time += 1) for (const slot of add(580)) pool.remove(slot)
  add(580)
  const round = pool.round(NOW)
  round.step(Infinity, () => true)
  add(20)
  while (round.step(Infinity));
  const matched = [...round.take()].flatMap(({ slots }) => slots)
  expect(matched.length).toBeGreaterThan(1170)
  expect(new Set(matched).size).toBe(matched.length)
})

test('a ticket that arrives while a round is paused or abandoned is matched in the next round', () => {
  for (const added of [0, 1]) {
    const pool = createPool(modelOf(2))
    const slots = Array.from({ length: added }, () => pool.add(entry('a', 0)))
    const first = pool.round(NOW)
    // The round pauses before it has read the waiting tickets.
    first.step(1, () => true)
    slots.push(pool.add(entry('b', 1)))
    if (added === 0) slots.push(pool.add(entry('c', 2)))
    while (first.step(Infinity));
    expect(first.take()).toEqual([])
    const givenUp = pool.round(NOW)
    for (let step = 0; step < 2; step += 1) givenUp.step(1, () => true)
    const matched = [...pool.group(NOW)].flatMap((match) => match.slots)
    expect(matched.toSorted()).toEqual(slots.toSorted())
  }
})

test('a pool reuses the slots of tickets that leave after its round was dropped, and loses no other ticket', () => {
  const pool = createPool(modelOf(3))
  const slots = [pool.add(entry('a', 0)), pool.add(entry('b', 1))]
  const round = pool.round(NOW)
  expect(round.step(1, () => true)).toBe(true)
  pool.remove(pool.add(entry('c', 2)))
  round.drop()
  const used = Array.from({ length: 10 }, () => {
    const slot = pool.add(entry('d', 3))
    pool.remove(slot)
    return slot
  })
  expect(new Set(used).size).toBe(1)
  slots.push(pool.add(entry('e', 4)))
  expect(round.step(Infinity)).toBe(false)
  expect(round.take()).toEqual([])
  expect([...pool.group(NOW)]).toMatchObject([{ slots }])
})

test('a running match gets a ticket that an earlier round did not offer to running matches', () => {
  for (const openings of ['none', 'last'] as const) {
    const pool = createPool(modelOf(2))
    const opening = pool.addOpening({ ...entry('o', 0), rooms: [1], present: [[]] })
    pool.group(NOW)
    const slot = pool.add(entry('a', 1))
    const round = pool.round(NOW, { openings })
    // A round of one ticket has fewer pauses before its search than after it, so two steps are enough.
    for (let goesOn = true, steps = 0; goesOn && (openings === 'none' || steps < 2); steps += 1)
      goesOn = round.step(Infinity, () => true)
    round.take()
    const joined = [...pool.group(NOW), ...pool.group(NOW + 1)]
    expect(joined, openings).toMatchObject([
      { opening, slots: [slot] },
      { opening, slots: [slot] },
    ])
  }
})

test('a look at tickets while a search pauses does not change what the search finds', () => {
  /** Returns the number of candidate groups that four rounds try, among tickets that no match can hold. */
  const triedIn = (looks: boolean): number => {
    let tried = 0
    const whole = () => {
      tried += 1
      return false
    }
    const pool = createPool(modelOf(3, { spans: [spanOf(10)], checks: { ...noChecks, whole } }))
    const slots = Array.from({ length: 1300 }, (_, at) => pool.add(entryOf(`${at}`, { values: [5, 5] })))
    for (let now = NOW; now < NOW + 4; now += 1) {
      const round = pool.round(now)
      for (let step = 0; round.step(1, () => true); step += 1)
        if (looks && step % 5 === 0) pool.around(slots[0] as number, now, 16)
    }
    return tried
  }
  expect(triedIn(true)).toBe(triedIn(false))
})
