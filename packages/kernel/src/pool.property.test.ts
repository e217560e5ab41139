import { seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { entries, models, NOW, openingsOf } from './arbitraries.fixture.js'
import { faults, matchFaults } from './judge.fixture.js'
import type { Entry, Grouped, Model, Opening } from './data/model.js'
import { entryOf, modelOf, spanOf } from './plain.fixture.js'
import { createPool } from './pool.js'

const worlds = (most: number) =>
  fc
    .tuple(models, entries(most))
    .chain(([model, tickets]) =>
      fc.record({ model: fc.constant(model), tickets: fc.constant(tickets), vacant: openingsOf(model) }),
    )

/** Creates a pool with these tickets and openings. */
function filled(model: Model<string>, tickets: readonly Entry<string>[], vacant: readonly Opening<string>[] = []) {
  const pool = createPool(model)
  return {
    model,
    pool,
    tickets: new Map(tickets.map((entry) => [pool.add(entry), entry])),
    openings: new Map(vacant.map((opening) => [pool.addOpening(opening), opening])),
  }
}
type Filled = ReturnType<typeof filled>

/** Returns the faults of these matches. */
function wrong(world: Filled, now: number, matches: Iterable<Grouped>): string[] {
  const groups = [...matches]
  const slots = groups.flatMap((group) => group.slots)
  const used = groups.flatMap(({ opening }) => opening ?? [])
  return [
    ...groups.flatMap((group) => faults({ ...world, now }, group)),
    ...(new Set(slots).size === slots.length ? [] : ['a ticket in two matches']),
    ...(new Set(used).size === used.length ? [] : ['an opening filled twice']),
  ]
}

function remove({ pool, tickets, openings }: Filled, groups: Iterable<Grouped>): void {
  for (const { opening, slots } of groups) {
    for (const slot of slots) {
      pool.remove(slot)
      tickets.delete(slot)
    }
    if (opening === undefined) continue
    pool.removeOpening(opening)
    openings.delete(opening)
  }
}

const named = ({ tickets, openings }: Filled, groups: Iterable<Grouped>) =>
  Array.from(groups, ({ opening, slots, teams }) => ({
    opening: opening === undefined ? undefined : openings.get(opening)?.id,
    members: slots.map((slot) => tickets.get(slot)?.id),
    teams,
  }))

describe('rounds for any model and any tickets', () => {
  test('property: no match of a round breaks a rule, and no ticket is in two matches', () => {
    fc.assert(
      fc.property(worlds(40), ({ model, tickets, vacant }) => {
        const world = filled(model, tickets, vacant)
        expect(wrong(world, NOW, world.pool.group(NOW))).toEqual([])
      }),
      // Few, to save time: `pnpm fuzz` tries others.
      { numRuns: 50 },
    )
  })

  test('property: no match of a round over 600 tickets breaks a rule, and no ticket is in two matches', () => {
    fc.assert(
      fc.property(models, entries(30), fc.integer({ min: 600, max: 900 }), (model, tickets, many) => {
        const crowd = Array.from({ length: Math.ceil(many / Math.max(1, tickets.length)) }, (_, time) =>
          tickets.map((entry) => ({ ...entry, id: `${entry.id}-${time}` })),
        ).flat()
        const world = filled(model, crowd)
        expect(wrong(world, NOW, world.pool.group(NOW))).toEqual([])
      }),
      // Few, to save time: `pnpm fuzz` tries others.
      { numRuns: 20 },
    )
  })

  test('property: tickets can be added and removed between the steps of a round', () => {
    fc.assert(
      fc.property(
        worlds(60),
        entries(20),
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(0, 0.1, 1),
        fc.integer(),
        ({ model, tickets, vacant }, late, work, haste, seed) => {
          const random = seededRandom(seed)
          const world = filled(model, tickets, vacant)
          for (let time = NOW; time < NOW + 4000; time += 1000) {
            const round = world.pool.round(time, { openings: random() < 0.5 ? 'first' : 'last' })
            for (let goesOn = true; goesOn;) {
              goesOn = round.step(work, () => random() < haste)
              const [leaving] = [...world.tickets.keys()].filter(() => random() < 0.1)
              if (leaving !== undefined) remove(world, [{ opening: undefined, slots: [leaving], teams: [] }])
              const coming = random() < 0.5 ? late.pop() : undefined
              if (coming !== undefined)
                world.tickets.set(world.pool.add({ ...coming, id: `late-${late.length}` }), coming)
              if (random() < 0.5) continue
              const groups = round.take()
              expect(wrong(world, time, groups)).toEqual([])
              if (random() < 0.8) remove(world, groups)
            }
            expect(world.pool.count).toBe(world.tickets.size)
          }
        },
      ),
      // Few, to save time: `pnpm fuzz` tries others.
      { numRuns: 40 },
    )
  })

  test('property: a round makes the same matches whether it pauses at every try or never', () => {
    let pauses = 0
    fc.assert(
      fc.property(worlds(40), ({ model, tickets, vacant }) => {
        const world = filled(model, tickets, vacant)
        const other = filled(model, tickets, vacant)
        const round = other.pool.round(NOW)
        // `explain` reads the same indexes between two steps.
        for (; round.step(Infinity, () => true); pauses++) other.pool.around(0, NOW, 2)
        expect(named(other, round.take())).toEqual(named(world, world.pool.group(NOW)))
      }),
      // Few, to save time: `pnpm fuzz` tries others.
      { numRuns: 50 },
    )
    expect(pauses).toBeGreaterThan(120 * 15)
  })

  test('property: a round makes the same matches for the same pool, however it was filled', () => {
    fc.assert(
      fc.property(worlds(40), entries(10), fc.integer(), ({ model, tickets, vacant }, others, seed) => {
        const random = seededRandom(seed)
        const world = filled(model, tickets, vacant)
        // Tickets of the same time are served in order of arrival.
        const turnOf = new Map(tickets.map(({ since }) => [since, random()]))
        const turn = ({ since }: Entry<string>) => turnOf.get(since) ?? 0
        const shuffled = tickets.toSorted((one, other) => turn(one) - turn(other))
        // The other pool held other tickets before, which have left.
        const other = filled(model, others)
        for (const slot of other.tickets.keys()) other.pool.remove(slot)
        other.tickets.clear()
        for (const entry of shuffled) other.tickets.set(other.pool.add(entry), entry)
        for (const opening of vacant.toReversed()) other.openings.set(other.pool.addOpening(opening), opening)
        expect(named(other, other.pool.group(NOW))).toEqual(named(world, world.pool.group(NOW)))
      }),
      // Few, to save time: `pnpm fuzz` tries others.
      { numRuns: 40 },
    )
  })

  test('property: tickets that a round matched, but that were not removed, are matched again in the next', () => {
    fc.assert(
      fc.property(worlds(30), ({ model, tickets }) => {
        const world = filled(model, tickets)
        const first = world.pool.group(NOW)
        const again = world.pool.group(NOW)
        expect(wrong(world, NOW, again)).toEqual([])
        expect(again.length > 0).toBe(first.length > 0)
      }),
    )
  })
})

describe('pairing of two tickets', () => {
  const pairs = models.map((model): Model<string> => ({
    ...model,
    teams: [{ name: 'team', max: 2, min: new Uint16Array(4).fill(2) }],
  }))
  /**
   * Time passes, and tickets arrive and leave. After each round, no two remaining tickets may be matched with each
   * other.
   */
  test('property: two tickets are paired whenever they can be matched, now and at any later time', () => {
    fc.assert(
      fc.property(pairs, entries(60), fc.integer(), (model, tickets, seed) => {
        const random = seededRandom(seed)
        const coming = tickets.map((entry) => ({ ...entry, size: 1 }))
        const world = filled(model, [])
        for (let now = NOW; now < NOW + 30_000; now += 1500) {
          for (const entry of coming.splice(0, Math.floor(random() * 6)))
            world.tickets.set(world.pool.add(entry), entry)
          const leaving = [...world.tickets.keys()].filter(() => random() < 0.03)
          remove(world, [{ opening: undefined, slots: leaving, teams: [] }])
          const groups = world.pool.group(now)
          expect(wrong(world, now, groups)).toEqual([])
          remove(world, groups)
          const left = [...world.tickets.values()].toSorted((one, other) => one.since - other.since)
          for (const [at, one] of left.entries()) {
            for (const other of left.slice(at + 1))
              expect(matchFaults(model, [one, other], [0, 0], undefined, now)).not.toEqual([])
          }
        }
      }),
      // Few, to save time: `pnpm fuzz` tries others.
      { numRuns: 40 },
    )
  })

  test('property: a round that searches only for one new ticket pairs it if any other ticket fits', () => {
    fc.assert(
      fc.property(pairs, entries(40), (anyModel, tickets) => {
        const model = { ...anyModel, lastResortLevel: Infinity }
        const world = filled(model, [])
        for (const entry of tickets) {
          const slot = world.pool.add({ ...entry, size: 1 })
          world.tickets.set(slot, { ...entry, size: 1 })
          const round = world.pool.round(NOW, { anchors: [slot] })
          while (round.step(1000));
          const groups = [...round.take()]
          expect(wrong(world, NOW, groups)).toEqual([])
          expect(groups.every(({ slots }) => slots.includes(slot))).toBe(true)
          remove(world, groups)
          if (groups.length > 0) continue
          const own = world.tickets.get(slot) as Entry<string>
          for (const [other, its] of world.tickets) {
            if (other === slot) continue
            const both = [own, its].toSorted((one, another) => one.since - another.since)
            expect(matchFaults(model, both, [0, 0], undefined, NOW)).not.toEqual([])
          }
        }
      }),
      // Few, to save time: `pnpm fuzz` tries others.
      { numRuns: 40 },
    )
  })
})

test('a waiting ticket is matched within its time limit, however many better matches arrive', () => {
  // The first ticket may be matched with any other ticket. It waits alone at first, and later tickets are closer to one
  // another than to it.
  const pool = createPool(modelOf(2, { spans: [spanOf(100)] }))
  const ticket = (id: string, value: number, since: number) => entryOf(id, { since, values: [value, value] })
  const alone = pool.add(ticket('alone', 0, NOW))
  expect([...pool.group(NOW)]).toEqual([])
  let matchedAt: number | undefined
  for (let round = 1; round <= 5 && matchedAt === undefined; round++) {
    // Enough tickets for matching in bulk.
    for (let each = 0; each < 2000; each++) pool.add(ticket(`${round}-${each}`, 60 + (each % 20), NOW + round))
    const groups = [...pool.group(NOW + round)]
    if (groups.some(({ slots }) => slots.includes(alone))) matchedAt = round
    expect(groups.length).toBe(1000)
    for (const { slots } of groups) for (const slot of slots) pool.remove(slot)
  }
  expect(matchedAt).toBe(1)
})

test('a ticket matched with a ticket of higher priority is not matched again in the bulk search', () => {
  const pool = createPool(modelOf(2))
  for (let each = 0; each < 3001; each++)
    pool.add(entryOf(`t${each}`, { since: NOW, priority: each % 6 === 0 ? 1 : 0 }))
  const slots = [...pool.group(NOW)].flatMap((group) => group.slots)
  expect(slots.length).toBe(3000)
  expect(new Set(slots).size).toBe(3000)
})
