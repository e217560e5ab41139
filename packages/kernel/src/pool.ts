// pure: the waiting tickets of one queue, and the matches made of them
import { Bulk } from './bulk/bulk.js'
import { Budget } from './data/budget.js'
import { Columns, Interner, isFree } from './data/columns.js'
import { Compare } from './data/compare.js'
import { levelAt, Levels } from './data/levels.js'
import type { Entry, Matches, Model, Opening, Pool, Round, RoundOptions, Slot } from './data/model.js'
import type { PoolParts } from './data/parts.js'
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
 * A good size for a step of a round, in tickets. It takes 10 to 30 ms on one slow core, so that the thread can do other
 * work between two steps. A whole round of 100,000 tickets takes a few steps.
 */
export const STEP = 20_000

/** In a pool of up to this many tickets, every match is searched thoroughly. */
const FEW = 64
/**
 * Number of tries of one search, i.e. of candidates or arrangements of teams. `THOROUGH`: in a small pool. `FIRST`: a
 * ticket's first search in a larger pool. Later ones have `BRIEF`, doubled for each search that was cut short, at most
 * `DOUBLINGS` times.
 */
const THOROUGH = 4000
const FIRST = 200
const BRIEF = 400
const DOUBLINGS = 3
/** Maximum number of slots read for `around`. */
const MOST_READ = 4096
/** Maximum number of cached packings of openings: matches of many teams have too many shapes to keep all. */
const MOST_PACKINGS = 1000
const NEVER = () => false

export function createPool<Facts>(model: Model<Facts>): Pool<Facts> {
  return new ColumnPool(model)
}

/** The waiting tickets in columns, and the parts that make matches of them. */
class ColumnPool<Facts> implements Pool<Facts> {
  count = 0
  givenUp = 0
  readonly #parts: PoolParts<Facts>
  readonly #grid: Grid
  readonly #counts: QuotaCounts<Facts>
  readonly #keys = new Interner()
  readonly #networks = new Interner()
  readonly #vacancies = new Map<Slot, Vacancy<Facts>>()
  /** The packing of new matches, and the packings of openings by their free and taken seats. */
  readonly #packing: Packing
  readonly #packings = new Map<string, Packing>()
  /** Number of tickets of each priority. */
  readonly #priorities = new Map<number, number>()
  readonly #tracker: DirtyTracker<Facts>
  readonly #state: RoundState
  readonly #search: Search<Facts>
  readonly #rounds: ReturnType<typeof createRound<Facts>>
  #isTimeUp = NEVER

  constructor(model: Model<Facts>) {
    const columns = new Columns(model.spans.length)
    const levels = new Levels(model, columns)
    const grid = new Grid(model, columns)
    const counts = new QuotaCounts(model)
    const budget = new Budget(() => this.#isTimeUp())
    const packing = packingFor(model.teams, model.checks)
    const parts: PoolParts<Facts> = {
      model,
      columns,
      levels,
      compare: new Compare(model, columns),
      budget,
      facts: [],
      present: (slot) => this.#vacancies.get(slot)?.everyone ?? [],
      ranked: () => this.#priorities.size > 1,
    }
    const count = () => this.count
    const { checks } = model
    const isChecked =
      (checks?.part ?? checks?.whole ?? checks?.balanced ?? checks?.counts ?? checks?.unevenness) !== undefined
    const isExact = model.teams.every(({ min, max }) => min.every((least) => least === max))
    const isPairs = packing.players === 2 && isExact && !isChecked && counts.quotas.length === 0
    const singles = model.teams.flatMap(({ max }, team) => new Array<number>(max).fill(team))
    const draft = new Draft(parts, packing.players + 1)
    const tracker = new DirtyTracker({ ...parts, grid, draft, count })
    const state = new RoundState({ columns, grid, counts, budget, isChecked, note: (slot) => tracker.note(slot) })
    const search = new Search({
      ...parts,
      draft,
      packing,
      grid,
      counts,
      triesOf: (before) => (this.count <= FEW ? THOROUGH : before === 0 ? FIRST : BRIEF << Math.min(DOUBLINGS, before)),
      number: () => state.number,
    })
    this.#parts = parts
    this.#grid = grid
    this.#counts = counts
    this.#packing = packing
    this.#tracker = tracker
    this.#state = state
    this.#search = search
    this.#rounds = createRound<Facts>({
      ...parts,
      grid,
      tracker,
      state,
      search,
      vacancies: this.#vacancies,
      count,
      commonPriority: () => commonest(this.#priorities),
      pairs: isPairs ? createPairs({ ...parts, grid, draft, state, tracker, singles }) : undefined,
      bulk: new Bulk({
        ...parts,
        draft,
        search,
        state,
        players: packing.players,
        isPairs,
        singles,
        mostMatches: () => counts.mostMatches(0),
        hasManyKeys: () => this.#keys.size > 1,
      }),
      augment: (left) => augment({ columns, budget, search, draft, state }, left),
    })
  }

  add(entry: Entry<Facts>): Slot {
    const slot = this.#put(entry, entry.size)
    this.#parts.levels.enter(slot, entry.region)
    this.#parts.facts[slot] = entry.facts
    this.#counts.add(slot, entry.facts)
    this.#tracker.note(slot)
    this.#priorities.set(entry.priority, (this.#priorities.get(entry.priority) ?? 0) + 1)
    this.count += 1
    return slot
  }
  remove(slot: Slot): void {
    if (!this.#isIn(slot, false)) return
    const priority = this.#parts.columns.priority[slot] as number
    const alike = (this.#priorities.get(priority) ?? 0) - 1
    if (alike > 0) this.#priorities.set(priority, alike)
    else this.#priorities.delete(priority)
    this.#grid.remove(slot)
    this.#counts.remove(slot)
    if (!this.#state.isGoing) this.#parts.facts[slot] = undefined
    this.count -= 1
    this.#drop(slot)
  }
  addOpening(opening: Opening<Facts>): Slot {
    const { model, levels } = this.#parts
    const slot = this.#put(opening, 0)
    const { rooms, present } = opening
    const players = opening.players ?? rooms.map((room, team) => Math.max(0, (model.teams[team]?.max ?? 0) - room))
    levels.enter(slot)
    const packing = this.#packingOf(rooms, players)
    this.#vacancies.set(slot, { slot, packing, rooms, present, players, everyone: present.flat() })
    return slot
  }
  removeOpening(slot: Slot): void {
    if (!this.#isIn(slot, true)) return
    this.#vacancies.delete(slot)
    this.#drop(slot)
  }
  setHeadStarts(headStarts: Float64Array): void {
    if (this.#parts.levels.setHeadStarts(headStarts)) this.#tracker.relaxOtherwise()
  }

  group(now: number): Matches {
    const round = this.round(now)
    while (round.step(Infinity));
    return round.take()
  }
  round(now: number, options: RoundOptions = {}): Round {
    const work = this.#begin(now, options)
    const state = this.#state
    let { number } = state
    return {
      step: (amount, isDue = NEVER) => {
        let isDone = false
        this.#isTimeUp = () => (isDone ||= isDue())
        for (let left = amount; left > 0;) {
          if (number !== state.number) return false
          const { done, value } = work.next()
          this.givenUp = this.#search.givenUp
          if (done === true) {
            state.isGoing = false
            return false
          }
          left -= Math.max(1, value)
          if (this.#isTimeUp()) return true
        }
        return true
      },
      take: () => (number === state.number ? state.takeMatches() : []),
      hurry: () => {
        if (number === state.number) state.isLate = true
      },
      drop: () => {
        if (number === state.number) state.end()
        number = 0
      },
    }
  }

  around(slot: Slot, now: number, most: number): Slot[] {
    const { columns, levels, compare } = this.#parts
    const grid = this.#grid
    levels.renew(now)
    if (!this.#state.isGoing) columns.horizon = columns.births
    grid.begin(slot)
    for (let scale = 0; scale <= grid.coverOf(slot) && grid.count < most; scale++) grid.collect(scale, MOST_READ, 0)
    if (grid.count < most) grid.collectAll(MOST_READ, slot)
    const found = [...grid.found.subarray(0, grid.count)].filter((other) => isFree(columns, other))
    const costs = new Map(found.map((other) => [other, compare.cost(slot, other)]))
    const costOf = (other: Slot) => costs.get(other) as number
    return found.toSorted((one, other) => costOf(one) - costOf(other) || one - other).slice(0, most)
  }
  some(most: number): Slot[] {
    const { columns } = this.#parts
    const slots: Slot[] = []
    for (let slot = 0; slot < columns.end && slots.length < most; slot++) if (this.#isIn(slot, false)) slots.push(slot)
    return slots
  }
  entryOf(slot: Slot): ReturnType<Pool<Facts>['entryOf']> {
    const { columns, facts } = this.#parts
    return {
      id: columns.ids[slot] as string,
      size: columns.size[slot] as number,
      since: columns.sinceOf(slot),
      place: columns.placeOf(slot),
      values: columns.valuesOf(slot),
      facts: facts[slot] as Facts,
    }
  }
  levelOf(slot: Slot, now: number): number {
    const { model, columns, levels } = this.#parts
    if (model.adaptive !== true) return levelAt(model.levels, now - columns.sinceOf(slot))
    levels.renew(now)
    return levels.of(slot)
  }
  aheadOf(slot: Slot, now: number): number {
    const { model, levels } = this.#parts
    if (model.adaptive !== true) return 0
    levels.renew(now)
    return levels.aheadOf(slot)
  }
  sizesAt(level: number): readonly number[] | undefined {
    return this.#packing.sizes?.totalsAt(atLevel(level))
  }

  #put(row: Entry<Facts> | Opening<Facts>, size: number): Slot {
    const network = row.network === undefined ? -1 : this.#networks.acquire(row.network)
    return this.#parts.columns.put(row, this.#keys.acquire(row.key), network, size)
  }
  #drop(slot: Slot): void {
    const { columns } = this.#parts
    this.#keys.drop(columns.keyOf(slot))
    this.#networks.drop(columns.network[slot] as number)
    this.#state.remove(slot)
  }
  #isIn(slot: Slot, opening: boolean): boolean {
    const { born, size } = this.#parts.columns
    return (born[slot] ?? 0) > 0 && (size[slot] === 0) === opening
  }
  #packingOf(rooms: readonly number[], players: readonly number[]): Packing {
    const { levels, teams, checks } = this.#parts.model
    const shape = `${rooms.join()} ${players.join()}`
    // An opening accepts any number of players, so its teams have no minimum.
    const min = new Uint16Array(levels.length)
    const takers = rooms.map((max, team) => ({ max, min, present: players[team], kind: teams[team]?.kind }))
    const known = this.#packings.get(shape) ?? packingFor(takers, checks)
    if (this.#packings.size >= MOST_PACKINGS) this.#packings.clear()
    this.#packings.set(shape, known)
    return known
  }
  #begin(now: number, options: RoundOptions): Generator<number, void> {
    const { levels } = this.#parts
    levels.renew(now)
    this.#packing.prune()
    this.#state.begin()
    for (const [slot, { packing }] of this.#vacancies) {
      packing.prune()
      levels.of(slot)
    }
    return options.anchors === undefined
      ? this.#rounds.full(options)
      : this.#rounds.around(options.anchors, options.openings ?? 'first')
  }
}

const packingFor = <Facts>(teams: readonly Taker[], checks: Model<Facts>['checks']): Packing =>
  createPacking(teams, checks?.counts && createTeamSizes(teams, checks.counts))

/** Returns the most frequent priority, on a tie the higher one. Undefined if all are equal. */
function commonest(priorities: ReadonlyMap<number, number>): number | undefined {
  if (priorities.size <= 1) return undefined
  const byCount = [...priorities].toSorted(([one, many], [other, more]) => more - many || other - one)
  return byCount[0]?.[0]
}
