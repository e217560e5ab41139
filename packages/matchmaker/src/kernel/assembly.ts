// pure: puts candidates together to a match
import type { Candidate } from './candidate-cache.js'
import type { CandidateList } from './candidate-list.js'
import { closed } from './closing.js'
import type { Effort, Pausable } from './effort.js'
import type { Lacking } from './lacking.js'
import type { Slot } from './model.js'
import type { Packed, Packing } from './packing.js'
import type { Found, SearchInput, Vacancy } from './search-terms.js'
import { Seating } from './seating.js'

/** Candidates by which the order is rotated for each search of the ticket that was given up. */
const TURN = 5
/** The cost in tries of starting a search where matches are checked as a whole. */
const START = 8
const NOBODY: readonly never[] = []

/**
 * The match that a search is making: tries sets of candidates until one of them may play. It may pause between two
 * tries. Tickets can leave the pool meanwhile: they are dropped from the match, and no longer join it.
 */
export class Assembly<Facts> {
  /** The match that was made. */
  found: Found | undefined
  readonly #input: SearchInput<Facts>
  readonly #effort: Effort
  readonly #list: CandidateList
  readonly #seating: Seating<Facts> | undefined
  /** Undefined where no rule has needs. */
  readonly #lacking: Lacking<Facts> | undefined
  readonly #full: readonly number[]
  readonly #noFacts: readonly (readonly Facts[])[]
  readonly #mayEverBeSmall: boolean
  #packing: Packing
  #opening: Vacancy<Facts> | undefined
  #rooms: readonly number[]
  /** The pauses after which the members were last reviewed. */
  #pauses = 0
  #hasPaused = false
  /** Position of the first member that has left the pool; Infinity if all are there. */
  #lostAt = Infinity
  // The path to the current members, for each of them and the first: the parties so far, the next candidate to try, and
  // the players of the candidates from there on.
  #packedAt: Packed[] = []
  #nextAt: number[] = []
  #behindAt: number[] = []

  constructor(input: SearchInput<Facts>, list: CandidateList, lacking: Lacking<Facts> | undefined) {
    const { teams, checks } = input.model
    this.#input = input
    this.#effort = input.effort
    this.#list = list
    this.#lacking = lacking
    this.#seating = checks?.part === undefined ? undefined : new Seating(checks.part)
    this.#full = teams.map(({ max }) => max)
    this.#noFacts = teams.map(() => NOBODY)
    this.#mayEverBeSmall = teams.some(({ max, min }) => (min.at(-1) as number) < max)
    this.#packing = input.packing
    this.#rooms = this.#full
  }

  /** The cost in tries of a new match. */
  get startTries(): number {
    return this.#seating === undefined ? 0 : START
  }

  /** Whether any match may be made of fewer players than a full one. */
  get mayEverBeSmall(): boolean {
    return this.#opening !== undefined || this.#mayEverBeSmall
  }

  /** Starts a new match, or new players for an opening. */
  begin(vacancy: Vacancy<Facts> | undefined): void {
    this.#opening = vacancy
    this.#packing = vacancy?.packing ?? this.#input.packing
    this.#rooms = vacancy?.rooms ?? this.#full
    this.found = undefined
    this.#pauses = this.#effort.pauses
    this.#hasPaused = false
    this.#lostAt = Infinity
  }

  /** Seats the ticket and the players present from the start. False if there is no way to. */
  seatFirst(ticket: Slot | undefined): boolean {
    const { draft, columns, facts } = this.#input
    this.#lacking?.begin(draft.levels().youngest, this.#opening?.everyone ?? NOBODY)
    this.#seating?.begin(this.#rooms, this.#opening?.present ?? this.#noFacts)
    if (ticket === undefined) return true
    this.#lacking?.add(ticket)
    return (
      this.#seating?.add(columns.size[ticket] as number, facts[ticket] as Facts, draft.levels(), this.#effort) ?? true
    )
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

  /** Whether a member has left the pool while the search paused. */
  isBroken(): boolean {
    if (this.#effort.pauses !== this.#pauses) this.#review()
    return this.#lostAt < this.#input.draft.count
  }

  /** Whether a match of these candidates may be smaller than a full one. */
  mayBecomeSmall(): boolean {
    const { candidates, count } = this.#list
    return (
      this.#opening !== undefined ||
      (this.#mayEverBeSmall && this.#input.draft.mayBecomeSmall(candidates, count))
    )
  }

  /** Tries full matches, those of the first candidates first. Gives up when the effort is spent. */
  makeFull(packed: Packed): Pausable<boolean> {
    return this.#tryAll(packed, true, false)
  }

  /**
   * Makes a match that need not be full: adds as many candidates as go together, the first ones first, then drops
   * members from the end until the rest may play. If that fails, tries every set of candidates.
   * @param alone whether the members so far may be a match.
   */
  *makeSmall(packed: Packed, alone: boolean): Pausable<boolean> {
    const { candidates, count } = this.#list
    const { sizes } = this.#input.draft.cache
    const path = [packed]
    this.#effort.grant(count)
    for (let at = 0; at < count; at++) {
      if (this.#effort.isPauseDue()) yield this.#effort.pause()
      const candidate = candidates[at] as Candidate
      const size = sizes[candidate] as number
      const next = this.#packing.add(path.at(-1) as Packed, size)
      if (next === -1 || !this.#effort.take()) continue
      if (this.#join(candidate, size, this.#packing.players - this.#packing.count(next))) path.push(next)
    }
    const greedy = path.length
    for (let last = path.pop(); last !== undefined; last = path.pop()) {
      if ((alone || path.length > 0) && this.#mayBeSmall() && (yield* this.close(last))) return true
      if (path.length > 0) this.#leave()
    }
    return greedy > 1 && (yield* this.#tryAll(packed, false, alone))
  }

  /**
   * Tries the sets of candidates, sets with the first candidates first. If a match need not be full, each set is tried
   * after the larger ones that hold it.
   * @param alone whether the members so far may be a match.
   */
  *#tryAll(packed: Packed, full: boolean, alone: boolean): Pausable<boolean> {
    const { candidates } = this.#list
    const { sizes } = this.#input.draft.cache
    this.#stepTo(0, packed, 0, this.#list.players)
    for (let depth = 0; depth >= 0;) {
      if (this.#effort.isPauseDue()) yield this.#effort.pause()
      const before = this.#packedAt[depth] as Packed
      const missing = this.#packing.players - this.#packing.count(before)
      if (!this.isBroken() && this.#mayGrow(depth, missing, full)) {
        const at = this.#nextAt[depth] as number
        const candidate = candidates[at] as Candidate
        const size = sizes[candidate] as number
        const behind = (this.#behindAt[depth] as number) - size
        this.#stepTo(depth, before, at + 1, behind)
        const next = this.#packing.add(before, size)
        if (next === -1) continue
        if (!this.#effort.take()) {
          for (; depth > 0; depth--) this.#leave()
          return false
        }
        if (!this.#join(candidate, size, missing - size)) continue
        depth += 1
        this.#stepTo(depth, next, at + 1, behind)
        continue
      }
      const isMatch = full ? missing === 0 : (alone || depth > 0) && this.#mayBeSmall()
      if (isMatch && (yield* this.close(before))) return true
      if (depth > 0) this.#leave()
      depth -= 1
    }
    return false
  }

  #stepTo(depth: number, packed: Packed, next: number, behind: number): void {
    this.#packedAt[depth] = packed
    this.#nextAt[depth] = next
    this.#behindAt[depth] = behind
  }

  /** Whether there is another candidate to try with the members so far. */
  #mayGrow(depth: number, missing: number, full: boolean): boolean {
    const next = this.#nextAt[depth] as number
    if (missing === 0 || next >= this.#list.count) return false
    return !full || ((this.#behindAt[depth] as number) >= missing && this.#lacking?.canBeHad(next) !== false)
  }

  #mayBeSmall(): boolean {
    return this.#opening !== undefined || (this.#mayEverBeSmall && this.#input.draft.mayBeSmall())
  }

  /** Adds a candidate to the match if all checks allow it. */
  #join(candidate: Candidate, size: number, room: number): boolean {
    const { draft, facts, free } = this.#input
    const slot = draft.cache.slots[candidate] as Slot
    if (this.#hasPaused && !free(slot)) return false
    if (this.#lacking?.leavesRoom(slot, room) === false || !draft.join(candidate)) return false
    if (this.#seating?.add(size, facts[slot] as Facts, draft.levels(), this.#effort) === false) {
      draft.drop()
      return false
    }
    this.#lacking?.add(slot)
    return true
  }

  #leave(): void {
    const { draft } = this.#input
    this.#lacking?.drop(draft.members[draft.count - 1] as Slot)
    this.#seating?.drop()
    draft.drop()
    if (draft.count <= this.#lostAt) this.#lostAt = Infinity
  }

  /** Makes a match of the members, if some arrangement of teams may play. */
  *close(packed: Packed): Pausable<boolean> {
    if (this.isBroken() || !this.#input.draft.isSound()) return false
    const ground = { packing: this.#packing, packed, opening: this.#opening, seats: this.#seating?.seats() }
    const found = yield* closed(this.#input, ground, this.#effort)
    this.found = this.isBroken() ? undefined : found
    return this.found !== undefined
  }

  /** After a pause: finds the first member that has left the pool. */
  #review(): void {
    const { draft, free } = this.#input
    this.#pauses = this.#effort.pauses
    this.#hasPaused = true
    const lost = draft.members.subarray(0, draft.count).findIndex((slot) => !free(slot))
    this.#lostAt = lost === -1 ? Infinity : lost
  }
}
