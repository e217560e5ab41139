// pure: one round over the waiting tickets: which are searched, and in which order
import type { Budget, Pausable } from '../data/budget.js'
import { DEFERRED, isFree, PARKED, SINCE, type Columns } from '../data/columns.js'
import { NOTHING, type Levels } from '../data/levels.js'
import type { RoundOptions, Slot } from '../data/model.js'
import type { Grid } from '../grid/grid.js'
import { CROWD } from '../bulk/bulk.js'
import type { Search, Vacancy } from '../search/search.js'
import type { DirtyTracker } from './dirty-tracking.js'
import type { RoundState } from './state.js'

/** In a pool of so many tickets, those left over are matched by rearranging matches. */
const SMALL_POOL = 500
/** In larger ones pairs are, if the tickets left over times the matches of the round are no more than this. */
const MOST_AUGMENTED = 1_000_000
/** With fewer slots than this they are sorted by comparing. */
const FEW = 4096
const FILED_AT_ONCE = 128

export interface RoundInput<Facts> {
  readonly columns: Columns
  readonly levels: Levels
  readonly grid: Grid
  readonly tracker: DirtyTracker
  readonly state: RoundState
  readonly budget: Budget
  readonly search: Search<Facts>
  readonly vacancies: ReadonlyMap<Slot, Vacancy<Facts>>
  /** The tickets that were added or matched, which whoever files them takes out: those not in the grid are in it. */
  unfiled(): Slot[]
  /** The number of waiting tickets. */
  count(): number
  /** The commonest priority; undefined if all tickets have the same. */
  commonPriority(): number | undefined
  /** Pairs these tickets, where any two that may meet are a match; undefined for other models. */
  readonly pairs: ((anchors: readonly Slot[]) => Pausable<void>) | undefined
  readonly bulk: (slots: Int32Array) => Pausable<void>
  readonly augment: (left: readonly Slot[]) => Pausable<void>
  /** Whether no more tries are left in this round. */
  isOver(): boolean
  /** A search has led to no match. @param tries of the budget before it. @param spent likewise. */
  failed(tries: number, spent: number): void
}

/**
 * Creates the rounds of a pool. Tickets that waited choose among all before new ones do, so that nobody is overtaken by
 * better matches that arrive later; those of a higher priority before all others.
 *
 *     changed tickets ──▶ openings ──▶ waited, above ──▶ bulk of a crowd ──▶ the rest ──▶ augmenting
 *
 * Where matches are checked as a whole, a round has a limit of tries that lead nowhere; tickets that had no turn come
 * first in the next. Between two steps tickets may come and go, so each is looked at again before it is searched.
 */
export function createRound<Facts>(input: RoundInput<Facts>) {
  const { columns, levels, grid, tracker, state, budget, search, vacancies, pairs, isOver } = input
  const priorityOf = (slot: Slot) => columns.priority[slot] as number
  const sinceOf = (slot: Slot) => columns.rows[slot * columns.stride + SINCE] as number

  /** Adds to the grid who is not in it. */
  function* file(): Pausable<void> {
    const slots = input.unfiled()
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at] as Slot
      // Also who came after the round began: the grid gives only those of the round.
      if (columns.born[slot] !== 0 && columns.size[slot] !== 0 && columns.taken[slot] === 0 && !grid.has(slot)) {
        levels.of(slot)
        grid.insert(slot)
      }
      if (at % FILED_AT_ONCE !== FILED_AT_ONCE - 1) continue
      budget.chargeTime(FILED_AT_ONCE / 8)
      if (!budget.isPauseDue()) continue
      slots.splice(0, at + 1)
      at = -1
      yield budget.pause()
    }
    slots.length = 0
  }

  /** The highest priority first, then, if `inTurn`, those who had none in the last round, then the longest wait. */
  const inOrder = (slots: readonly Slot[], inTurn: boolean): readonly Slot[] => {
    const rank = (slot: Slot) =>
      inTurn && columns.state[slot] === DEFERRED ? (columns.turnIn[slot] as number) : 2 ** 32
    const compare = (one: Slot, other: Slot) =>
      priorityOf(other) - priorityOf(one) ||
      rank(one) - rank(other) ||
      sinceOf(one) - sinceOf(other) ||
      (columns.born[one] as number) - (columns.born[other] as number)
    if (slots.every((slot, at) => at === 0 || compare(slots[at - 1] as Slot, slot) < 0)) return slots
    if (slots.length < FEW || input.commonPriority() !== undefined) return slots.toSorted(compare)
    const byRank = new Map<number, Slot[]>()
    for (const slot of slots) {
      const known = byRank.get(rank(slot))
      if (known === undefined) byRank.set(rank(slot), [slot])
      else known.push(slot)
    }
    return [...byRank].toSorted(([one], [other]) => one - other).flatMap(([, alike]) => byWait(alike))
  }

  /** Sorts by the time since when they wait, in whole milliseconds, without comparing each two. */
  const byWait = (slots: readonly Slot[]): Slot[] => {
    const oldest = slots.reduce((least, slot) => Math.min(least, sinceOf(slot)), Infinity)
    const keys = Float64Array.from(
      slots,
      (slot, at) => Math.min(2 ** 26 - 1, Math.floor(sinceOf(slot) - oldest)) * 2 ** 26 + at,
    )
    return Array.from(keys.toSorted(), (key) => slots[key % 2 ** 26] as Slot)
  }

  /** Searches around each ticket in turn until the tries are spent; the others come first in the next round. */
  function* searchEach(anchors: readonly Slot[], most: number): Pausable<void> {
    search.longestMs = search.slowestMs
    if (most < Infinity)
      for (const slot of anchors) search.longestMs = Math.max(search.longestMs, levels.now - sinceOf(slot))
    for (const anchor of anchors) {
      if (!isFree(columns, anchor)) continue
      if (isOver() || state.made >= most) {
        tracker.defer(anchor)
        continue
      }
      const { tries, spent } = budget
      columns.turnIn[anchor] = state.number
      const found = yield* search.around(anchor)
      if (found !== undefined) state.group(undefined, found)
      else {
        input.failed(tries, spent)
        if (isFree(columns, anchor)) tracker.park(anchor, search.sawAll)
        if (search.sawAll) columns.refusedIn[anchor] = state.number
      }
      if (budget.isPauseDue()) yield budget.pause()
    }
  }

  /** Fills each opening in turn. */
  function* fillEach(slots: readonly Slot[], wanted: Slot | undefined): Pausable<void> {
    for (const slot of slots) {
      const vacancy = vacancies.get(slot)
      if (vacancy === undefined || !isFree(columns, slot)) continue
      if (wanted !== undefined && !isFree(columns, wanted)) continue
      if (isOver()) {
        tracker.defer(slot)
        continue
      }
      const { tries, spent } = budget
      columns.turnIn[slot] = state.number
      const found = yield* search.fill(vacancy, wanted)
      if (found !== undefined) state.group(slot, found)
      else {
        input.failed(tries, spent)
        if (wanted === undefined) tracker.park(slot, search.sawAll)
      }
      if (budget.isPauseDue()) yield budget.pause()
    }
  }

  function* tryAll(anchors: readonly Slot[], most: number): Pausable<void> {
    if (pairs === undefined || most < Infinity) return yield* searchEach(anchors, most)
    yield* pairs(anchors.filter((slot) => columns.size[slot] === 1))
    yield* searchEach(
      anchors.filter((slot) => columns.size[slot] !== 1),
      most,
    )
  }

  return {
    /** Searches every ticket and opening that has a reason to be searched. */
    *full({ openings: when = 'first', most = Infinity }: RoundOptions): Pausable<void> {
      const waiting = input.count()
      if (budget.isPauseDue()) yield budget.pause()
      const { fresh, dirty } = yield* tracker.begin(most < Infinity)
      const hasChanged = fresh.length + dirty.length > 0
      const vacant = () =>
        inOrder(
          [...vacancies.keys()].filter(
            (slot) => levels.news(slot) !== NOTHING || hasChanged || columns.state[slot] !== PARKED,
          ),
          true,
        )
      const isVacant = when !== 'none' && vacancies.size > 0
      const common = input.commonPriority()
      const isOfCrowd = (slot: Slot) => common === undefined || priorityOf(slot) === common
      const isCrowd = most === Infinity && fresh.length >= CROWD && fresh.length > tracker.parked + dirty.length
      if (!isCrowd || isVacant) yield* file()
      if (when === 'first') yield* fillEach(vacant(), undefined)
      if (!isCrowd) yield* tryAll(inOrder([...dirty, ...fresh], most === Infinity), most)
      else {
        const parked = yield* tracker.wakeAll()
        const isAbove = (slot: Slot) => common !== undefined && priorityOf(slot) > common
        const first = [...dirty.filter((slot) => !parked.includes(slot)), ...parked, ...fresh.filter(isAbove)]
        if (first.length > 0) {
          yield* file()
          yield* tryAll(inOrder(first, true), most)
        }
        yield* input.bulk(Int32Array.from(fresh.filter((slot) => isOfCrowd(slot) && isFree(columns, slot))))
        yield* file()
        yield* tryAll(inOrder(fresh.filter((slot) => isFree(columns, slot)), true), most)
      }
      const left = [...dirty, ...fresh].filter((slot) => isFree(columns, slot))
      const isSmall =
        waiting <= 64 || ((fresh.length > tracker.parked + dirty.length) && (waiting <= SMALL_POOL || (pairs !== undefined && left.length * state.groups.length <= MOST_AUGMENTED)))
      if (isSmall && most === Infinity && left.length > 0 && state.groups.length > 0)
        yield* input.augment(inOrder(left, false))
      if (when === 'last') yield* fillEach(vacant(), undefined)
    },

    /**
     * Makes only matches around the given tickets. Matches that only another ticket's last resort would allow are left
     * to the next full round.
     */
    *around(anchors: readonly Slot[], when: RoundOptions['openings']): Pausable<void> {
      yield* tracker.renewDue()
      yield* file()
      for (const anchor of inOrder(anchors.filter((slot) => isFree(columns, slot)), false)) {
        levels.of(anchor)
        grid.insert(anchor)
        const open = () => inOrder([...vacancies.keys()], false)
        if (when === 'first') yield* fillEach(open(), anchor)
        yield* searchEach([anchor], Infinity)
        if (when === 'last') yield* fillEach(open(), anchor)
      }
    },
  }
}
