// pure: the members of a match in the making, as they come and go
import type { Candidate } from './candidate-cache.js'
import type { CandidateList } from './candidate-list.js'
import type { Lacking } from './lacking.js'
import type { Slot } from './model.js'
import type { SearchInput, Vacancy } from './search-terms.js'
import { Seating } from './seating.js'

/** Candidates by which the order is rotated for each search of the ticket that was given up. */
const TURN = 5
/** The cost in tries of starting a match where matches are checked as a whole. */
const START = 8
const NOBODY: readonly never[] = []

/**
 * Keeps the draft, the needs and the seating of a match in step. While the search pauses, members may leave the pool:
 * the match is broken until they have left it too.
 */
export class Members<Facts> {
  readonly #input: SearchInput<Facts>
  readonly #list: CandidateList
  /** Undefined where no rule has needs. */
  readonly #lacking: Lacking<Facts> | undefined
  readonly #seating: Seating<Facts> | undefined
  readonly #full: readonly number[]
  readonly #noFacts: readonly (readonly Facts[])[]
  #opening: Vacancy<Facts> | undefined
  /** The pauses after which the members were last reviewed. */
  #pauses = 0
  #hasPaused = false
  /** Position of the first member that has left the pool; Infinity if all are there. */
  #lostAt = Infinity

  constructor(input: SearchInput<Facts>, list: CandidateList, lacking: Lacking<Facts> | undefined) {
    const { teams, checks } = input.model
    this.#input = input
    this.#list = list
    this.#lacking = lacking
    this.#seating = checks?.part === undefined ? undefined : new Seating(checks.part)
    this.#full = teams.map(({ max }) => max)
    this.#noFacts = teams.map(() => NOBODY)
  }

  /** The cost in tries of a new match. */
  get startTries(): number {
    return this.#seating === undefined ? 0 : START
  }

  /** Starts a new match, or new players for an opening. */
  begin(opening: Vacancy<Facts> | undefined): void {
    this.#opening = opening
    this.#pauses = this.#input.effort.pauses
    this.#hasPaused = false
    this.#lostAt = Infinity
  }

  /** Seats the ticket and the players present from the start. False if there is no way to. */
  seatFirst(ticket: Slot | undefined): boolean {
    const { draft, columns, facts, effort, model } = this.#input
    // Who joins an opening may be at the last resort, where rules give way: an opening is not searched for by itself.
    const mayGiveWay = this.#opening !== undefined && model.lastResortLevel < Infinity
    const level = mayGiveWay ? model.lastResortLevel : draft.levels().youngest
    this.#lacking?.begin(level, this.#opening?.everyone ?? NOBODY)
    this.#seating?.begin(this.#opening?.rooms ?? this.#full, this.#opening?.present ?? this.#noFacts)
    if (ticket === undefined) return true
    this.#lacking?.add(ticket)
    return this.#seating?.add(columns.size[ticket] as number, facts[ticket] as Facts, draft.levels(), effort) ?? true
  }

  /** Sorts the candidates and announces them to the draft, the needs and the seating. */
  expect(): void {
    const { draft, facts, columns } = this.#input
    const list = this.#list
    list.sort()
    draft.expect(list.candidates, list.count)
    // A search repeated after it was given up starts from other candidates.
    const tries = columns.tries[draft.members[0] as Slot] as number
    if (this.#seating !== undefined && tries > 0 && !this.#input.ranked()) list.rotate(TURN * tries)
    this.#lacking?.expect(list)
    if (this.#seating === undefined) return
    this.#seating.expect(Array.from({ length: list.count }, (_, at) => facts[list.slotAt(at)] as Facts))
  }

  /** Whether the candidates from this position on bring enough players of every kind lacking. */
  canBeHad(from: number): boolean {
    return this.#lacking === undefined || this.#lacking.canBeHad(from)
  }

  /** Adds a candidate if all checks allow it. @param room for so many more players after the candidate. */
  join(candidate: Candidate, size: number, room: number): boolean {
    const { draft, facts, free, effort } = this.#input
    const slot = draft.cache.slots[candidate] as Slot
    if (this.#hasPaused && !free(slot)) return false
    if (this.#lacking?.leavesRoom(slot, room) === false || !draft.join(candidate)) return false
    if (this.#seating?.add(size, facts[slot] as Facts, draft.levels(), effort) === false) {
      draft.drop()
      return false
    }
    this.#lacking?.add(slot)
    return true
  }

  /** Removes the last member. */
  leave(): void {
    const { draft } = this.#input
    this.#lacking?.drop(draft.members[draft.count - 1] as Slot)
    this.#seating?.drop()
    draft.drop()
    if (draft.count <= this.#lostAt) this.#lostAt = Infinity
  }

  /** Whether a member has left the pool while the search paused. */
  isBroken(): boolean {
    const { draft, effort } = this.#input
    if (effort.pauses !== this.#pauses) this.#review()
    return this.#lostAt < draft.count
  }

  /** The team of each member; undefined if no way to seat all of them is known. */
  seats(): number[] | undefined {
    return this.#seating?.seats()
  }

  /** After a pause: finds the first member that has left the pool. */
  #review(): void {
    const { draft, effort, free } = this.#input
    this.#pauses = effort.pauses
    this.#hasPaused = true
    const lost = draft.members.subarray(0, draft.count).findIndex((slot) => !free(slot))
    this.#lostAt = lost === -1 ? Infinity : lost
  }
}
