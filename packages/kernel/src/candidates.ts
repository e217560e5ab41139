// pure: gathers the candidates for a match around one ticket or opening
import { CandidateList } from './candidate-list.js'
import type { CandidatesInput, CandidateTerms } from './candidates-input.js'
import { grown } from './growing.js'
import type { IndexQuery } from './index-query.js'
import type { Slot } from './model.js'
import type { Neighbours } from './neighbours.js'

/** Slots read at most around one ticket at one scale. */
const MOST_READ = 4096
/** An index with more tickets than this is a crowd: a search that fails there does not fail for want of tickets. */
const CROWD = 10_000
/** Slots read in a crowd, per player of a match: in a ticket's first search, and in later ones. */
const FIRST_READ = 128
const NEXT_READ = 64
/** Slots read in one chunk; between chunks it is checked whether there are enough candidates. */
const AT_ONCE = 32
/** The time it takes to read a slot, and to ask other rules about a pair of tickets, in tries. */
const READ = 1 / 32
const PAIR = 1 / 16
const NOTHING: readonly Slot[] = []

/**
 * Reads slots from the indexes in chunks and accepts those that may be matched with the first member of the draft. A
 * search may pause between two chunks.
 */
export class Candidates {
  readonly list: CandidateList
  /** Whether a ticket was skipped only because there were enough candidates. */
  more = false
  readonly #input: CandidatesInput
  readonly #chunk = new Int32Array(AT_ONCE)
  #terms: CandidateTerms | undefined
  // What is being read: slots read before, then those of a query. Tickets of a lower priority than `#floor` are kept in
  // `#later`, and no more are read once there are `#enough` candidates.
  #before: readonly Slot[] = NOTHING
  #at = 0
  #query: IndexQuery | undefined
  #floor = -Infinity
  #enough = Infinity
  /** Tickets below the priority floor of the readings so far; a later one may accept them. */
  #later: Slot[] = []
  /** For each slot the last search that read it; kept only where a slot may be read more than once. */
  #readIn = new Float64Array(0)
  #searches = 0
  #readsTwice = false
  /** Whether the search has paused, so that tickets read before may have left the pool. */
  #hasPaused = false
  /** The number of pauses when the query of this search was started. */
  #pauses = 0

  constructor(input: CandidatesInput) {
    this.#input = input
    this.list = new CandidateList(input.columns, input.draft.cache)
  }

  /** Starts a new search around the first member of the draft. */
  begin(terms: CandidateTerms): void {
    this.#terms = terms
    this.#searches += 1
    this.more = false
    this.#before = NOTHING
    this.#at = 0
    this.#query = undefined
    this.#readsTwice = this.#input.readsTwice
    this.#hasPaused = false
    if (this.#later.length > 0) this.#later = []
    this.list.begin(terms.packing.players, terms.ranked)
    this.#start()
  }

  /**
   * Turns to the tickets near the first member at a scale. Where the index has fewer than `least` there, none are read.
   * Tickets below priority `floor` are kept for a later turn.
   */
  turnTo(scale: number, least: number, floor: number): void {
    const { columns, draft, neighbours, effort } = this.#input
    this.#query = undefined
    this.#before = NOTHING
    if (this.list.isFull()) {
      this.more = true
      return
    }
    if (effort.pauses !== this.#pauses) this.#restart()
    const { query } = neighbours
    const players = this.#terms?.packing.players ?? 0
    const tries = columns.tries[draft.members[0] as Slot] as number
    // In a crowd each repeated search for a ticket reads other slots than the one before.
    const most =
      neighbours.count > CROWD ? Math.min(MOST_READ, players * (tries === 0 ? FIRST_READ : NEXT_READ)) : MOST_READ
    const near = query.turnTo(scale, most, tries * most)
    if (query.cut) this.more = true
    if (near + this.#later.length < least) return
    const later = this.#later
    if (later.length > 0) this.#later = []
    this.#readFrom(later.length > 0 ? later : NOTHING, query, floor, Infinity)
  }

  /** Turns to up to `most` tickets from an index of some of the tickets, whatever their distance. */
  turnToPart({ query }: Neighbours, scale: number, most: number): void {
    const { columns, draft } = this.#input
    const first = draft.members[0] as Slot
    query.startAround(first)
    query.turnTo(scale, MOST_READ, (columns.tries[first] as number) * most)
    if (query.cut) this.more = true
    this.#readFrom(NOTHING, query, -Infinity, this.list.count + most)
  }

  /**
   * Reads on until there are no more slots, or enough candidates. False if a pause is due before: what is left to read
   * is then in memory, because a query cannot go on after a pause.
   */
  read(): boolean {
    const { effort } = this.#input
    while (this.#readNext()) {
      if (!effort.isPauseDue()) continue
      this.#setAside()
      return false
    }
    return true
  }

  /** Reads the next slots; false if there are none, or if there are enough candidates. */
  #readNext(): boolean {
    if (this.#at < this.#before.length) {
      const until = Math.min(this.#before.length, this.#at + AT_ONCE)
      for (; this.#at < until; this.#at++) this.#take(this.#before[this.#at] as Slot)
      return true
    }
    const query = this.#query
    if (query === undefined) return false
    if (this.list.count >= this.#enough || this.list.isFull()) {
      this.more = true
      this.#query = undefined
      return false
    }
    const chunk = this.#chunk
    const many = query.next(chunk)
    this.#input.effort.note(many * READ)
    for (let at = 0; at < many; at++) this.#take(chunk[at] as Slot)
    if (many < chunk.length) this.#query = undefined
    return many === chunk.length
  }

  #setAside(): void {
    this.#hasPaused = true
    const query = this.#query
    if (query === undefined) return
    const left = this.#before.slice(this.#at)
    for (let many = AT_ONCE; many === AT_ONCE;) {
      many = query.next(this.#chunk)
      left.push(...this.#chunk.subarray(0, many))
    }
    this.#before = left
    this.#at = 0
    this.#query = undefined
  }

  #readFrom(before: readonly Slot[], query: IndexQuery, floor: number, enough: number): void {
    this.#before = before
    this.#at = 0
    this.#query = query
    this.#floor = floor
    this.#enough = enough
  }

  #start(): void {
    this.#input.neighbours.query.startAround(this.#input.draft.members[0] as Slot)
    this.#pauses = this.#input.effort.pauses
  }

  /** Starts the query again after a pause, in which the index may have changed: it returns all slots once more. */
  #restart(): void {
    this.#start()
    if (this.#readsTwice) return
    this.#readsTwice = true
    for (let at = 0; at < this.list.count; at++) this.#isReadAgain(this.list.slotAt(at))
  }

  #take(slot: Slot): void {
    const { packing, packed, ranked, skipRefused } = this.#terms as CandidateTerms
    const { draft, columns, cost, effort, checksPairs } = this.#input
    // The ticket that must join an opening is already its second member.
    if (draft.count > 1 && slot === draft.members[1]) return
    if (ranked && (columns.priority[slot] as number) < this.#floor) {
      this.#later.push(slot)
      return
    }
    if (this.#readsTwice && this.#isReadAgain(slot)) return
    if (this.#hasPaused && !this.#input.free(slot)) return
    if (skipRefused && this.#input.isRefused(slot)) return
    const size = columns.size[slot] as number
    if (packing.add(packed, size) === -1) return
    if (this.list.isFullOf(size)) this.more = true
    const at = this.list.positionFor(slot, size)
    if (at === -1) return
    if (checksPairs) effort.note(PAIR)
    const candidate = draft.invite(slot)
    if (candidate !== undefined) this.list.set(at, candidate, size, cost(draft.members[0] as Slot, slot))
  }

  #isReadAgain(slot: Slot): boolean {
    const { born } = this.#input.columns
    if (slot >= this.#readIn.length) this.#readIn = grown(this.#readIn, born.length)
    if (this.#readIn[slot] === this.#searches) return true
    this.#readIn[slot] = this.#searches
    return false
  }
}
