import fc from 'fast-check'
import { expect, test } from 'vitest'
import { entries, models, NOW } from './arbitraries.fixture.js'
import { createColumns } from './columns.js'
import { Draft } from './draft.js'
import { createLevels } from './levels.js'
import { MatchBounds } from './match-bounds.js'
import type { Model } from './model.js'
import { searchScales, type SearchScale } from './scales.js'
import { createSearchRadius } from './search-radius.js'

test('every match with a member that a ticket may be matched with is found near the ticket', () => {
  let [near, far] = [0, 0]
  fc.assert(
    fc.property(models, entries(16), fc.integer({ min: 1, max: 3 }), (any, some, size) => {
      const model: Model<string> = { ...any, checks: undefined, lastResortLevel: Infinity }
      const plain = model as unknown as Model<never>
      const columns = createColumns(model.spans.length)
      const levels = createLevels(plain, columns)
      const keys = ['x', 'y']
      const networks = ['n', 'm']
      const slots = some.map((entry) =>
        columns.put(entry, keys.indexOf(entry.key), networks.indexOf(entry.network ?? ''), entry.size),
      )
      levels.renew(NOW)
      const draft = new Draft<string>({ model, columns, levels, facts: [], present: () => [], largest: 2 })
      const radius = createSearchRadius(plain, columns, levels)
      const scales = searchScales(plain)
      const matches = slots.flatMap((_, at) => {
        const members = slots.slice(at, at + size)
        return at % size === 0 ? [{ opening: undefined, slots: members, teams: members.map(() => 0) }] : []
      })
      const bounds = new MatchBounds(matches, columns, model.spans.length > 0)
      for (const slot of slots) {
        const found = new Set<number>()
        const next = (from: number) => bounds.nextNear(slot, scales[radius(slot)] as SearchScale, from)
        for (let at = next(0); at < matches.length; at = next(at + 1)) found.add(at)
        near += found.size
        far += matches.length - found.size
        for (const [at, { slots: members }] of matches.entries()) {
          const mayMeet = members.some((member) => member !== slot && draft.begin(slot) && draft.admits(member))
          if (mayMeet) expect(found).toContain(at)
        }
      }
    }),
    { numRuns: 80 },
  )
  // Some are far, or nothing would be gained.
  expect(far).toBeGreaterThan(near / 20)
})
