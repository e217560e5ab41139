// pure: who is in the current round, and the matches made in it
import { FRESH, type Columns } from './columns.js'
import { createGroups, type Groups } from './groups.js'
import type { TeamsOf } from './matches.js'
import type { Grouped, Matches, Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import type { Found } from './search-terms.js'
import type { Unsettled } from './unsettled.js'

/** The state of the current round of a pool; of the last one between rounds. */
export class RoundState {
  /** The matches made since they were last taken. */
  groups: Groups
  /** The number of the round, from 1 on. */
  number = 1
  /** Whether a ticket or opening was removed since the round began. */
  isDisturbed = false
  /** Whether the round is under way. */
  isGoing = false
  /** Whether tickets that had no turn yet wait for the next round. */
  isLate = false
  readonly #columns: Columns
  readonly #neighbours: Neighbours
  readonly #unsettled: Unsettled
  readonly #teamsOf: TeamsOf
  /** The serial number of the last ticket or opening that is in the round. */
  #horizon = 0
  /** Slots freed while the round was under way. A search that pauses may still refer to them. */
  #freed: Slot[] = []

  constructor(columns: Columns, neighbours: Neighbours, unsettled: Unsettled, teamsOf: TeamsOf) {
    this.#columns = columns
    this.#unsettled = unsettled
    this.#neighbours = neighbours
    this.#teamsOf = teamsOf
    this.groups = createGroups(columns, teamsOf)
  }

  /** Begins a round of all tickets and openings that are in the pool. */
  begin(): void {
    this.number += 1
    this.isDisturbed = false
    this.isGoing = true
    this.isLate = false
    for (const slot of this.#freed) this.#columns.reuse(slot)
    this.#freed = []
    this.includeAll()
    this.#columns.taken.fill(0, 0, this.#columns.end)
    this.groups = createGroups(this.#columns, this.#teamsOf)
  }

  includeAll(): void {
    this.#horizon = this.#columns.births
  }

  /** Whether the ticket or opening is in the pool, and was there when the round began. */
  readonly isPresent = (slot: Slot): boolean => {
    const born = this.#columns.born[slot] as number
    return born > 0 && born <= this.#horizon
  }

  /** The same, and whether it has no match yet. */
  readonly free = (slot: Slot): boolean => this.#columns.taken[slot] === 0 && this.isPresent(slot)

  /** Takes a slot out of the round. */
  readonly take = (slot: Slot): void => {
    this.#columns.taken[slot] = 1
    this.#columns.standing[slot] = FRESH
    this.#unsettled.add(slot)
    this.#neighbours.remove(slot)
  }

  /** Puts a slot back into the round. */
  readonly release = (slot: Slot): void => {
    this.#columns.taken[slot] = 0
    this.#neighbours.insert(slot)
  }

  readonly group = (opening: Slot | undefined, { slots, teams }: Found): void => {
    if (opening !== undefined) this.take(opening)
    for (const slot of slots) this.take(slot)
    this.groups.add(opening, slots, teams)
  }

  /** Frees a slot: at once, or when the next round begins. */
  remove(slot: Slot): void {
    this.isDisturbed = true
    this.#columns.leave(slot)
    if (this.isGoing) this.#freed.push(slot)
    else this.#columns.reuse(slot)
  }

  /** The matches made since the last call whose tickets are all still in the pool. The other tickets become free. */
  takeMatches(): Matches {
    const all = this.groups.take()
    if (!this.isDisturbed) return all
    return [...all].filter(({ opening, slots }: Grouped) => {
      if ((opening === undefined || this.isPresent(opening)) && slots.every(this.isPresent)) return true
      for (const slot of slots) this.#columns.taken[slot] = 0
      return false
    })
  }
}
