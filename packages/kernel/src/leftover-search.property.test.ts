import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createAccept } from './accept.js'
import { entries, models, NOW } from './arbitraries.fixture.js'
import { createColumns } from './columns.js'
import { Draft } from './draft.js'
import { Effort } from './effort.js'
import { matchFaults } from './judge.fixture.js'
import { LeftoverSearch } from './leftover-search.js'
import { createLevels } from './levels.js'
import type { Entry, Model, Slot } from './model.js'
import { createOrder } from './order.js'
import { createPacking } from './packing.js'

const exactly = (max: number) => ({ max, min: new Uint16Array(4).fill(max) })
const shapes = fc.constantFrom(
  [{ name: 'one', ...exactly(2) }],
  [{ name: 'one', ...exactly(3) }],
  [
    { name: 'one', ...exactly(2) },
    { name: 'other', ...exactly(2) },
  ],
  [
    { name: 'one', ...exactly(3) },
    { name: 'other', ...exactly(2) },
  ],
)
const simple: fc.Arbitrary<Model<string>> = fc.tuple(models, shapes).map(([model, teams]) => ({
  ...model,
  teams,
  checks: undefined,
  lastResortLevel: Infinity,
  radius: model.radius && { ...model.radius, by: 'each' },
  spans: model.spans.map(({ limit }) => ({ limit, by: 'each' })),
}))

/** What became of each ticket, in the order in which they were tried. */
interface Told {
  readonly tickets: ReadonlyMap<Slot, Entry<string>>
  readonly matches: { readonly slots: Slot[]; readonly teams: readonly number[] }[]
  readonly failures: { readonly slot: Slot; readonly sawAll: boolean; readonly free: readonly Slot[] }[]
  readonly isTried: boolean
}

function searched(
  model: Model<string>,
  some: readonly Entry<string>[],
  { dropIn, picky = 0 }: { dropIn?: number; picky?: number } = {},
): Told {
  const columns = createColumns(model.spans.length)
  const plain = model as unknown as Model<never>
  const levels = createLevels(plain, columns)
  const packing = createPacking(model.teams)
  let pauses = 0
  const effort = new Effort(() => dropIn !== undefined && pauses < 5)
  const largest = packing.players + 1
  const draft = new Draft<string>({ model, columns, levels, facts: [], present: () => [], largest })
  const accept = createAccept({ model, columns, packing, draft, facts: [], effort })
  const tickets = new Map(some.map((entry) => [columns.put(entry, 0, -1, entry.size), entry]))
  levels.renew(NOW)
  const matched = new Set<Slot>()
  const left = new Set<Slot>()
  const free = (slot: Slot) => !matched.has(slot) && !left.has(slot)
  const slots = Int32Array.from(tickets.keys())
  createOrder(columns).sort(slots, slots.length)
  const told = { tickets, matches: [], failures: [] } as unknown as Told
  const search = new LeftoverSearch({
    model: plain,
    columns,
    levels,
    packing,
    effort,
    free,
    disturbed: () => left.size > 0,
    group: (members) => {
      expect(members.every(free)).toBe(true)
      for (const slot of members) matched.add(slot)
      told.matches.push({ slots: members, teams: accept.planned(members) })
    },
    failed: (slot, sawAll) => told.failures.push({ slot, sawAll, free: [...tickets.keys()].filter(free) }),
  })
  const work = (function* () {
    const isCopied = yield* search.copy(slots)
    // Some choose first, and need not take any match; then the others have their turn.
    if (isCopied) yield* search.run(slots.subarray(0, picky), false)
    if (isCopied) yield* search.run(slots.subarray(picky), true)
    return isCopied
  })()
  let step = work.next()
  for (; step.done !== true; step = work.next()) {
    // A ticket leaves the pool in each pause.
    pauses += 1
    if (dropIn !== undefined) left.add((pauses * dropIn) % Math.max(1, tickets.size))
  }
  return { ...told, isTried: step.value }
}

/** Whether any set of these tickets with the first one makes a match, by trying all of them. */
function mayBeMatched(model: Model<string>, first: Entry<string>, others: readonly Entry<string>[]): boolean {
  const full = model.teams.reduce((sum, { max }) => sum + max, 0)
  const grow = (members: readonly Entry<string>[], from: number, players: number): boolean => {
    if (players > full) return false
    if (players === full && isMatch(model, members)) return true
    return others.slice(from).some((other, at) => grow([...members, other], from + at + 1, players + other.size))
  }
  return grow([first], 0, first.size)
}

const isMatch = (model: Model<string>, members: readonly Entry<string>[]): boolean => {
  const inOrder = members.toSorted((one, other) => one.since - other.since)
  return waysOf(inOrder, model.teams).some((ways) => matchFaults(model, inOrder, ways, undefined, NOW).length === 0)
}
const waysOf = (members: readonly Entry<string>[], teams: Model<string>['teams']): number[][] =>
  members.reduce<number[][]>((ways) => ways.flatMap((way) => teams.map((_, team) => [...way, team])), [[]])

const known = (model: Model<string>, some: readonly Entry<string>[]) =>
  some
    .filter(({ place, values }) => (model.radius === undefined || place !== undefined) && values.every(Number.isFinite))
    .map((entry) => ({ ...entry, key: 'x', priority: 0 }))

function check(model: Model<string>, { tickets, matches, failures }: Told): void {
  const entryOf = (slot: Slot) => tickets.get(slot) as Entry<string>
  for (const { slots, teams } of matches) {
    const together = slots.map((slot, at) => ({ entry: entryOf(slot), team: teams[at] as number }))
    const inOrder = together.toSorted((one, other) => one.entry.since - other.entry.since)
    const members = inOrder.map(({ entry }) => entry)
    expect(matchFaults(model, members, inOrder.map(({ team }) => team), undefined, NOW)).toEqual([])
  }
  for (const { slot, sawAll, free } of failures)
    if (sawAll)
      expect(mayBeMatched(model, entryOf(slot), free.filter((other) => other !== slot).map(entryOf))).toBe(false)
}

/** A party whose own values are too far apart for the first level, so that it is not among those near it there. */
const uneven: [Model<string>, Entry<string>[]] = [
  {
    levels: Float64Array.of(0, 5000, 10_000, 20_000),
    lastResortLevel: Infinity,
    teams: [{ name: 'one', ...exactly(3) }],
    fillForMs: 0,
    radius: undefined,
    spans: [{ limit: Float64Array.of(0, 10, 30, Infinity), by: 'each' }],
    checks: undefined,
  },
  [
    { size: 2, since: NOW - 25_000, values: [0, 5] },
    { size: 1, since: NOW - 19_999, values: [1, 1] },
    { size: 1, since: NOW - 19_999, values: [31, 31] },
  ].map((some, at) => ({ ...some, id: `t${at}`, priority: 0, key: 'x', place: undefined, network: 'n', facts: 'a' })),
]

test('matches of tickets left over keep the rules, and who is said to be in no match can be in none', () => {
  fc.assert(
    fc.property(simple, entries(12), fc.integer({ min: 0, max: 12 }), (model, some, picky) => {
      const tickets = known(model, some)
      const told = searched(model, tickets, { picky })
      check(model, told)
      expect(told.isTried).toBe(true)
      const matched = told.matches.flatMap(({ slots }) => slots)
      const failed = told.failures.filter(({ slot }) => !matched.includes(slot))
      expect(matched.length + failed.length).toBe(tickets.length)
    }),
    { numRuns: 120, examples: [[...uneven, 0]] },
  )
})

test('tickets may leave the pool while those left over are searched', () => {
  fc.assert(
    fc.property(simple, entries(12), fc.integer({ min: 1, max: 12 }), (model, some, step) => {
      const told = searched(model, known(model, some), { dropIn: step })
      check(model, told)
      expect(told.isTried).toBe(true)
    }),
    { numRuns: 50 },
  )
})

test('tickets without a place or values are left to the search in the index', () => {
  fc.assert(
    fc.property(simple, entries(12), (model, some) => {
      const tickets = some.map((entry) => ({ ...entry, key: 'x', priority: 0 }))
      const told = searched(model, tickets)
      const hasAll = tickets.every(
        ({ place, values }) =>
          (model.radius === undefined || place !== undefined) &&
          values.slice(0, 2 * model.spans.length).every(Number.isFinite),
      )
      expect(told.isTried).toBe(hasAll)
      if (!hasAll) expect([...told.matches, ...told.failures]).toEqual([])
    }),
    { numRuns: 50 },
  )
})
