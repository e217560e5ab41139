import fc from 'fast-check'
import { expect, test } from 'vitest'
import { entries, models, NOW, openingsOf } from './arbitraries.fixture.js'
import { faults } from './judge.fixture.js'
import type { Model } from './data/model.js'
import { createPool } from './pool.js'

const worlds = fc
  .tuple(models, entries(30))
  .chain(([model, tickets]) =>
    fc.record({ model: fc.constant(model), tickets: fc.constant(tickets), vacant: openingsOf(model) }),
  )

/** Returns the level for a wait and a head start. Only the wait counts for the last resort. */
function reachedBy({ levels, lastResortLevel }: Model<string>, waited: number, headStart: number): number {
  if (waited >= (levels[lastResortLevel] ?? Infinity)) return lastResortLevel
  const below = [...levels].slice(0, Math.min(levels.length, lastResortLevel))
  return Math.max(
    0,
    below.findLastIndex((from) => waited + headStart >= from),
  )
}

test('while relaxation head starts change, matches keep the current levels, and no level falls', () => {
  const headStart = fc.integer({ min: -6000, max: 24_000 })
  const changes = fc.array(fc.tuple(headStart, headStart), { minLength: 4, maxLength: 4 })
  let matches = 0
  fc.assert(
    fc.property(worlds, changes, ({ model: any, tickets, vacant }, headStarts) => {
      const model = { ...any, adaptive: true }
      const somewhere = tickets.map((entry, index) => ({ ...entry, region: [0, 1, undefined][index % 3] }))
      const pool = createPool(model)
      const waiting = new Map(somewhere.map((entry) => [pool.add(entry), entry]))
      const openings = new Map(vacant.map((opening) => [pool.addOpening(opening), opening]))
      const before = new Map<number, number>()
      for (const [round, pair] of headStarts.entries()) {
        const now = NOW + round * 1500
        pool.setHeadStarts(Float64Array.from(pair))
        const levelOf = (slot: number) => pool.levelOf(slot, now)
        for (const [slot, { since, region }] of waiting) {
          const level = levelOf(slot)
          expect(level).toBeGreaterThanOrEqual(before.get(slot) ?? 0)
          const reached = reachedBy(model, now - since, region === undefined ? 0 : (pair[region] as number))
          expect(level).toBe(Math.max(before.get(slot) ?? 0, reached))
          before.set(slot, level)
        }
        const groups = [...pool.group(now)]
        matches += groups.length
        const world = { model, tickets: waiting, openings, now, levelOf }
        expect(groups.flatMap((group) => faults(world, group))).toEqual([])
        for (const slot of groups.flatMap(({ slots }) => slots)) {
          pool.remove(slot)
          waiting.delete(slot)
        }
        for (const slot of groups.flatMap(({ opening }) => opening ?? [])) {
          pool.removeOpening(slot)
          openings.delete(slot)
        }
      }
    }),
    { numRuns: 60 },
  )
  expect(matches).toBeGreaterThan(40)
})
