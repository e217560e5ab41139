import { expect, test } from 'vitest'
import { entryOf, modelOf, spanOf } from './plain.fixture.js'
import { createPool } from './pool.js'

/** Tickets with different tastes are never matched. After five seconds, a ticket accepts a greater difference. */
const model = modelOf(2, { levels: Float64Array.of(0, 5000), spans: [spanOf(1, 10), spanOf(0.5, 0.5)] })

const entry = (id: string, since: number, skill: number, taste: number) =>
  entryOf(id, { since, values: [skill, skill, taste, taste] })

const STANDING = 1500

/** Returns the work of a round, in tickets. */
function workOf(pool: ReturnType<typeof createPool<string>>, now: number): number {
  const round = pool.round(now)
  let work = 1
  while (round.step(1, () => true)) work += 1
  return work
}

test('a round does not read parked tickets', () => {
  const pool = createPool(model)
  for (let id = 0; id < STANDING; id += 1) pool.add(entry(`s${id}`, 0, id % 100, id + 1))
  expect(workOf(pool, 1)).toBeGreaterThan(500)
  // Tickets that were just parked are read once more.
  workOf(pool, 251)
  expect(workOf(pool, 501)).toBeLessThan(5)
  // All tickets relax now, so all are searched again.
  expect(workOf(pool, 5001)).toBeGreaterThan(500)
  workOf(pool, 5251)
  expect(workOf(pool, 5501)).toBeLessThan(5)
  pool.add(entry('new', 5600, 50, 0))
  expect(workOf(pool, 5751)).toBeLessThan(10)
})

test('a parked ticket is tried again when a ticket near it arrives, and when its own limits relax', () => {
  const pool = createPool(model)
  for (let id = 0; id < STANDING; id += 1) pool.add(entry(`s${id}`, 0, id % 100, id + 1))
  expect([...pool.group(1)]).toEqual([])
  const near = pool.add(entry('near', 200, 50.5, 151))
  expect([...pool.group(251)]).toMatchObject([{ slots: [150, near] }])
  pool.remove(150)
  pool.remove(near)
  const far = pool.add(entry('far', 250, 59, 251))
  expect([...pool.group(501)]).toEqual([])
  expect([...pool.group(5001)]).toEqual([])
  expect([...pool.group(5251)]).toMatchObject([{ slots: [250, far] }])
})

test('a ticket that relaxes is tried again, even if the round that read it was abandoned', () => {
  for (const steps of [1, 2, 4, 8]) {
    const pool = createPool(model)
    for (let id = 0; id < STANDING; id += 1) pool.add(entry(`s${id}`, 0, id % 100, id + 1))
    pool.add(entry('one', 0, 150, 0))
    pool.add(entry('other', 0, 159, 0))
    expect([...pool.group(1)]).toEqual([])
    const givenUp = pool.round(5001)
    for (let step = 0; step < steps; step += 1) givenUp.step(1, () => true)
    expect([...pool.group(5002)]).toMatchObject([{ slots: [STANDING, STANDING + 1] }])
  }
})
