import { expect, test } from 'vitest'
import { crowd, models, NOW } from './greedy.fixture.js'
import type { Entry } from './data/model.js'
import { createPool, STEP } from './pool.js'

const TICK_MS = 250
const TICKS = 100
const MATCHES = 10

/** Plays so many times more pairs than there are servers: who was matched, and the longest wait of these. */
function rationed(load: number): { entries: readonly Entry<undefined>[]; waits: ReadonlyMap<string, number> } {
  const perTick = 2 * MATCHES * load
  const entries = crowd(perTick * TICKS, 3).map((entry, at) => ({
    ...entry,
    since: NOW + TICK_MS * Math.floor(at / perTick),
  }))
  const pool = createPool(models.both)
  const bySlot = new Map<number, Entry<undefined>>()
  const waits = new Map<string, number>()
  for (let tick = 0; tick < TICKS; tick += 1) {
    const now = NOW + tick * TICK_MS
    for (const entry of entries.slice(tick * perTick, (tick + 1) * perTick)) bySlot.set(pool.add(entry), entry)
    const round = pool.round(now, { most: MATCHES })
    while (round.step(STEP));
    const matches = [...round.take()]
    expect(matches.length).toBeLessThanOrEqual(MATCHES)
    for (const slot of matches.flatMap(({ slots }) => slots)) {
      const { id, since } = bySlot.get(slot) as Entry<undefined>
      waits.set(id, now - since)
      pool.remove(slot)
    }
  }
  return { entries, waits }
}

test.each([1.5, 3])('where servers are short by %d, players are served whatever their skill and place', (load) => {
  const { entries, waits } = rationed(load)
  const shareOf = (some: readonly Entry<undefined>[]) =>
    (100 * some.filter(({ id }) => waits.has(id)).length) / some.length
  const mean = shareOf(entries)
  expect(mean).toBeGreaterThan(90 / load)
  const skillOf = ({ values }: Entry<undefined>) => Math.abs((values[0] as number) - 1500)
  const northOf = ({ place }: Entry<undefined>) => place?.[2] ?? 0
  for (const by of [skillOf, northOf]) {
    const sorted = entries.toSorted((one, other) => by(one) - by(other))
    for (let band = 0; band < 4; band += 1) {
      const share = shareOf(sorted.slice((band * sorted.length) / 4, ((band + 1) * sorted.length) / 4))
      expect(Math.abs(share - mean)).toBeLessThan(5)
    }
  }
})

test('those who wait longest are matched first, by priority', () => {
  const pool = createPool(models.values)
  const nobody = { size: 1, key: '', place: undefined, network: undefined, facts: undefined }
  const add = (id: string, since: number, priority: number) =>
    pool.add({ ...nobody, id, since, priority, values: [1500, 1500] })
  const old = [add('a', NOW - 90, 0), add('b', NOW - 80, 0)]
  for (let each = 0; each < 2000; each += 1) add(`t${each}`, NOW - 50, 0)
  const important = [add('p', NOW - 10, 1), add('q', NOW - 5, 1)]
  const made: number[][] = []
  for (const now of [NOW, NOW + 250]) {
    const round = pool.round(now, { most: 1 })
    while (round.step(STEP));
    for (const { slots } of round.take()) {
      made.push([...slots])
      for (const slot of slots) pool.remove(slot)
    }
  }
  expect(made[0]).toEqual(important)
  expect(made[1]?.some((slot) => old.includes(slot))).toBe(true)
  expect(made).toHaveLength(2)
})
