// pure: one round over the waiting tickets: which are searched, and in which order
import { type Bulk, MOST_IN_BULK } from '../bulk/bulk.js'
import { CROWD } from '../bulk/crowd.js'
import type { Pausable } from '../data/budget.js'
import { DEFERRED, isFree, PARKED } from '../data/columns.js'
import { NOTHING } from '../data/levels.js'
import type { RoundOptions, Slot } from '../data/model.js'
import type { PoolParts } from '../data/parts.js'
import type { Grid } from '../grid/grid.js'
import type { Search, Vacancy } from '../search/search.js'
import type { DirtyTracker } from './dirty-tracking.js'
import { MOST_CHOSEN } from './pairs.js'
import type { RoundState } from './state.js'

/** In a pool of up to this many tickets, every round tries to match remaining tickets by rearranging matches. */
const TINY_POOL = 64
/** In a larger pool of up to this many tickets, a round rearranges matches only if most tickets are new. */
const SMALL_POOL = 500
/** Maximum number of tickets at the last resort that are tried for each opening that no other ticket fits. */
const MOST_LAST = 16
/** Greater than the number of any round. */
const LATER = 2 ** 32

export interface RoundInput<Facts> extends PoolParts<Facts> {
  readonly grid: Grid
  readonly tracker: DirtyTracker<Facts>
  readonly state: RoundState
  readonly search: Search<Facts>
  readonly vacancies: ReadonlyMap<Slot, Vacancy<Facts>>
  /** Returns the number of waiting tickets. */
  count(): number
  /** Returns the most frequent priority. Undefined if all tickets have the same. */
  commonPriority(): number | undefined
  /** Pairs these tickets if any two that may meet are a match. Undefined for other models. */
  readonly pairs: ((anchors: readonly Slot[], isMostlyNew: boolean) => Pausable<void>) | undefined
  readonly bulk: Bulk<Facts>
  readonly augment: (left: readonly Slot[]) => Pausable<void>
}

/**
 * Creates the rounds of a pool. Tickets of a higher priority have their turn first, then those with the longest wait.
 * If the last round ran out of tries, tickets that had no turn in it come before all others.
 *
 *     changed tickets ──▶ openings ──▶ waited, above ──▶ bulk of a crowd ──▶ the rest ──▶ augmenting
 *
 * If matches are checked as a whole, a round has a limit of tries without a match, and tickets that had no turn come
 * first in the next round. Tickets may arrive and leave between two steps, so each is checked again before its search.
 */
export function createRound<Facts>(input: RoundInput<Facts>) {
  const { columns, levels, grid, tracker, state, budget, search, vacancies, pairs } = input
  const priorityOf = (slot: Slot) => columns.priority[slot] as number
  const areFree = (slots: readonly Slot[]) => slots.filter((slot) => isFree(columns, slot))
  /** True if the last whole round ran out of tries, so that tickets without a turn come first in the next one. */
  let isOwed = false
  /** True if tickets may have been searched since openings were last tried. */
  let isUntried = false

  /**
   * Sorts by the highest priority, then by the longest wait. If `inTurn` is true, tickets without a turn in the last
   * round come before all others. Otherwise tickets of a high priority that no match can hold would take every turn.
   */
  const inOrder = (slots: readonly Slot[], inTurn: boolean): readonly Slot[] => {
    const oldest = slots.reduce((least, slot) => Math.min(least, columns.sinceOf(slot)), Infinity)
    const keys = new Float64Array(slots.length)
    // A sort key holds a wait and an index. With 100,000 slots, waits may differ by almost three years.
    const mostMs = Math.floor(Number.MAX_SAFE_INTEGER / keys.length) - 1
    for (let at = 0; at < keys.length; at++)
      keys[at] = Math.min(mostMs, Math.floor(columns.sinceOf(slots[at] as Slot) - oldest)) * keys.length + at
    keys.sort()
    const byWait = Array.from(slots, (_, at) => slots[(keys[at] as number) % keys.length] as Slot)
    const rank = (slot: Slot) => (columns.state[slot] === DEFERRED ? (columns.turnIn[slot] as number) : LATER)
    const byPriority = sortedBy(byWait, (slot) => -priorityOf(slot))
    return inTurn ? sortedBy(byPriority, rank) : byPriority
  }

  /**
   * Gives each ticket a turn until the tries are spent or the matches are made. The others come first in the next
   * round.
   */
  function* eachInTurn(slots: readonly Slot[], most: number, turn: (slot: Slot) => Pausable<boolean>): Pausable<void> {
    for (const slot of slots) {
      if (!isFree(columns, slot)) continue
      if (state.isOver() || state.made >= most) {
        tracker.defer(slot)
        continue
      }
      const { tries, spent } = budget
      columns.turnIn[slot] = state.number
      if (!(yield* turn(slot))) state.failed(tries, spent)
      if (budget.isPauseDue()) yield budget.pause()
    }
  }

  function* searchAround(anchor: Slot): Pausable<boolean> {
    const found = yield* search.around(anchor)
    if (found !== undefined) {
      state.group(undefined, found)
      return true
    }
    if (search.isHeldBack) tracker.hold(anchor)
    else if (isFree(columns, anchor)) tracker.park(anchor, search.sawAll)
    if (search.sawAll && !search.isHeldBack && !search.isPatient) columns.refusedIn[anchor] = state.number
    return false
  }

  function* searchEach(anchors: readonly Slot[], most: number): Pausable<void> {
    search.longestMs = search.slowestMs
    search.isRationed = most < Infinity
    if (most < Infinity)
      for (const slot of anchors) search.longestMs = Math.max(search.longestMs, levels.now - columns.sinceOf(slot))
    yield* eachInTurn(anchors, most, searchAround)
  }

  /** Fills each opening in turn, with the ticket `wanted` if given. */
  const fillEach = (slots: readonly Slot[], wanted: Slot | undefined): Pausable<void> =>
    eachInTurn(slots, Infinity, function* (slot) {
      const vacancy = vacancies.get(slot)
      if (vacancy === undefined || (wanted !== undefined && !isFree(columns, wanted))) return true
      let found = yield* search.fill(vacancy, wanted)
      let { sawAll } = search
      // A ticket at the last resort may allow tickets to join that otherwise may not.
      for (const last of wanted === undefined && found === undefined ? grid.atLastResort(MOST_LAST) : []) {
        if (found !== undefined || !isFree(columns, last)) continue
        found = yield* search.fill(vacancy, last)
        sawAll &&= search.sawAll
      }
      if (found !== undefined) state.group(slot, found)
      else if (wanted === undefined) tracker.park(slot, sawAll)
      return found !== undefined
    })

  function* tryAll(anchors: readonly Slot[], most: number, isMostlyNew: boolean): Pausable<void> {
    if (pairs === undefined || most < Infinity) return yield* searchEach(anchors, most)
    yield* pairs(
      anchors.filter((slot) => columns.size[slot] === 1),
      isMostlyNew,
    )
    const parties = anchors.filter((slot) => columns.size[slot] !== 1)
    yield* searchEach(parties, most)
  }

  return {
    /** Searches every ticket and opening that has a reason to be searched. */
    *full({ openings: when = 'first', most = Infinity }: RoundOptions): Pausable<void> {
      const waiting = input.count()
      if (budget.isPauseDue()) yield budget.pause()
      const { fresh, dirty } = yield* tracker.begin(most < Infinity)
      isUntried ||= fresh.length + dirty.length > 0
      const vacant = () => {
        const all = [...vacancies.keys()]
        const isNews = (slot: Slot) => levels.news(slot) !== NOTHING || isUntried || columns.state[slot] !== PARKED
        return inOrder(all.filter(isNews), isOwed)
      }
      const common = input.commonPriority()
      const isMostlyNew = fresh.length > tracker.parked + dirty.length
      const isCrowd = most === Infinity && fresh.length >= CROWD && isMostlyNew
      if (!isCrowd || (when !== 'none' && vacancies.size > 0)) yield* tracker.file([...dirty, ...fresh])
      if (when === 'first') yield* fillEach(vacant(), undefined)
      if (!isCrowd) yield* tryAll(inOrder([...dirty, ...fresh], isOwed), most, isMostlyNew)
      else {
        const isAbove = (slot: Slot) => common !== undefined && priorityOf(slot) > common
        yield* tracker.wakeAll()
        const first = [...dirty, ...fresh.filter(isAbove)]
        if (first.length > 0) {
          yield* tracker.file([...dirty, ...fresh])
          yield* tryAll(inOrder(first, isOwed), most, false)
        }
        const isOfCrowd = (slot: Slot) => common === undefined || priorityOf(slot) === common
        // A small crowd of one priority is paired later, by a better choice of pairs. For other crowds the bulk is
        // quicker.
        const isChosen = pairs !== undefined && common === undefined && fresh.length <= MOST_CHOSEN
        const crowd = isChosen ? [] : fresh
        for (let from = 0; from < crowd.length; from += MOST_IN_BULK) {
          const some = crowd.slice(from, from + MOST_IN_BULK)
          yield* input.bulk.match(Int32Array.from(some.filter((slot) => isFree(columns, slot) && isOfCrowd(slot))))
          if (budget.isPauseDue()) yield budget.pause()
        }
        const left = areFree(fresh)
        yield* tracker.file(left)
        yield* tryAll(inOrder(left, isOwed), most, isMostlyNew)
      }
      const left = [...areFree(dirty), ...areFree(fresh)]
      const isSmall = waiting <= (isMostlyNew ? SMALL_POOL : TINY_POOL)
      if (isSmall && most === Infinity && left.length > 0 && state.groups.length > 0)
        yield* input.augment(inOrder(left, false))
      if (when === 'last') yield* fillEach(vacant(), undefined)
      isOwed = state.isOver()
      if (when !== 'none') isUntried = false
      tracker.end()
    },

    /**
     * Makes only matches around the given tickets. Matches that only another ticket's last resort would allow are left
     * to the next full round.
     */
    *around(anchors: readonly Slot[], when: RoundOptions['openings']): Pausable<void> {
      const wasUntried = isUntried
      isUntried = true
      yield* tracker.catchUp()
      for (const anchor of inOrder(areFree(anchors), false)) {
        levels.of(anchor)
        grid.insert(anchor)
        const open = () => inOrder([...vacancies.keys()], false)
        if (when === 'first') yield* fillEach(open(), anchor)
        yield* searchEach([anchor], Infinity)
        if (when === 'last') yield* fillEach(open(), anchor)
      }
      isUntried = wasUntried || when === 'none'
    },
  }
}

/** Sorts by a number, ascending. The sort is stable. */
function sortedBy(slots: readonly Slot[], rankOf: (slot: Slot) => number): readonly Slot[] {
  const byRank = new Map<number, Slot[]>()
  for (const slot of slots) {
    const rank = rankOf(slot)
    const alike = byRank.get(rank)
    if (alike === undefined) byRank.set(rank, [slot])
    else alike.push(slot)
  }
  if (byRank.size <= 1) return slots
  return [...byRank].toSorted(([one], [other]) => one - other).flatMap(([, alike]) => alike)
}
