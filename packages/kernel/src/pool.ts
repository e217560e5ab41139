// pure: the waiting tickets of one queue, and the matches made of them
import { createBulk } from './bulk/bulk.js'
import { Budget } from './data/budget.js'
import { createColumns, Interner, isFree, KEY, SINCE } from './data/columns.js'
import { Compare } from './data/compare.js'
import { createLevels, levelAt } from './data/levels.js'
import type { Entry, Model, Opening, Pool, Round, RoundOptions, Slot } from './data/model.js'
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

/**
 * A good size for a step of a round, in tickets' worth of work: 10 to 30 ms on one slow core, so that other work on the
 * thread is served between two steps. A whole round of 100,000 tickets takes a few steps.
 */
export const STEP = 20_000

/** Up to so many tickets every match is searched for thoroughly. */
const FEW = 64
/**
 * Tries of one search: among few, and among many. After a search that was cut short, the next for the same ticket has
 * twice as many, at most `DOUBLINGS` times.
 */
const THOROUGH = 4000
const BRIEF = 400
const DOUBLINGS = 3
/**
 * Where matches are checked as a whole: tries of a round that lead nowhere, and the time of searches that do, in tries.
 * There are more for each match that is made: so a crowd is matched in one round, and a rule that hardly any match
 * keeps does not hold up a queue.
 */
const FRUITLESS_TRIES = 10_000
const FRUITLESS_TIME = 24_000
const PER_MATCH = 200
/** Slots that are read for `around` at most. */
const MOST_READ = 4096

export function createPool<Facts>(model: Model<Facts>): Pool<Facts> {
  const plain = model as unknown as Model<never>
  const { checks } = model
  const columns = createColumns(model.spans.length)
  const levels = createLevels(plain, columns)
  const compare = new Compare(plain, columns)
  const grid = new Grid(plain, columns)
  const counts = new QuotaCounts(model)
  const keys = new Interner()
  const networks = new Interner()
  const packing = createPacking(model.teams)
  const facts: (Facts | undefined)[] = []
  const vacancies = new Map<Slot, Vacancy<Facts>>()
  const packings = new Map<string, Packing>()
  const priorities = new Map<number, number>()
  const unfiled: Slot[] = []
  let isTimeUp = () => false
  const fruitless = { tries: 0, spent: 0 }
  const budget = new Budget(() => isTimeUp())

  const draft = new Draft<Facts>({
    model,
    columns,
    levels,
    compare,
    facts,
    present: (slot) => vacancies.get(slot)?.everyone ?? [],
    largest: packing.players + 1,
  })
  const isChecked = (checks?.part ?? checks?.whole ?? checks?.unevenness) !== undefined
  const isExact = model.teams.every(({ min, max }) => min.every((least) => least === max))
  const isPairs = packing.players === 2 && isExact && !isChecked && counts.quotas.length === 0
  const ranked = () => priorities.size > 1
  const tracker = new DirtyTracker({
    columns,
    levels,
    grid,
    draft: draft as unknown as Draft<never>,
    budget,
    // At the last resort one member lets others meet who otherwise may not.
    wakes: () => ranked() || model.lastResortLevel < Infinity,
    count: () => pool.count,
  })
  const note = (slot: Slot) => {
    tracker.note(slot)
    unfiled.push(slot)
  }
  const state = new RoundState({ columns, grid, counts, note })
  const search = new Search({
    model,
    columns,
    levels,
    compare,
    draft,
    packing,
    grid,
    counts,
    facts,
    budget,
    triesOf: (before) => (pool.count <= FEW ? THOROUGH : BRIEF << Math.min(DOUBLINGS, before)),
    ranked,
    number: () => state.number,
  })
  const isOver = () =>
    isChecked &&
    (state.isLate ||
      fruitless.tries > FRUITLESS_TRIES + state.made * PER_MATCH ||
      fruitless.spent > FRUITLESS_TIME + state.made * PER_MATCH)
  const failed = (tries: number, spent: number) => {
    fruitless.tries += budget.tries - tries
    fruitless.spent += budget.spent - spent
  }
  const group = (found: { readonly slots: Slot[]; readonly teams: readonly number[] }) => state.group(undefined, found)
  const singles = model.teams.flatMap(({ max }, team) => new Array<number>(max).fill(team))
  const pairs = createPairs({
    columns,
    compare,
    grid,
    draft: draft as unknown as Draft<never>,
    budget,
    teams: singles,
    ranked,
    group,
    failed: (slot, sawAll) => tracker.park(slot, sawAll),
  })
  const bulk = createBulk({
    model,
    columns,
    compare,
    draft,
    search,
    budget,
    players: packing.players,
    isPairs,
    isOver,
    failed,
    mostMatches: () => counts.mostMatches(0),
    group,
  })
  const rounds = createRound<Facts>({
    columns,
    levels,
    grid,
    tracker,
    state,
    budget,
    search,
    vacancies,
    unfiled: () => unfiled,
    count: () => pool.count,
    commonPriority: () => (ranked() ? commonest(priorities) : undefined),
    pairs: isPairs ? pairs : undefined,
    bulk,
    augment: (left) =>
      augment(
        { columns, search: search as unknown as Search<never>, draft: draft as unknown as Draft<never>, budget, state },
        left,
        isOver,
      ),
    isOver,
    failed,
  })

  const put = (row: Entry<Facts> | Opening<Facts>, size: number): Slot =>
    columns.put(row, keys.take(row.key), row.network === undefined ? -1 : networks.take(row.network), size)
  const keyOf = (slot: Slot) => columns.rows[slot * columns.stride + KEY] as number
  const drop = (slot: Slot): void => {
    keys.drop(keyOf(slot))
    if (columns.network[slot] !== -1) networks.drop(columns.network[slot] as number)
    state.remove(slot)
  }
  const isIn = (slot: Slot, opening: boolean) => (columns.born[slot] ?? 0) > 0 && (columns.size[slot] === 0) === opening

  const begin = (now: number, options: RoundOptions): Generator<number, void> => {
    levels.renew(now)
    packing.prune()
    state.begin()
    fruitless.tries = 0
    fruitless.spent = 0
    for (const slot of vacancies.keys()) levels.of(slot)
    return options.anchors === undefined
      ? rounds.full(options)
      : rounds.around(options.anchors, options.openings ?? 'first')
  }

  const packingOf = (rooms: readonly number[]): Packing => {
    const shape = rooms.join()
    // An opening accepts any number of players, so its teams have no minimum.
    const known =
      packings.get(shape) ?? createPacking(rooms.map((max) => ({ max, min: new Uint16Array(model.levels.length) })))
    packings.set(shape, known)
    return known
  }

  const pool: { -readonly [Field in keyof Pool<Facts>]: Pool<Facts>[Field] } = {
    count: 0,
    givenUp: 0,
    bytes: () => columns.bytes() + grid.bytes(),
    add: (entry) => {
      const slot = put(entry, entry.size)
      levels.enter(slot, entry.region)
      facts[slot] = entry.facts
      counts.add(slot, entry.facts)
      note(slot)
      priorities.set(entry.priority, (priorities.get(entry.priority) ?? 0) + 1)
      pool.count += 1
      return slot
    },
    addOpening: (opening) => {
      const slot = put(opening, 0)
      const { rooms, present } = opening
      levels.enter(slot, undefined)
      vacancies.set(slot, { slot, packing: packingOf(rooms), rooms, present, everyone: present.flat() })
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
      const work = begin(now, {})
      while (work.next().done !== true);
      state.isGoing = false
      pool.givenUp = search.givenUp
      return state.takeMatches()
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
      const found: Slot[] = []
      grid.begin(slot)
      for (let scale = 0; scale <= grid.coverOf(slot) && grid.count < most; scale++) grid.collect(scale, MOST_READ, 0)
      if (grid.count < most) grid.collectAll(MOST_READ, slot)
      for (const other of grid.found.subarray(0, grid.count)) if (isFree(columns, other)) found.push(other)
      const costs = new Map(found.map((other) => [other, compare.cost(slot, other)]))
      const costOf = (other: Slot) => costs.get(other) as number
      return found.toSorted((one, other) => costOf(one) - costOf(other) || one - other).slice(0, most)
    },
    entryOf: (slot) => ({
      id: columns.ids[slot] as string,
      size: columns.size[slot] as number,
      since: columns.rows[slot * columns.stride + SINCE] as number,
      place: columns.placeOf(slot),
      values: columns.valuesOf(slot),
      facts: facts[slot] as Facts,
    }),
    levelOf: (slot, now) => {
      if (model.adaptive !== true)
        return levelAt(model.levels, now - (columns.rows[slot * columns.stride + SINCE] as number))
      levels.renew(now)
      return levels.of(slot)
    },
    aheadOf: (slot, now) => {
      if (model.adaptive !== true) return 0
      levels.renew(now)
      return levels.aheadOf(slot)
    },
  }
  return pool
}

const NEVER = () => false

function commonest(priorities: ReadonlyMap<number, number>): number | undefined {
  let [common, most]: [number | undefined, number] = [undefined, 0]
  for (const [priority, count] of priorities)
    if (count > most || (count === most && priority > (common ?? -Infinity))) {
      common = priority
      most = count
    }
  return common
}
