// pure: the waiting tickets of one queue, and the matches made of them
import { createAccept } from './accept.js'
import { augment } from './augment.js'
import { createBulk } from './bulk.js'
import { createColumns, FRESH, KEY, SINCE } from './columns.js'
import { createCost } from './cost.js'
import { Draft } from './draft.js'
import { createGroups, type Groups } from './groups.js'
import { createLevels, levelAt } from './levels.js'
import type { Entry, Grouped, Matches, Model, Opening, Pool, RoundOptions, Slot } from './model.js'
import { createNearest } from './nearest.js'
import type { Mutable } from './mutable.js'
import { createStringInterner } from './string-interner.js'
import { createNeighbours } from './neighbours.js'
import { createOrder } from './order.js'
import { createPacking, type Packing } from './packing.js'
import { createSearchRadius } from './search-radius.js'
import { createRound } from './round.js'
import { Search } from './search.js'
import type { Found, Vacancy } from './search-terms.js'
import { Supply } from './supply.js'
import { createTally } from './tally.js'
import { SMALL_POOL, triesOf } from './tries.js'
import { createWaking } from './wake.js'

/**
 * A good size for a step of a round, in tickets' worth of work: 10 to 30 ms on one slow core, so that other work on the
 * thread is served between two steps. A whole round of 100,000 tickets takes a few steps.
 */
export const STEP = 20_000

export function createPool<Facts>(model: Model<Facts>): Pool<Facts> {
  const columns = createColumns(model.spans.length)
  const levels = createLevels(model, columns)
  const keys = createStringInterner()
  const networks = createStringInterner()
  const priorities = createTally()
  const packing = createPacking(model.teams)
  const packings = new Map<string, Packing>()
  const supply = new Supply(model, columns, levels)
  const neighbours = createNeighbours(model, columns, levels, supply.parts)
  const openings = createNeighbours(model, columns)
  const facts: (Facts | undefined)[] = []
  const vacancies = new Map<Slot, Vacancy<Facts>>()

  // The state of the current round.
  let number = 1
  let horizon = 0
  /** Whether a ticket or opening was removed since the round began. */
  let disturbed = false
  let going = false
  const isPresent = (slot: Slot) => (columns.born[slot] as number) > 0 && (columns.born[slot] as number) <= horizon
  const free = (slot: Slot) => columns.taken[slot] === 0 && isPresent(slot)
  const take = (slot: Slot) => {
    columns.taken[slot] = 1
    columns.standing[slot] = FRESH
    neighbours.remove(slot)
  }
  const group = (opening: Slot | undefined, { slots, teams }: Found) => {
    if (opening !== undefined) take(opening)
    for (const slot of slots) take(slot)
    groups.add(opening, slots, teams)
  }

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
  const accept = createAccept({ model, columns, packing, draft, facts })
  let groups = createGroups(columns, accept.planned)
  const tries = triesOf(model as unknown as Model<never>)
  const ranked = () => priorities.commonest() !== undefined
  const isRefused = (slot: Slot) => columns.refusedIn[slot] === number
  const search = new Search({
    model,
    columns,
    levels,
    searchRadius,
    draft,
    packing,
    neighbours,
    supply,
    facts,
    cost,
    effort: (before) => tries.ofSearch(pool.count, before),
    ranked,
    isRefused,
  })
  /**
   * Accepts matches made in bulk, as far as other rules allow; see `BulkInput.group`. Tickets not in the index need not
   * be removed from it.
   */
  const groupAll = (slots: Int32Array, from: number, many: number): number => {
    if (many === 0) return 0
    const tickets = Math.min(many, packing.players)
    if (model.checks === undefined && !disturbed) {
      groups.addRun(slots, from, many, tickets)
      const { taken } = columns
      for (let at = from; at < from + many; at++) taken[slots[at] as Slot] = 1
      if (neighbours.count > 0) for (let at = from; at < from + many; at++) neighbours.remove(slots[at] as Slot)
      return 0
    }
    let refused = 0
    for (let at = from; at < from + many; at += tickets) {
      const members = [...slots.subarray(at, at + tickets)]
      const teams = members.every(free) ? accept.accepted(members) : undefined
      if (teams === undefined) refused += 1
      else group(undefined, { slots: members, teams })
    }
    return refused
  }
  const bulk = createBulk({
    model,
    columns,
    levels,
    packing,
    free,
    group: groupAll,
    disturbed: () => disturbed,
    work: model.checks === undefined ? undefined : accept.work,
  })
  const release = (slot: Slot) => {
    columns.taken[slot] = 0
    neighbours.insert(slot)
  }
  function* augmented(all: Int32Array): Generator<number, void> {
    if (all.length > SMALL_POOL || groups.single().length === 0) return
    const left = all.filter(free)
    order.sort(left, left.length)
    const enough = search.work() + tries.ofRound / 2
    const isOver = () => search.work() > enough
    const isAhead = (slot: Slot, other: Slot) =>
      columns.size[slot] === columns.size[other] &&
      (columns.priority[slot] as number) > (columns.priority[other] as number)
    yield* augment({ search, draft, groups, free, isPresent, isOver, isAhead, take, release }, left)
  }
  const rounds = createRound({
    columns,
    levels,
    order,
    bulk,
    search,
    searchRadius,
    neighbours,
    openings,
    vacancies,
    wake: createWaking({ columns, draft, searchRadius }),
    count: () => pool.count,
    lastResortLevel: model.lastResortLevel,
    keys: keys.count,
    commonPriority: priorities.commonest,
    mostTries: tries.ofRound,
    refused: (slot) => {
      columns.refusedIn[slot] = number
    },
    free,
    group,
    augment: augmented,
  })

  const tickets = (): Int32Array => ticketsInto(new Int32Array(pool.count))
  const ticketsInto = (slots: Int32Array): Int32Array => {
    const { born, size, end } = columns
    for (let slot = 0, at = 0; slot < end; slot++) if (size[slot] !== 0 && born[slot] !== 0) slots[at++] = slot
    return slots
  }
  /** The buffer for the tickets of a round; only one round runs at a time. */
  let scratch = new Int32Array(0)
  const ticketsOfRound = (): Int32Array => {
    if (scratch.length < pool.count) scratch = new Int32Array(2 ** Math.ceil(Math.log2(pool.count)))
    return ticketsInto(scratch.subarray(0, pool.count))
  }

  const put = (row: Entry<Facts> | Opening<Facts>, size: number): Slot =>
    columns.put(row, keys.take(row.key), row.network === undefined ? -1 : networks.take(row.network), size)
  const keyOf = (slot: Slot) => columns.rows[slot * columns.stride + KEY] as number
  const nearest = createNearest(neighbours, cost)
  const drop = (slot: Slot): void => {
    keys.drop(keyOf(slot))
    if (columns.network[slot] !== -1) networks.drop(columns.network[slot] as number)
    columns.free(slot)
    disturbed = true
  }
  const isIn = (slot: Slot, opening: boolean) => (columns.born[slot] ?? 0) > 0 && (columns.size[slot] === 0) === opening

  const begin = (now: number, { anchors, openings: when = 'first' }: RoundOptions): Generator<number, void> => {
    levels.renew(now)
    packing.prune()
    number += 1
    horizon = columns.births
    disturbed = false
    going = true
    columns.taken.fill(0, 0, columns.end)
    groups = createGroups(columns, accept.planned)
    return anchors === undefined ? rounds.full(ticketsOfRound(), when) : rounds.around(anchors, ticketsOfRound, when)
  }
  const finished = (made: Groups): Matches => {
    const all = made.take()
    if (!disturbed) return all
    const whole = ({ opening, slots }: Grouped) =>
      (opening === undefined || isPresent(opening)) && slots.every(isPresent)
    return [...all].filter((grouped) => {
      if (whole(grouped)) return true
      for (const slot of grouped.slots) columns.taken[slot] = 0
      return false
    })
  }

  const pool: Mutable<Pool<Facts>> = {
    count: 0,
    bytes: () => [columns, neighbours, supply, openings, order, bulk].reduce((sum, part) => sum + part.bytes(), 0),
    add: (entry) => {
      const slot = put(entry, entry.size)
      facts[slot] = entry.facts
      supply.add(slot, entry.facts)
      priorities.add(entry.priority)
      pool.count += 1
      return slot
    },
    addOpening: (opening) => {
      const slot = put(opening, 0)
      const shape = opening.rooms.join()
      const roomFor =
        packings.get(shape) ??
        createPacking(opening.rooms.map((max) => ({ max, min: new Uint16Array(model.levels.length) })))
      packings.set(shape, roomFor)
      vacancies.set(slot, {
        slot,
        packing: roomFor,
        rooms: opening.rooms,
        present: opening.present,
        everyone: opening.present.flat(),
      })
      openings.insert(slot)
      return slot
    },
    remove: (slot) => {
      if (!isIn(slot, false)) return
      priorities.remove(columns.priority[slot] as number)
      neighbours.remove(slot)
      facts[slot] = undefined
      pool.count -= 1
      drop(slot)
    },
    removeOpening: (slot) => {
      if (!isIn(slot, true)) return
      vacancies.delete(slot)
      openings.remove(slot)
      drop(slot)
    },
    group: (now) => {
      const work = begin(now, {})
      while (work.next().done !== true);
      going = false
      return groups.take()
    },
    round: (now, options = {}) => {
      const work = begin(now, options)
      const [mine, made] = [number, groups]
      return {
        step: (amount) => {
          for (let left = amount; left > 0;) {
            if (mine !== number) return false
            const { done, value } = work.next()
            if (done === true) {
              going = false
              return false
            }
            left -= Math.max(1, value)
          }
          return true
        },
        take: () => (mine === number ? finished(made) : []),
      }
    },
    around: (slot, now, most) => {
      levels.renew(now)
      if (!going) horizon = columns.births
      // Tickets matched in the current round are left out.
      for (const each of neighbours.count < pool.count ? tickets() : [])
        if (free(each) && !neighbours.has(each)) neighbours.insert(each)
      const key = keyOf(slot)
      return nearest(slot, most, (other) => keyOf(other) === key)
    },
    entryOf: (slot) => ({
      id: columns.ids[slot] as string,
      size: columns.size[slot] as number,
      since: columns.rows[slot * columns.stride + SINCE] as number,
      place: columns.placeOf(slot),
      values: columns.valuesOf(slot),
      facts: facts[slot] as Facts,
    }),
    levelOf: (slot, now) => levelAt(model.levels, now - (columns.rows[slot * columns.stride + SINCE] as number)),
  }
  return pool
}
