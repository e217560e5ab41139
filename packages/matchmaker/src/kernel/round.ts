// pure: one round over the waiting tickets: which are tried, and in which order
import type { Bulk } from './bulk.js'
import { AWAKE, DEFERRED, FRESH, KEY, SETTLED, type Columns } from './columns.js'
import { RELAXED, TIME, type Levels } from './levels.js'
import type { RoundOptions, Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import { joined, type Order } from './order.js'
import type { SearchRadius } from './search-radius.js'
import type { Search } from './search.js'
import type { Found, SearchTerms, Vacancy } from './search-terms.js'

/** Exponent of the longest gap: an incomplete search is repeated at least every 2⁶ = 64 rounds. */
const LONGEST_GAP = 6
const MOST_TRIES = 255
/** Work (in tickets) after which the round may pause. */
const PAUSE = 500
/** Tickets added to the index between two pauses. */
const FILED_AT_ONCE = 4096

export interface RoundInput<Facts> {
  readonly columns: Columns
  readonly levels: Levels
  readonly order: Order
  readonly bulk: Bulk
  readonly search: Search<Facts>
  readonly searchRadius: SearchRadius
  /** The index of tickets; tickets that no round has searched for yet may be missing. */
  readonly neighbours: Neighbours
  /** The index of all openings. */
  readonly openings: Neighbours
  readonly vacancies: ReadonlyMap<Slot, Vacancy<Facts>>
  /** The number of waiting tickets. */
  count(): number
  /**
   * Wakes the settled tickets that one of the changed tickets concerns. @param among the index of the settled tickets.
   */
  wake(changed: Int32Array, settled: Int32Array, among: Neighbours): void
  readonly lastResortLevel: number
  /** The number of keys in use. */
  keys(): number
  /** The most common priority; undefined if all tickets have the same. */
  commonPriority(): number | undefined
  /**
   * Limit of the tries of all searches before the bulk, and again after it; tickets left over then wait for the next
   * round.
   */
  readonly mostTries: number
  /** Notes that a search has proved that no match of this round can hold the ticket. */
  refused(slot: Slot): void
  /** Whether the ticket or opening is in the pool, was there when the round began, and has no match yet. */
  free(slot: Slot): boolean
  group(opening: Slot | undefined, found: Found): void
  /** Rearranges matches to match the tickets left over, if the pool is small. */
  augment(tickets: Int32Array): Generator<number, void>
}

/**
 * Creates the rounds of a pool.
 *
 * The bulk never overtakes waiting tickets. Of the tickets left unmatched by one round, the longest waiting is tried
 * first in the next, with all others to choose from; only then are new tickets matched in bulk. So a ticket that can be
 * matched chooses before any better matches that arrive later. With different priorities, the bulk takes the most
 * common priority; tickets of higher priority, new or not, are tried before all others, and tickets of lower priority
 * after the bulk.
 *
 * A ticket without a match settles, and is tried again when something has changed: the ticket has relaxed, or a new
 * ticket has come that it may be matched with. So tickets that wait for something rare cost next to nothing.
 *
 * Where matches are checked as a whole, a round has a limit of tries (`tries.ts`); tickets that had no turn come first
 * in the next round.
 *
 * Every generator yields how many tickets' worth of work it has done.
 */
export function createRound<Facts>(input: RoundInput<Facts>) {
  const { columns, levels, order, bulk, search, searchRadius, neighbours, openings, vacancies, free } = input
  /** Full rounds so far. */
  let rounds = 0

  /** Tries each ticket in turn until the tries are spent; the remaining tickets come first in the next round. */
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

  /** Fills each opening in turn. */
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
   * The state of a ticket after a search without a match. Last-resort tickets are few and are tried in each round, as
   * new tickets do not tell which of them they may be matched with. A search that did not see all candidates may have
   * missed a match: it is repeated after 2, 4, 8 … 64 rounds, each time starting from other candidates, so that all of
   * them are seen in the end.
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
    // An incomplete search is not repeated before its turn merely because time has passed.
    return news === RELAXED || (news === TIME && columns.tries[slot] === 0) || isTurn(slot)
  }

  /**
   * Matches in bulk, key by key, because tickets of different keys are never matched. Moves the tickets left over to
   * the front and returns how many.
   */
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

  /** Adds tickets missing from the index, in the order in which they are served. */
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
  /** Splits tickets into those above, at and below the most common priority. */
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
  /**
   * Sorts slots into the order in which they are served; within a priority, those that had no turn in the last round
   * come first.
   */
  const inTurn = (slots: Int32Array): Int32Array => {
    const { standing, priority } = columns
    if (!slots.some((slot) => standing[slot] === DEFERRED)) return inOrder(slots)
    const waited = (slot: Slot) => (standing[slot] === DEFERRED ? 0 : 1)
    return inOrder(slots).toSorted(
      (one, other) => (priority[other] as number) - (priority[one] as number) || waited(one) - waited(other),
    )
  }

  /**
   * Finds the new tickets and the tickets with a reason to be tried again, and wakes settled tickets that these
   * concern.
   */
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
    /** Tries every ticket and opening that has a reason to be tried. */
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
      // Tickets tried before the bulk choose among all tickets, so the new ones are added to the index first.
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
     * Makes only matches around the given tickets. Matches that only another ticket's last-resort level would allow are
     * left to the next full round.
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
        const near = () => inOrder(openings.allNear(anchor, searchRadius(anchor)))
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
  /** Whether any ticket is new, or has a reason to be tried again. */
  readonly changed: boolean
}

const NOBODY = new Int32Array(0)
/** In a round around given tickets, tickets of higher priority have had no turn. */
const ALL = { all: true }
