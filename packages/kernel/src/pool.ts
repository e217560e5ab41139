// pure: the waiting tickets of one queue, and the matches made of them
import { createAccept } from './accept.js'
import { createBulk } from './bulk.js'
import { createColumns, KEY } from './columns.js'
import { createCost } from './cost.js'
import { Draft } from './draft.js'
import { Effort } from './effort.js'
import { Filing } from './filing.js'
import { createLeftoverTurns } from './leftover-turns.js'
import { createLevels } from './levels.js'
import type { Entry, Model, Opening, Pool, RoundOptions, Slot } from './model.js'
import { createNearest } from './nearest.js'
import type { Mutable } from './mutable.js'
import { createStringInterner } from './string-interner.js'
import { createNeighbours } from './neighbours.js'
import { createOrder } from './order.js'
import { createPacking } from './packing.js'
import { createTooFarApart } from './pair-limits.js'
import { createPairTurns } from './pair-turns.js'
import { createProposals } from './proposals.js'
import { createRearranging } from './rearranging.js'
import { createSearchRadius } from './search-radius.js'
import { createRound } from './round.js'
import { RoundState } from './round-state.js'
import { createRunningRound } from './running-round.js'
import { Search } from './search.js'
import { Supply } from './supply.js'
import { Survey } from './survey.js'
import { createTally } from './tally.js'
import { createTicketSlots } from './ticket-slots.js'
import { triesOf } from './tries.js'
import { createTold } from './told.js'
import { createTurnOrder } from './turn-order.js'
import { Unsettled } from './unsettled.js'
import { Vacancies } from './vacancies.js'
import { createWaking } from './wake.js'

/**
 * A good size for a step of a round, in tickets' worth of work: 10 to 30 ms on one slow core, so that other work on the
 * thread is served between two steps. A whole round of 100,000 tickets takes a few steps.
 */
export const STEP = 20_000

export function createPool<Facts>(model: Model<Facts>): Pool<Facts> {
  const plain = model as unknown as Model<never>
  const columns = createColumns(model.spans.length)
  const levels = createLevels(model, columns)
  const keys = createStringInterner()
  const networks = createStringInterner()
  const priorities = createTally()
  const packing = createPacking(model.teams)
  const supply = new Supply(model, columns, levels)
  const neighbours = createNeighbours(model, columns, levels, supply.parts)
  const openings = createNeighbours(model, columns)
  const facts: (Facts | undefined)[] = []
  const vacancies = new Vacancies<Facts>(model)
  let isTimeUp = () => false
  const effort = new Effort(() => isTimeUp())

  const searchRadius = createSearchRadius(model, columns, levels)
  const cost = createCost(model, columns)
  const order = createOrder(columns)
  const draft = new Draft({
    model,
    columns,
    levels,
    facts,
    present: (slot) => vacancies.get(slot)?.everyone ?? [],
    largest: packing.players + 1,
  })
  const accept = createAccept({ model, columns, packing, draft, facts, effort })
  const unsettled = new Unsettled(columns)
  const state = new RoundState(columns, neighbours, unsettled, accept.planned)
  const { free, isPresent } = state
  const tries = triesOf(plain)
  const ranked = () => priorities.commonest() !== undefined
  const counted = { number: () => state.number, count: () => pool.count, keys: keys.count, all: () => tickets.all() }
  /** What most parts need. */
  const shared = { model, columns, levels, packing, effort, free, disturbed: () => state.isDisturbed, ...counted }
  const search = new Search({
    ...shared,
    searchRadius,
    draft,
    neighbours,
    supply,
    facts,
    cost,
    triesOf: (before) => tries.ofSearch(pool.count, before),
    ranked,
    isRefused: (slot) => columns.refusedIn[slot] === state.number,
  })
  const isChecked = model.checks !== undefined
  const mostWasted = tries.ofRound / 4
  const proposals = createProposals({ columns, neighbours, state, accept, effort, isChecked, mostWasted })
  const bulk = createBulk({
    ...shared,
    group: (slots, at, count) => proposals.add(slots, at, count, Math.min(count, packing.players)),
    settle: proposals.settle,
  })
  const isLate = () => state.isLate && tries.ofRound < Infinity
  const isTooFarApart = createTooFarApart(plain, columns, levels)
  const wake = createWaking({ columns, draft, searchRadius, isTooFarApart, effort, isPresent })
  const refused = (slot: Slot) => {
    columns.refusedIn[slot] = state.number
  }
  const turns = createTurnOrder({ columns, order, commonPriority: priorities.commonest })
  const filing = new Filing({ ...shared, neighbours, inOrder: turns.inOrder })
  const survey = new Survey({
    ...shared,
    neighbours,
    filing,
    unsettled,
    wake,
    isPresent,
    lastResortLevel: model.lastResortLevel,
  })
  /** What trying tickets without other rules needs. */
  const alone = {
    ...shared,
    model: plain,
    ranked,
    group: (slots: Slot[]) => {
      state.group(undefined, { slots, teams: accept.planned(slots) })
    },
    failed: (slot: Slot, sawAll: boolean) => {
      survey.settle(slot, sawAll)
      if (sawAll) refused(slot)
    },
  }
  const rounds = createRound({
    ...shared,
    turns,
    survey,
    unsettled,
    together: createLeftoverTurns(alone),
    pairs: createPairTurns({ ...alone, draft, cost, isTooFarApart, isVacant: () => vacancies.size > 0 }),
    bulk,
    search,
    searchRadius,
    neighbours,
    filing,
    openings,
    vacancies,
    mostTries: tries.ofRound,
    isLate,
    refused,
    group: state.group,
    augment: createRearranging({
      ...shared,
      order,
      search,
      searchRadius,
      neighbours,
      draft,
      tries,
      state,
      isLate,
    }),
  })

  const tickets = createTicketSlots(columns, () => pool.count)
  const put = (row: Entry<Facts> | Opening<Facts>, size: number): Slot =>
    columns.put(row, keys.take(row.key), row.network === undefined ? -1 : networks.take(row.network), size)
  const keyOf = (slot: Slot) => columns.rows[slot * columns.stride + KEY] as number
  const nearest = createNearest(neighbours, cost)
  const drop = (slot: Slot): void => {
    keys.drop(keyOf(slot))
    if (columns.network[slot] !== -1) networks.drop(columns.network[slot] as number)
    state.remove(slot)
  }
  const isIn = (slot: Slot, opening: boolean) => (columns.born[slot] ?? 0) > 0 && (columns.size[slot] === 0) === opening

  const begin = (now: number, options: RoundOptions): Generator<number, void> => {
    const { anchors, openings: when = 'first', most = Infinity } = options
    levels.renew(now)
    packing.prune()
    state.begin()
    proposals.clear()
    return anchors === undefined ? rounds.full(when, most) : rounds.around(anchors, tickets.all, when)
  }

  const pool: Mutable<Pool<Facts>> = {
    count: 0,
    givenUp: 0,
    bytes: () => [columns, neighbours, supply, openings, order, bulk].reduce((sum, part) => sum + part.bytes(), 0),
    add: (entry) => {
      const slot = put(entry, entry.size)
      levels.enter(slot, entry.region)
      facts[slot] = entry.facts
      supply.add(slot, entry.facts)
      unsettled.addNew(slot)
      priorities.add(entry.priority)
      pool.count += 1
      return slot
    },
    addOpening: (opening) => {
      const slot = put(opening, 0)
      levels.enter(slot, undefined)
      vacancies.add(slot, opening)
      openings.insert(slot)
      return slot
    },
    remove: (slot) => {
      if (!isIn(slot, false)) return
      priorities.remove(columns.priority[slot] as number)
      neighbours.remove(slot)
      if (!state.isGoing) facts[slot] = undefined
      pool.count -= 1
      drop(slot)
    },
    removeOpening: (slot) => {
      if (!isIn(slot, true)) return
      vacancies.delete(slot)
      openings.remove(slot)
      drop(slot)
    },
    setHeadStarts: (headStarts) => {
      if (levels.setHeadStarts(headStarts)) survey.relaxOtherwise()
    },
    group: (now) => {
      const work = begin(now, {})
      while (work.next().done !== true);
      state.isGoing = false
      pool.givenUp = search.givenUp
      return state.groups.take()
    },
    round: (now, options = {}) =>
      createRunningRound(begin(now, options), {
        state,
        setClock: (isDue) => {
          isTimeUp = isDue
        },
        worked: () => {
          pool.givenUp = search.givenUp
        },
      }),
    around: (slot, now, most) => {
      levels.renew(now)
      if (!state.isGoing) state.includeAll()
      // Tickets matched in the current round are left out.
      for (const each of neighbours.count < pool.count ? tickets.all() : [])
        if (free(each) && !neighbours.has(each)) neighbours.insert(each)
      const key = keyOf(slot)
      return nearest(slot, most, (other) => keyOf(other) === key)
    },
    ...createTold({ model, columns, levels, facts }),
  }
  return pool
}
