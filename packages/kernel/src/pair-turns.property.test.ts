import { seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { entries, models, NOW } from './arbitraries.fixture.js'
import { faults, matchFaults } from './judge.fixture.js'
import type { Entry, Model, Slot } from './model.js'
import { createPool } from './pool.js'
import { Search } from './search.js'

const shapes = fc.constantFrom(
  [{ name: 'both', max: 2, min: new Uint16Array(4).fill(2) }],
  ['one', 'other'].map((name) => ({ name, max: 1, min: new Uint16Array(4).fill(1) })),
)
/** Two make a match, and comparing them decides whether they may. */
const pairs: fc.Arbitrary<Model<string>> = fc.tuple(models, shapes).map(([model, teams]) => ({
  ...model,
  teams,
  checks: undefined,
  lastResortLevel: Infinity,
  radius: model.radius && { ...model.radius, by: 'each' },
  spans: model.spans.map(({ limit }) => ({ limit, by: 'each' })),
}))
/** How many are alike: many go in bulk. */
const copies = fc.constantFrom(1, 1, 1, 6, 40)
const alone = (entry: Entry<string>, id: string, since: number): Entry<string> => ({
  ...entry,
  id,
  since,
  size: 1,
  priority: 0,
})

/** Comparing each two of more would take too long. */
const MOST_JUDGED = 60

/** No two of the tickets that are left may be matched with each other. */
function expectNobodyToFit(model: Model<string>, left: Iterable<Entry<string>>, now: number): void {
  const inOrder = [...left].slice(0, MOST_JUDGED).toSorted((one, other) => one.since - other.since)
  for (const [at, one] of inOrder.entries())
    for (const other of inOrder.slice(at + 1))
      expect(matchFaults(model, [one, other], [0, model.teams.length - 1], undefined, now)).not.toEqual([])
}

test('no two tickets are left after a round that may be matched', () => {
  let matched = 0
  fc.assert(
    fc.property(pairs, entries(60), copies, fc.boolean(), fc.integer(), (model, kinds, many, slow, seed) => {
      const random = seededRandom(seed)
      const pool = createPool(model)
      const waiting = new Map<Slot, Entry<string>>()
      const world = { model, tickets: waiting, openings: new Map<never, never>() }
      for (let now = NOW, born = 0; now < NOW + 24_000; now += 2000) {
        const some = kinds.filter(() => random() < 0.3)
        const coming = some.flatMap((entry) => new Array<typeof entry>(many).fill(entry))
        for (const entry of coming) {
          const ticket = alone(entry, `t${born++}`, now - Math.floor(random() * 6000))
          waiting.set(pool.add(ticket), ticket)
        }
        const round = pool.round(now)
        let hasLeft = false
        const leave = () => {
          for (const slot of [...waiting.keys()].filter(() => slow && random() < 0.002)) {
            pool.remove(slot)
            waiting.delete(slot)
            hasLeft = true
          }
        }
        while (round.step(slow ? 20 : Infinity)) leave()
        for (const group of round.take()) {
          expect(faults({ ...world, now }, group)).toEqual([])
          matched += 2
          for (const slot of group.slots) {
            expect(waiting.delete(slot)).toBe(true)
            pool.remove(slot)
          }
        }
        // Whoever was to be matched with a ticket that has left has its turn in the next round.
        if (!hasLeft) expectNobodyToFit(model, waiting.values(), now)
      }
    }),
    { numRuns: 24 },
  )
  expect(matched).toBeGreaterThan(24 * 8)
})

test('new tickets among many more that wait are compared with these once, and not searched for', () => {
  const pool = createPool<string>({
    levels: Float64Array.of(0),
    lastResortLevel: Infinity,
    teams: [{ name: 'both', max: 2, min: Uint16Array.of(2) }],
    fillForMs: 0,
    radius: undefined,
    spans: [{ by: 'each', limit: Float64Array.of(1) }],
    checks: undefined,
  })
  const nobody = { size: 1, priority: 0, key: '', place: undefined, network: undefined, facts: '' }
  const add = (skill: number, since: number) =>
    pool.add({ ...nobody, id: `${skill}`, since, values: [skill, skill] })
  const waiting = Array.from({ length: 100 }, (_, each) => add(10 * each, 0))
  expect([...pool.group(0)]).toEqual([])

  const searched = vi.spyOn(Search.prototype, 'around')
  // The first is near one that waits, and the next two are near each other.
  const [near, alike, other] = [add(10.9, 1000), add(1004, 1000), add(1004.5, 1000)]
  const matches = [...pool.group(1000)].map(({ slots }) => slots.toSorted((one, two) => one - two))
  expect(matches.toSorted(([one], [two]) => (one as Slot) - (two as Slot))).toEqual([
    [waiting[1], near],
    [alike, other],
  ])
  expect(searched).not.toHaveBeenCalled()
  searched.mockRestore()
})
