// pure: one round over the waiting tickets: who is tried, and in which order
import type { Bulk } from './bulk.js'
import { AWAKE, DEFERRED, FRESH, KEY, SETTLED, type Columns } from './columns.js'
import { RELAXED, TIME, type Levels } from './levels.js'
import type { RoundOptions, Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import { joined, type Order } from './order.js'
import type { SearchRadius } from './search-radius.js'
import type { Search } from './search.js'
import type { Found, SearchTerms, Vacancy } from './search-terms.js'

/** So a search that was given up is repeated every 64th round at least. */
const LONGEST_GAP = 6
const MOST_TRIES = 255
/** Tickets' worth of work after which there may be a pause. */
const PAUSE = 500
/** Tickets filed between two pauses. */
const FILED_AT_ONCE = 4096

export interface RoundInput<Facts> {
  readonly columns: Columns
  readonly levels: Levels
  readonly order: Order
  readonly bulk: Bulk
  readonly search: Search<Facts>
  readonly reach: SearchRadius
  /** The index of tickets; those a round has never looked for may be missing. */
  readonly neighbours: Neighbours
  /** The index of openings; all of them. */
  readonly openings: Neighbours
  readonly vacancies: ReadonlyMap<Slot, Vacancy<Facts>>
  /** Tickets that wait. */
  count(): number
  /** Wakes those of the settled whom the changed concern. */
  wake(changed: Int32Array, settled: Int32Array, among: Neighbours): void
  readonly lastResortLevel: number
  /** Keys in use. */
  keys(): number
  /** The priority that most tickets have; undefined if all have the same. */
  commonPriority(): number | undefined
  /** Tries of all searches before the bulk, and after it, from which on whoever is left waits for the next round. */
  readonly mostTries: number
  /** A search has proved that it is in no match of this round. */
  refused(slot: Slot): void
  /** Whether it is there, was there when the round began, and has no match yet. */
  free(slot: Slot): boolean
  group(opening: Slot | undefined, found: Found): void
  /** Finds room for those of the tickets who are left, if they are few. */
  augment(tickets: Int32Array): Generator<number, void>
}

/**
 * The bulk never overtakes tickets that wait. Of those that a round has passed over the longest waiting is tried first
 * in the next, with all others to choose from; only then are new tickets matched in bulk. So however many better
 * matches arrive, a ticket that could be matched chooses before them. Of different priorities the bulk takes the most
 * common one; tickets of a higher one, new or not, are tried before all others, those of a lower one after the bulk.
 *
 * A ticket for which no match was found settles, and is tried again when something has changed: it has relaxed, or a
 * new ticket that it may meet has come. So tickets that wait for something rare cost next to nothing.
 *
 * Where matches are checked as a whole, a round has a bound of tries (`tries.ts`); whoever had no turn comes first in
 * the next.
 *
 * Yields how many tickets' worth of work it has done.
 */
export function createRound<Facts>(input: RoundInput<Facts>) {
  const { columns, levels, order, bulk, search, reach, neighbours, openings, vacancies, free } = input
  /** Of all tickets, so far. */
  let rounds = 0

  /** Tries each in turn, as far as the tries go; the others come first in the next round. */
  function* tryEach(anchors: Int32Array, terms: SearchTerms = {}): Generator<number, void> {
    let done = search.work()
    const enough = done + input.mostTries
    for (const anchor of anchors) {
      if (!free(anchor)) continue
      if (search.work() > enough) {
        columns.standing[anchor] = DEFERRED
        continue
      }
      const found = search.around(anchor, terms)
      if (found !== undefined) input.group(undefined, found)
      else {
        columns.standing[anchor] = settledOrAwake(anchor)
        if (search.sawAll) input.refused(anchor)
      }
      if (search.work() - done < PAUSE) continue
      yield search.work() - done
      done = search.work()
    }
  }

  /** Fills each in turn. */
  function* fillEach(slots: Int32Array, wanted: Slot | undefined): Generator<number, void> {
    const enough = search.work() + input.mostTries
    for (const slot of slots) {
      const vacancy = vacancies.get(slot)
      if (vacancy === undefined || !free(slot) || (wanted !== undefined && !free(wanted))) continue
      if (search.work() > enough) {
        columns.standing[slot] = DEFERRED
        continue
      }
      const before = search.work()
      const found = search.fill(vacancy, wanted)
      if (found !== undefined) input.group(slot, found)
      else if (wanted === undefined) columns.standing[slot] = settledOrAwake(slot)
      yield search.work() - before
    }
  }

  /**
   * Last-resort tickets are few; they are tried in each round, as new tickets do not tell which of them they may meet.
   * A search that did not see all may have missed a match: it is repeated after 2, 4, 8 … 64 rounds, each time from
   * other candidates on, so that all of them are looked at in the end.
   */
  const settledOrAwake = (slot: Slot): number => {
    if (levels.of(slot) >= input.lastResortLevel) return AWAKE
    const tries = columns.tries[slot] as number
    if (!search.sawAll) columns.tries[slot] = tries === MOST_TRIES ? LONGEST_GAP : tries + 1
    return SETTLED
  }
  const isTurn = (slot: Slot): boolean => {
    const tries = Math.min(LONGEST_GAP, columns.tries[slot] as number)
    return tries > 0 && ((rounds + (columns.born[slot] as number)) & ((1 << tries) - 1)) === 0
  }

  const isWorthATry = (slot: Slot): boolean => {
    const news = levels.news(slot)
    if (news === RELAXED) columns.tries[slot] = 0
    // Time alone is no reason to repeat a search that was given up before its turn.
    return news === RELAXED || (news === TIME && columns.tries[slot] === 0) || isTurn(slot)
  }

  /** Key by key: tickets of different keys never meet. Those that are left are moved to the front; says how many. */
  function* inBulk(slots: Int32Array): Generator<number, number> {
    if (input.keys() === 1) return yield* bulk.run(slots, slots.length)
    const keyOf = (slot: Slot) => columns.rows[slot * columns.stride + KEY] as number
    slots.sort((one, other) => keyOf(one) - keyOf(other) || one - other)
    const starts = [...slots.keys()].filter(
      (at) => at === 0 || keyOf(slots[at] as Slot) !== keyOf(slots[at - 1] as Slot),
    )
    let left = 0
    for (const [index, start] of starts.entries()) {
      const ofKey = slots.subarray(start, starts[index + 1] ?? slots.length)
      const leftOfKey = yield* bulk.run(ofKey, ofKey.length)
      slots.copyWithin(left, start, start + leftOfKey)
      left += leftOfKey
    }
    return left
  }

  /** Files those that are not, in the order in which they are served. */
  function* file(slots: Int32Array): Generator<number, void> {
    const missing = inOrder(slots.filter((slot) => free(slot) && !neighbours.has(slot)))
    for (let from = 0; from < missing.length; from += FILED_AT_ONCE) {
      const some = missing.subarray(from, from + FILED_AT_ONCE)
      neighbours.insertAll(
        from === 0 ? some : some.filter((slot) => free(slot) && !neighbours.has(slot)),
        missing.length - from,
      )
      yield some.length
    }
  }
  /** Those of a higher priority than most, those of the one that most have, and those of a lower one. */
  const byPriority = (slots: Int32Array): [above: Int32Array, common: Int32Array, below: Int32Array] => {
    const common = input.commonPriority()
    if (common === undefined) return [NOBODY, slots, NOBODY]
    const than = (slot: Slot) => (columns.priority[slot] as number) - common
    return [
      slots.filter((slot) => than(slot) > 0),
      slots.filter((slot) => than(slot) === 0),
      slots.filter((slot) => than(slot) < 0),
    ]
  }
  const inOrder = (slots: Int32Array): Int32Array => {
    order.sort(slots, slots.length)
    return slots
  }
  /** Of those of one priority, whoever had no turn in the last round comes first. */
  const inTurn = (slots: Int32Array): Int32Array => {
    const { standing, priority } = columns
    if (!slots.some((slot) => standing[slot] === DEFERRED)) return inOrder(slots)
    const waited = (slot: Slot) => (standing[slot] === DEFERRED ? 0 : 1)
    return inOrder(slots).toSorted(
      (one, other) => (priority[other] as number) - (priority[one] as number) || waited(one) - waited(other),
    )
  }

  /** Those who are new, those for whom something has changed, and the others; wakes whom the first two concern. */
  const survey = (slots: Int32Array): Survey => {
    const { standing } = columns
    const fresh = new Int32Array(slots.length)
    const awake = new Int32Array(slots.length)
    const settled = new Int32Array(slots.length)
    let [news, due, still] = [0, 0, 0]
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at] as Slot
      if (standing[slot] === FRESH) {
        fresh[news++] = slot
        continue
      }
      if (isWorthATry(slot)) {
        neighbours.raise(slot)
        if (standing[slot] !== DEFERRED) standing[slot] = AWAKE
      }
      if (standing[slot] !== SETTLED) awake[due++] = slot
      else settled[still++] = slot
    }
    const changed = joined(awake.slice(0, due), fresh.subarray(0, news))
    if (still > 0) input.wake(changed, settled.subarray(0, still), neighbours)
    for (let at = 0; at < still; at++) if (standing[settled[at] as Slot] === AWAKE) awake[due++] = settled[at] as Slot
    return { fresh: fresh.subarray(0, news), awake: awake.subarray(0, due), changed: changed.length > 0 }
  }

  return {
    /** Tries all that there is a reason to try. */
    *full(tickets: Int32Array, when: RoundOptions['openings']): Generator<number, void> {
      rounds += 1
      const { fresh, awake, changed } = survey(tickets)
      yield tickets.length >> 4
      const [above, common, below] = byPriority(fresh)
      const [awakeAbove, awakeCommon, awakeBelow] = byPriority(awake)
      const vacant = () =>
        inTurn(
          Int32Array.from(vacancies.keys()).filter(
            (slot) => isWorthATry(slot) || changed || columns.standing[slot] !== SETTLED,
          ),
        )
      // Who chooses first chooses among all.
      const first = joined(joined(awakeAbove, above), awakeCommon)
      const early = first.length > 0 || (when !== 'none' && vacancies.size > 0)
      if (early) {
        yield* file(fresh)
      }

      if (when === 'first') yield* fillEach(vacant(), undefined)
      yield* tryEach(inTurn(first))
      const crowd = early ? common.filter(free) : common
      const left = yield* inBulk(crowd)
      const rest = joined(joined(crowd.subarray(0, left), below), awakeBelow)
      yield* file(rest)
      yield* tryEach(inTurn(rest))
      yield* input.augment(tickets)
      if (when === 'last') yield* fillEach(vacant(), undefined)
    },

    /**
     * Tries only some, and those beside them whom it takes. Whom these may meet only by another's last resort waits for
     * a full round.
     */
    *around(
      anchors: readonly Slot[],
      tickets: () => Int32Array,
      when: RoundOptions['openings'],
    ): Generator<number, void> {
      if (neighbours.count < input.count()) yield* file(tickets())
      for (const anchor of inOrder(Int32Array.from(anchors).filter(free))) {
        neighbours.raise(anchor)
        const alone = Int32Array.of(anchor)
        const near = () => inOrder(openings.allNear(anchor, reach(anchor)))
        if (when === 'first') yield* fillEach(near(), anchor)
        yield* tryEach(alone, ALL)
        if (when === 'last') yield* fillEach(near(), anchor)
      }
    },
  }
}

interface Survey {
  readonly fresh: Int32Array
  readonly awake: Int32Array
  /** Whether anything has happened since the last round. */
  readonly changed: boolean
}

const NOBODY = new Int32Array(0)
/** Tickets of a higher priority than the anchors have had no turn. */
const ALL = { all: true }
