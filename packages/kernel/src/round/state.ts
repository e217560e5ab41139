// pure: the current round (one pass over the waiting tickets): its tickets and matches, and whether it continues
import type { Budget } from '../data/budget.js'
import { FRESH, isFree, isOlder, isPresent, type Columns } from '../data/columns.js'
import type { Grouped, Matches, Slot } from '../data/model.js'
import type { Grid } from '../grid/grid.js'
import type { QuotaCounts } from '../search/quota-counts.js'
import type { FoundTeams } from '../search/search.js'

interface StateInput {
  readonly columns: Columns
  readonly grid: Grid
  readonly counts: Pick<QuotaCounts<never>, 'insert' | 'remove'>
  readonly budget: Budget
  /** True if matches are checked as a whole, which may take long. */
  readonly isChecked: boolean
  /** Makes the next round read a slot. */
  readonly note: (slot: Slot) => void
}

/**
 * Limits of a round whose matches are checked as a whole. They count the tries (see `Budget`) of searches without a
 * match, and the time of these searches in tries. Each match adds `PER_MATCH`, so a crowd is matched in one round. A
 * rule that hardly any match satisfies does not hold up a queue.
 */
const FRUITLESS_TRIES = 10_000
const FRUITLESS_TIME = 24_000
const PER_MATCH = 200

/** The state of the current round of a pool. Between rounds, that of the last one. */
export class RoundState {
  /** The matches made since the last `takeMatches`. */
  groups: Grouped[] = []
  /** The number of the round, from 1. */
  number = 1
  /** Number of new matches made in the round. */
  made = 0
  isGoing = false
  /** True if tickets that had no turn yet wait for the next round. */
  isLate = false
  #isDisturbed = false
  #fruitlessTries = 0
  #fruitlessTime = 0
  readonly #input: StateInput
  /** Slots freed during the round. A search that pauses may still refer to them. */
  #freed: Slot[] = []

  constructor(input: StateInput) {
    this.#input = input
  }

  /** Begins a round of all tickets and openings in the pool. */
  begin(): void {
    const { columns, counts } = this.#input
    this.number += 1
    this.made = this.#fruitlessTries = this.#fruitlessTime = 0
    this.#isDisturbed = this.isLate = false
    this.end()
    this.isGoing = true
    columns.horizon = columns.births
    // A match may have got no server: its tickets are then still in the pool.
    for (let slot = 0; slot < columns.end; slot++)
      if (columns.taken[slot] === 1 && columns.size[slot] !== 0 && isPresent(columns, slot)) counts.insert(slot)
    columns.taken.fill(0, 0, columns.end)
    this.groups = []
  }

  /** Ends the round, which nothing continues from here on: slots that were freed during the round can be reused. */
  end(): void {
    this.isGoing = false
    for (const slot of this.#freed) this.#input.columns.reuse(slot)
    this.#freed = []
  }

  /**
   * Called when a search has led to no match. @param tries the budget's `tries` before the search. @param spent the
   * budget's `spent` before the search.
   */
  failed(tries: number, spent: number): void {
    const { budget } = this.#input
    this.#fruitlessTries += budget.tries - tries
    this.#fruitlessTime += budget.spent - spent
  }

  /** True if no tries are left in this round. */
  isOver(): boolean {
    const more = this.made * PER_MATCH
    return (
      this.#input.isChecked &&
      (this.isLate || this.#fruitlessTries > FRUITLESS_TRIES + more || this.#fruitlessTime > FRUITLESS_TIME + more)
    )
  }

  /** Takes a slot out of the round. If it stays in the pool, the next round treats it as new. */
  take(slot: Slot): void {
    const { columns, grid, counts, note } = this.#input
    columns.taken[slot] = 1
    columns.state[slot] = FRESH
    note(slot)
    grid.remove(slot)
    counts.remove(slot)
  }

  /** Puts a slot back into the round. */
  release(slot: Slot): void {
    const { columns, grid, counts } = this.#input
    columns.taken[slot] = 0
    grid.insert(slot)
    counts.insert(slot)
  }

  /** Makes a match. Keeps its `slots`, sorted by age. */
  group(opening: Slot | undefined, { slots, teams }: FoundTeams): void {
    const { columns } = this.#input
    if (opening === undefined) this.made += 1
    else {
      columns.taken[opening] = 1
      columns.state[opening] = FRESH
    }
    for (const slot of slots) this.take(slot)
    // An insertion sort, because members are few and mostly in order. The array of teams may be shared with other
    // matches.
    let seats = teams
    for (let at = 1; at < slots.length; at++)
      for (let to = at; to > 0 && isOlder(columns, slots[to] as Slot, slots[to - 1] as Slot); to--) {
        swap(slots, to)
        if (seats[to] === seats[to - 1]) continue
        if (seats === teams) seats = [...teams]
        swap(seats as number[], to)
      }
    this.groups.push({ opening, slots, teams: seats })
  }

  /** Frees a slot at once, or when the next round begins. */
  remove(slot: Slot): void {
    const { columns } = this.#input
    this.#isDisturbed = true
    columns.leave(slot)
    if (this.isGoing) this.#freed.push(slot)
    else columns.reuse(slot)
  }

  /**
   * Returns the matches made since the last call whose tickets are all still in the pool. The tickets of the others
   * become free.
   */
  takeMatches(): Matches {
    const { columns, counts } = this.#input
    const all = this.groups
    this.groups = []
    if (!this.#isDisturbed) return all
    return all.filter(({ opening, slots }) => {
      if ((opening === undefined || isPresent(columns, opening)) && slots.every((slot) => isPresent(columns, slot)))
        return true
      for (const slot of opening === undefined ? slots : [...slots, opening]) {
        columns.taken[slot] = 0
        if (columns.size[slot] !== 0 && isFree(columns, slot)) counts.insert(slot)
      }
      return false
    })
  }
}

/** Swaps an item with the previous one. */
function swap(items: number[], at: number): void {
  const item = items[at] as number
  items[at] = items[at - 1] as number
  items[at - 1] = item
}
