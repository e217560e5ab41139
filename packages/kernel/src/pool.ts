// pure: the waiting tickets of one queue, and the matches made of them
import { createBulk } from './bulk/bulk.js'
import { Budget } from './data/budget.js'
import { Columns, Interner, isFree } from './data/columns.js'
import { Compare } from './data/compare.js'
import { levelAt, Levels } from './data/levels.js'
import type { Entry, Model, Opening, Pool, Round, RoundOptions, Slot } from './data/model.js'
import type { Parts } from './data/parts.js'
import { Grid } from './grid/grid.js'
import { augment } from './round/augment.js'
import { DirtyTracker } from './round/dirty-tracking.js'
import { createPairs } from './round/pairs.js'
import { createRound } from './round/round.js'
import { RoundState } from './round/state.js'
import { Draft } from './search/draft.js'
import { QuotaCounts } from './search/quota-counts.js'
import { Search, type Vacancy } from './search/search.js'
import { createPacking, type Packing } from './teams/packing.js'
import { atLevel, createTeamSizes, type Taker } from './teams/team-sizes.js'

/**
 * A good size for a step of a round, in tickets' worth of work: 10 to 30 ms on one slow core, so that other work on the
 * thread is served between two steps. A whole round of 100,000 tickets takes a few steps.
 */
export const STEP = 20_000

/** Up to so many tickets every match is searched for thoroughly. */
const FEW = 64
/**
 * Tries of one search: in a small pool; in a larger one of a ticket's first search; and of its next ones, twice as many
 * after each search that was cut short, at most `DOUBLINGS` times.
 */
const THOROUGH = 4000
const FIRST = 200
const BRIEF = 400
const DOUBLINGS = 3
/** Slots that are read for `around` at most. */
const MOST_READ = 4096
const NEVER = () => false

export function createPool<Facts>(model: Model<Facts>): Pool<Facts> {
  const { checks } = model
  const columns = new Columns(model.spans.length)
  const levels = new Levels(model, columns)
  const grid = new Grid(model, columns)
  const counts = new QuotaCounts(model)
  const keys = new Interner()
  const networks = new Interner()
  const packingFor = (teams: readonly Taker[]) =>
    createPacking(teams, checks?.counts && createTeamSizes(teams, checks.counts))
  const packing = packingFor(model.teams)
  const vacancies = new Map<Slot, Vacancy<Facts>>()
  const packings = new Map<string, Packing>()
  /** The tickets of each priority. */
  const priorities = new Map<number, number>()
  let isTimeUp = NEVER
  const budget = new Budget(() => isTimeUp())
  const count = () => pool.count

  const parts: Parts<Facts> = {
    model,
    columns,
    levels,
    compare: new Compare(model, columns),
    budget,
    facts: [],
    present: (slot) => vacancies.get(slot)?.everyone ?? [],
    ranked: () => priorities.size > 1,
  }
  const { facts } = parts
  const draft = new Draft(parts, packing.players + 1)
  const tracker = new DirtyTracker({ ...parts, grid, draft, count })
  const isChecked =
    (checks?.part ?? checks?.whole ?? checks?.balanced ?? checks?.counts ?? checks?.unevenness) !== undefined
  const isExact = model.teams.every(({ min, max }) => min.every((least) => least === max))
  const isPairs = packing.players === 2 && isExact && !isChecked && counts.quotas.length === 0
  const singles = model.teams.flatMap(({ max }, team) => new Array<number>(max).fill(team))
  const state = new RoundState({ columns, grid, counts, budget, isChecked, note: (slot) => tracker.note(slot) })
  const search = new Search({
    ...parts,
    draft,
    packing,
    grid,
    counts,
    triesOf: (before) => (pool.count <= FEW ? THOROUGH : before === 0 ? FIRST : BRIEF << Math.min(DOUBLINGS, before)),
    number: () => state.number,
  })
  const rounds = createRound<Facts>({
    ...parts,
    grid,
    tracker,
    state,
    search,
    vacancies,
    count,
    commonPriority: () => commonest(priorities),
    pairs: isPairs ? createPairs({ ...parts, grid, draft, state, tracker, singles }) : undefined,
    bulk: createBulk({
      ...parts,
      draft,
      search,
      state,
      players: packing.players,
      isPairs,
      singles,
      mostMatches: () => counts.mostMatches(0),
      hasManyKeys: () => keys.size > 1,
    }),
    augment: (left) => augment({ columns, budget, search, draft, state }, left),
  })

  const put = (row: Entry<Facts> | Opening<Facts>, size: number): Slot =>
    columns.put(row, keys.take(row.key), row.network === undefined ? -1 : networks.take(row.network), size)
  const drop = (slot: Slot): void => {
    keys.drop(columns.keyOf(slot))
    networks.drop(columns.network[slot] as number)
    state.remove(slot)
  }
  const isIn = (slot: Slot, opening: boolean) => (columns.born[slot] ?? 0) > 0 && (columns.size[slot] === 0) === opening

  const begin = (now: number, options: RoundOptions): Generator<number, void> => {
    levels.renew(now)
    packing.prune()
    state.begin()
    for (const slot of vacancies.keys()) levels.of(slot)
    return options.anchors === undefined
      ? rounds.full(options)
      : rounds.around(options.anchors, options.openings ?? 'first')
  }

  const packingOf = (rooms: readonly number[], players: readonly number[]): Packing => {
    const shape = `${rooms.join()} ${players.join()}`
    // An opening accepts any number of players, so its teams have no minimum.
    const min = new Uint16Array(model.levels.length)
    const takers = rooms.map((max, team) => ({ max, min, present: players[team], kind: model.teams[team]?.kind }))
    const known = packings.get(shape) ?? packingFor(takers)
    packings.set(shape, known)
    return known
  }

  const pool: { -readonly [Field in keyof Pool<Facts>]: Pool<Facts>[Field] } = {
    count: 0,
    givenUp: 0,
    add: (entry) => {
      const slot = put(entry, entry.size)
      levels.enter(slot, entry.region)
      facts[slot] = entry.facts
      counts.add(slot, entry.facts)
      tracker.note(slot)
      priorities.set(entry.priority, (priorities.get(entry.priority) ?? 0) + 1)
      pool.count += 1
      return slot
    },
    addOpening: (opening) => {
      const slot = put(opening, 0)
      const { rooms, present } = opening
      const players = opening.players ?? rooms.map((room, team) => Math.max(0, (model.teams[team]?.max ?? 0) - room))
      levels.enter(slot)
      const free = packingOf(rooms, players)
      vacancies.set(slot, { slot, packing: free, rooms, present, players, everyone: present.flat() })
      return slot
    },
    remove: (slot) => {
      if (!isIn(slot, false)) return
      const priority = columns.priority[slot] as number
      const alike = (priorities.get(priority) ?? 0) - 1
      if (alike > 0) priorities.set(priority, alike)
      else priorities.delete(priority)
      grid.remove(slot)
      counts.remove(slot)
      if (!state.isGoing) facts[slot] = undefined
      pool.count -= 1
      drop(slot)
    },
    removeOpening: (slot) => {
      if (!isIn(slot, true)) return
      vacancies.delete(slot)
      drop(slot)
    },
    setHeadStarts: (headStarts) => {
      if (levels.setHeadStarts(headStarts)) tracker.relaxOtherwise()
    },
    group: (now) => {
      const round = pool.round(now)
      while (round.step(Infinity));
      return round.take()
    },
    round: (now, options = {}) => {
      const work = begin(now, options)
      const { number } = state
      const round: Round = {
        step: (amount, isDue = NEVER) => {
          let isDone = false
          isTimeUp = () => (isDone ||= isDue())
          for (let left = amount; left > 0;) {
            if (number !== state.number) return false
            const { done, value } = work.next()
            pool.givenUp = search.givenUp
            if (done === true) {
              state.isGoing = false
              return false
            }
            left -= Math.max(1, value)
            if (isTimeUp()) return true
          }
          return true
        },
        take: () => (number === state.number ? state.takeMatches() : []),
        hurry: () => {
          if (number === state.number) state.isLate = true
        },
      }
      return round
    },
    around: (slot, now, most) => {
      levels.renew(now)
      if (!state.isGoing) columns.horizon = columns.births
      grid.begin(slot)
      for (let scale = 0; scale <= grid.coverOf(slot) && grid.count < most; scale++) grid.collect(scale, MOST_READ, 0)
      if (grid.count < most) grid.collectAll(MOST_READ, slot)
      const found = [...grid.found.subarray(0, grid.count)].filter((other) => isFree(columns, other))
      const costs = new Map(found.map((other) => [other, parts.compare.cost(slot, other)]))
      const costOf = (other: Slot) => costs.get(other) as number
      return found.toSorted((one, other) => costOf(one) - costOf(other) || one - other).slice(0, most)
    },
    some: (most) => {
      const slots: Slot[] = []
      for (let slot = 0; slot < columns.end && slots.length < most; slot++) if (isIn(slot, false)) slots.push(slot)
      return slots
    },
    entryOf: (slot) => ({
      id: columns.ids[slot] as string,
      size: columns.size[slot] as number,
      since: columns.sinceOf(slot),
      place: columns.placeOf(slot),
      values: columns.valuesOf(slot),
      facts: facts[slot] as Facts,
    }),
    levelOf: (slot, now) => {
      if (model.adaptive !== true) return levelAt(model.levels, now - columns.sinceOf(slot))
      levels.renew(now)
      return levels.of(slot)
    },
    sizesAt: (level) => packing.sizes?.totalsAt(atLevel(level)),
    aheadOf: (slot, now) => {
      if (model.adaptive !== true) return 0
      levels.renew(now)
      return levels.aheadOf(slot)
    },
  }
  return pool
}

/** The priority of most tickets, the higher of two; undefined if all have the same. */
function commonest(priorities: ReadonlyMap<number, number>): number | undefined {
  if (priorities.size <= 1) return undefined
  const byCount = [...priorities].toSorted(([one, many], [other, more]) => more - many || other - one)
  return byCount[0]?.[0]
}
