// pure: one round over the waiting tickets: which are tried, and in which order
import type { Bulk } from './bulk-input.js'
import { DEFERRED, KEY, SETTLED, type Columns } from './columns.js'
import type { Effort, Pausable } from './effort.js'
import type { Filing } from './filing.js'
import type { LeftoverTurns } from './leftover-turns.js'
import type { RoundOptions, Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import { joined } from './order.js'
import type { PairTurns } from './pair-turns.js'
import type { SearchRadius } from './search-radius.js'
import type { Search } from './search.js'
import type { Found, SearchTerms, Vacancy } from './search-terms.js'
import { filtered, groupedByKey } from './slices.js'
import type { Survey } from './survey.js'
import { SMALL_POOL } from './tries.js'
import type { TurnOrder } from './turn-order.js'
import type { Unsettled } from './unsettled.js'

export interface RoundInput<Facts> {
  readonly columns: Columns
  readonly turns: TurnOrder
  readonly survey: Survey
  readonly unsettled: Unsettled
  readonly effort: Effort
  readonly bulk: Bulk
  readonly pairs: PairTurns
  readonly search: Search<Facts>
  readonly searchRadius: SearchRadius
  /** The index of tickets; those that no round has searched for in it may be missing. */
  readonly neighbours: Neighbours
  readonly filing: Filing
  /** The index of all openings. */
  readonly openings: Neighbours
  readonly vacancies: ReadonlyMap<Slot, Vacancy<Facts>>
  /** The number of the round. */
  number(): number
  /** The number of waiting tickets. */
  count(): number
  /** The number of keys in use. */
  keys(): number
  /**
   * Limit of the tries of all searches before the bulk, and again after it; tickets left over then wait for the next
   * round.
   */
  readonly mostTries: number
  /** Whether tickets that had no turn yet are to wait for the next round. */
  isLate(): boolean
  /** Notes that a search has proved that no match of this round can hold the ticket. */
  refused(slot: Slot): void
  /** Whether a ticket or opening has left the pool since the round began. */
  disturbed(): boolean
  /** Whether the ticket or opening is in the pool, was there when the round began, and has no match yet. */
  free(slot: Slot): boolean
  group(opening: Slot | undefined, found: Found): void
  /** Searches for many tickets together, where this pays. */
  readonly together: LeftoverTurns
  /**
   * Rearranges matches to match the tickets left over, if the pool is small.
   * @param waiting how many tickets waited when the round began.
   */
  augment(waiting: number): Pausable<void>
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
 * Where matches are checked as a whole, a round has a limit of tries (`tries.ts`); tickets that had no turn come first
 * in the next round.
 *
 * Every generator yields how many tickets' worth of work it has done. Between two steps tickets may come and go, so
 * each is looked at again before it is tried.
 */
export function createRound<Facts>(input: RoundInput<Facts>) {
  const { columns, turns, survey, effort, bulk, search, searchRadius, neighbours, filing, openings, vacancies, free } =
    input
  const { inOrder, inTurn } = turns

  /** Leaves a ticket or opening to the next round. */
  const defer = (slot: Slot): void => {
    columns.standing[slot] = DEFERRED
    input.unsettled.add(slot)
    filing.note(slot)
    if (columns.turnIn[slot] === 0) columns.turnIn[slot] = input.number() - 1
  }

  /**
   * Tries each ticket in turn until the tries are spent, or the most matches are made; the remaining tickets come first
   * in the next round.
   */
  function* tryEach(anchors: Int32Array, terms: SearchTerms = {}, most = Infinity): Pausable<void> {
    if (effort.isPauseDue()) yield effort.pause()
    const enough = effort.spent + input.mostTries
    let made = 0
    for (const anchor of anchors) {
      if (!free(anchor)) continue
      if (made >= most || effort.spent > enough || input.isLate()) {
        defer(anchor)
        continue
      }
      columns.turnIn[anchor] = input.number()
      const found = yield* search.around(anchor, terms)
      if (found !== undefined) {
        input.group(undefined, found)
        made += 1
      } else {
        survey.settle(anchor, search.sawAll)
        if (search.sawAll) input.refused(anchor)
      }
      if (effort.isPauseDue()) yield effort.pause()
    }
  }

  /** Fills each opening in turn. */
  function* fillEach(slots: Int32Array, wanted: Slot | undefined): Pausable<void> {
    const enough = effort.spent + input.mostTries
    for (const slot of slots) {
      const vacancy = vacancies.get(slot)
      if (vacancy === undefined || !free(slot) || (wanted !== undefined && !free(wanted))) continue
      if (effort.spent > enough || input.isLate()) {
        defer(slot)
        continue
      }
      columns.turnIn[slot] = input.number()
      const found = yield* search.fill(vacancy, wanted)
      if (found !== undefined) input.group(slot, found)
      else if (wanted === undefined) survey.settle(slot, search.sawAll)
      if (effort.isPauseDue()) yield effort.pause()
    }
  }

  /**
   * Matches in bulk, key by key, because tickets of different keys are never matched. Moves the tickets left over to
   * the front and returns how many.
   */
  function* inBulk(slots: Int32Array): Generator<number, number> {
    if (input.keys() === 1) return yield* bulk.run(slots, slots.length)
    const ends = yield* groupedByKey(slots, (slot) => columns.rows[slot * columns.stride + KEY] as number)
    let left = 0
    for (const [index, end] of ends.entries()) {
      const start = ends[index - 1] ?? 0
      const ofKey = slots.subarray(start, end)
      const leftOfKey = yield* bulk.run(ofKey, ofKey.length)
      slots.copyWithin(left, start, start + leftOfKey)
      left += leftOfKey
    }
    return left
  }

  /** Tries tickets that choose among all others: to be found in the index, the new ones must be added to it. */
  function* tryFirst(anchors: Int32Array, fresh: Int32Array): Pausable<void> {
    const untried = yield* input.together(anchors, input.count() - anchors.length, false)
    if (untried.length === 0) return
    yield* filing.now(fresh)
    yield* tryEach(untried)
  }

  return {
    /** Tries every ticket and opening that has a reason to be tried. */
    *full(when: RoundOptions['openings'], most: number): Generator<number, void> {
      const waiting = input.count()
      const isRationed = most < Infinity
      const met = !isRationed && input.pairs.begin() ? input.pairs.met : undefined
      const { fresh, awake, changed, allMet } = yield* survey.begin(met)
      const waited = waiting - fresh.length
      const [above, common, below] = turns.byPriority(fresh)
      const [awakeAbove, awakeCommon, awakeBelow] = turns.byPriority(awake)
      const vacant = () =>
        inTurn(
          Int32Array.from(vacancies.keys()).filter(
            (slot) => survey.isWorthATry(slot) || changed || columns.standing[slot] !== SETTLED,
          ),
        )
      const first = yield* inTurn(joined(joined(awakeAbove, above), awakeCommon))
      const isVacant = when !== 'none' && vacancies.size > 0
      if (isVacant && !allMet) yield* filing.now(fresh)
      if (when === 'first') yield* fillEach(yield* vacant(), undefined)
      if (isRationed) {
        // Neither what is near on a curve nor what is cheap decides who is served, but the wait alone.
        yield* filing.now(fresh)
        yield* tryEach(yield* inOrder(joined(awake, fresh)), {}, most)
        if (when === 'last') yield* fillEach(yield* vacant(), undefined)
        return
      }
      if (allMet) yield* input.pairs.tryKnown(first)
      else if (first.length > 0) yield* tryFirst(first, fresh)
      const crowd = isVacant || first.length > 0 ? yield* filtered(common, free) : common
      const left = yield* inBulk(crowd)
      const rest = joined(joined(crowd.subarray(0, left), below), awakeBelow)
      const restInTurn = yield* inTurn(rest)
      const untried = yield* allMet ? input.pairs.tryNew(restInTurn) : input.together(restInTurn, waited, true)
      // Openings, and small pools that are rearranged, search for tickets near them.
      if (untried.length > 0 || isVacant || waiting <= SMALL_POOL) yield* filing.now(rest)
      yield* tryEach(untried)
      yield* input.augment(waiting)
      if (when === 'last') yield* fillEach(yield* vacant(), undefined)
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
      if (neighbours.count < input.count()) yield* filing.now(tickets())
      for (const anchor of yield* inOrder(Int32Array.from(anchors).filter(free))) {
        neighbours.raise(anchor)
        const alone = Int32Array.of(anchor)
        const near = () => inOrder(openings.allNear(anchor, searchRadius(anchor)))
        if (when === 'first') yield* fillEach(yield* near(), anchor)
        yield* tryEach(alone, ALL)
        if (when === 'last') yield* fillEach(yield* near(), anchor)
      }
    },
  }
}

/** In a round around given tickets, tickets of higher priority have had no turn. */
const ALL = { all: true }
