// pure: searches for a match around one ticket, or for players for an opening
import type { Candidate } from './candidate-cache.js'
import { Candidates } from './candidates.js'
import { closed } from './closing.js'
import type { Draft } from './draft.js'
import { Effort } from './effort.js'
import { Lacking } from './lacking.js'
import type { Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import type { Packed, Packing } from './packing.js'
import { isPartOf, type Scale } from './scales.js'
import type { Found, SearchInput, SearchTerms, Vacancy } from './search-terms.js'
import { Seating } from './seating.js'

/** An index with more tickets than this, per player that a match lacks, is a crowd. */
const CROWD = 10_000
/** A match is tried once there are this many times the players it lacks. */
const AMPLE = 2
/** Candidates by which the order is rotated for each search of the ticket that was given up. */
const TURN = 5
/** The cost in tries of starting a search where matches are checked as a whole. */
const LOOK = 8
/** Slots read in the time of one try, as a power of two. */
const READS = 5
/** If this many candidates give no match, more candidates will not help. */
const MOST_CANDIDATES = 400
/** Candidates gathered for a needed kind of player: per player lacking, and at least. */
const SPARE_NEEDED = 4
const LEAST_NEEDED = 16
const NOBODY: readonly never[] = []

export class Search<Facts> {
  /** Whether the last search without a match has tried all candidates. */
  sawAll = true
  readonly #input: SearchInput<Facts>
  readonly #effort = new Effort()
  readonly #candidates: Candidates
  readonly #seating: Seating<Facts> | undefined
  /** Undefined where no rule has needs. */
  readonly #lacking: Lacking<Facts> | undefined
  readonly #full: readonly number[]
  readonly #noFacts: readonly (readonly Facts[])[]
  readonly #mayEverBeSmall: boolean

  // The match in the making.
  #packing: Packing
  #opening: Vacancy<Facts> | undefined
  #rooms: readonly number[]
  #found: Found | undefined

  constructor(input: SearchInput<Facts>) {
    const { teams, checks } = input.model
    this.#input = input
    this.#candidates = new Candidates({
      ...input,
      draft: input.draft as unknown as Draft,
      looksTwice: input.supply.parts.length > 0,
    })
    this.#seating = checks?.part === undefined ? undefined : new Seating(checks.part)
    this.#lacking = input.supply.needs.length === 0 ? undefined : new Lacking(input.supply)
    this.#full = teams.map(({ max }) => max)
    this.#noFacts = teams.map(() => NOBODY)
    this.#mayEverBeSmall = teams.some(({ max, min }) => (min.at(-1) as number) < max)
    this.#packing = input.packing
    this.#rooms = this.#full
  }

  /** Tries since creation, with slots read converted to tries. */
  work(): number {
    return this.#effort.spent + (this.#candidates.read >> READS)
  }

  /** Finds a match with this ticket; undefined if there is none. */
  around(anchor: Slot, terms: SearchTerms = {}): Found | undefined {
    const { columns, draft } = this.#input
    this.#start(undefined)
    this.#effort.charge(1)
    const packed = this.#packing.add(0, columns.size[anchor] as number)
    if (this.#lacking !== undefined && this.#input.supply.isShort(this.#input.levels.of(anchor))) return undefined
    return packed === -1 || !draft.begin(anchor) ? undefined : this.#widen(packed, anchor, terms)
  }

  /** Finds players for an opening, `wanted` among them if given; undefined if there are none. */
  fill(vacancy: Vacancy<Facts>, wanted: Slot | undefined): Found | undefined {
    const { columns, draft } = this.#input
    this.#start(vacancy)
    this.#effort.charge(1)
    if (vacancy.packing.players === 0 || !draft.begin(vacancy.slot)) return undefined
    const terms = { all: true, anew: true }
    if (wanted === undefined) return this.#widen(0, undefined, terms)
    const packed = this.#packing.add(0, columns.size[wanted] as number)
    return packed === -1 || !draft.add(wanted) ? undefined : this.#widen(packed, wanted, terms)
  }

  #start(vacancy: Vacancy<Facts> | undefined): void {
    this.#opening = vacancy
    this.#packing = vacancy?.packing ?? this.#input.packing
    this.#rooms = vacancy?.rooms ?? this.#full
    this.#found = undefined
    this.sawAll = true
  }

  /** Widens the search scale by scale until there is a match with all members of the draft. */
  #widen(packed: Packed, ticket: Slot | undefined, { all = false, anew = false }: SearchTerms): Found | undefined {
    const { model, draft, neighbours, columns, searchRadius } = this.#input
    const candidates = this.#candidates
    const first = draft.members[0] as Slot
    const ranked = this.#input.ranked()
    const missing = this.#packing.players - this.#packing.count(packed)
    this.#effort.begin(this.#input.effort(columns.tries[first] as number))
    this.#effort.grant(this.#seating === undefined ? 0 : LOOK)
    this.#effort.charge(this.#seating === undefined ? 0 : LOOK)
    if (!this.#seatFirst(ticket)) return this.#none()
    if (missing === 0) return this.#close(packed) ? this.#found : this.#none()
    candidates.begin({
      packing: this.#packing,
      packed,
      ranked,
      skipRefused: !anew && draft.levels().oldest < model.lastResortLevel,
    })
    const last = searchRadius(first)
    if (this.#lacking !== undefined && !this.#gatherNeeded(this.#lacking, last, missing)) return this.#none()

    // In a sparse index hardly two tickets are near at the first scale, and the second scale includes them anyway.
    const sparse =
      last > 0 && neighbours.count < CROWD * missing && isPartOf(neighbours.scales[0] as Scale, neighbours.scales[1])
    /** The number of candidates already tried: the same candidates cannot succeed later. */
    let tried = 0
    for (let scale = sparse ? 1 : 0; scale <= last; scale++) {
      // With no more candidates than a match lacks there is little choice, so the search widens first.
      const wanted = scale === last ? missing : AMPLE * missing
      const skippable =
        scale === last
          ? this.#opening === undefined && !this.#mayEverBeSmall
          : isPartOf(neighbours.scales[scale] as Scale, neighbours.scales[scale + 1])
      const floor = ranked && scale < last ? (columns.priority[first] as number) : -Infinity
      candidates.gather(scale, skippable ? (wanted - candidates.players) / columns.largest : 0, floor)
      const { players, count } = candidates
      if (players < wanted || count === tried || (ranked && all && scale < last)) continue
      tried = count
      this.#expect()
      this.#effort.grant(count)
      if (this.#choose(0, packed, players)) return this.#found
      if (scale === last || count < MOST_CANDIDATES) continue
      candidates.more = true
      break
    }
    this.#effort.charge(candidates.count)
    if (this.#mayBecomeSmall()) {
      this.#expect()
      if (this.#chooseSome(packed, ticket !== undefined)) return this.#found
    }
    return this.#none()
  }

  #none(): undefined {
    if (this.#effort.wasCut || this.#candidates.more) this.sawAll = false
    return undefined
  }

  /** Seats the ticket and the players present from the start. False if there is no way to. */
  #seatFirst(ticket: Slot | undefined): boolean {
    const { draft, columns, facts } = this.#input
    this.#candidates.more = false
    this.#lacking?.begin(draft.levels().youngest, this.#opening?.everyone ?? NOBODY)
    this.#seating?.begin(this.#rooms, this.#opening?.present ?? this.#noFacts)
    if (ticket === undefined) return true
    this.#lacking?.add(ticket)
    return (
      this.#seating?.add(columns.size[ticket] as number, facts[ticket] as Facts, draft.levels(), this.#effort) ?? true
    )
  }

  /** Gathers tickets with players of the kinds lacking, the rarest kind first. False if some kind has too few. */
  #gatherNeeded(lacking: Lacking<Facts>, scale: number, missing: number): boolean {
    const { parts } = this.#input.supply
    if (!lacking.leavesRoomFor(missing)) return false
    const rarest = parts
      .map((_, need) => need)
      .toSorted((one, other) => (parts[one]?.index.count ?? 0) - (parts[other]?.index.count ?? 0))
    for (const need of rarest) {
      const wanted = lacking.of(need)
      if (wanted > 0)
        this.#candidates.gatherFrom(
          parts[need]?.index as Neighbours,
          scale,
          Math.max(LEAST_NEEDED, SPARE_NEEDED * wanted),
        )
      if (wanted > this.#supplyOf(need) && !this.#candidates.more) return false
    }
    return true
  }

  #supplyOf(need: number): number {
    let sum = 0
    for (let at = 0; at < this.#candidates.count; at++) sum += this.#input.supply.of(this.#candidates.slotAt(at), need)
    return sum
  }

  /** Sorts the candidates and announces them to the draft, the needs and the seating. */
  #expect(): void {
    const { draft, facts, columns } = this.#input
    const candidates = this.#candidates
    candidates.sort()
    draft.expect(candidates.list, candidates.count)
    // A search repeated after it was given up starts from other candidates.
    const tries = columns.tries[draft.members[0] as Slot] as number
    if (this.#seating !== undefined && tries > 0 && !this.#input.ranked()) candidates.rotate(TURN * tries)
    this.#lacking?.expect(candidates)
    if (this.#seating === undefined) return
    this.#seating.expect(Array.from({ length: candidates.count }, (_, at) => facts[candidates.slotAt(at)] as Facts))
  }

  #mayBeSmall(): boolean {
    return this.#opening !== undefined || (this.#mayEverBeSmall && this.#input.draft.mayBeSmall())
  }

  #mayBecomeSmall(): boolean {
    return (
      this.#opening !== undefined ||
      (this.#mayEverBeSmall && this.#input.draft.mayBecomeSmall(this.#candidates.list, this.#candidates.count))
    )
  }

  /** Adds a candidate to the match if all checks allow it. */
  #join(candidate: Candidate, size: number, room: number): boolean {
    const { draft, facts } = this.#input
    const slot = draft.cache.slots[candidate] as Slot
    if (!this.#effort.take() || this.#lacking?.leavesRoom(slot, room) === false || !draft.join(candidate)) return false
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
  }

  /** Tries full matches, those of the first candidates first. Gives up when the effort is spent. */
  #choose(from: number, packed: Packed, playersLeft: number): boolean {
    const missing = this.#packing.players - this.#packing.count(packed)
    if (missing === 0) return this.#close(packed)
    const { list, count } = this.#candidates
    let behind = playersLeft
    for (let at = from; at < count && behind >= missing; at++) {
      if (this.#lacking?.canBeHad(at) === false) return false
      const candidate = list[at] as Candidate
      const size = this.#input.draft.cache.sizes[candidate] as number
      behind -= size
      const next = this.#packing.add(packed, size)
      if (next === -1) continue
      if (!this.#join(candidate, size, missing - size)) {
        if (this.#effort.isSpent) return false
        continue
      }
      if (this.#choose(at + 1, next, behind)) return true
      this.#leave()
    }
    return false
  }

  /**
   * Makes a match that need not be full: adds as many candidates as go together, the first ones first, then drops
   * members from the end until the rest may play. If that fails, tries every set of candidates.
   */
  #chooseSome(packed: Packed, alone: boolean): boolean {
    const { list, count } = this.#candidates
    const path = [packed]
    this.#effort.grant(count)
    for (let at = 0; at < count; at++) {
      const candidate = list[at] as Candidate
      const size = this.#input.draft.cache.sizes[candidate] as number
      const last = path.at(-1) as Packed
      const next = this.#packing.add(last, size)
      if (next !== -1 && this.#join(candidate, size, this.#packing.players - this.#packing.count(next))) path.push(next)
    }
    const greedy = path.length
    for (let last = path.pop(); last !== undefined; last = path.pop()) {
      if ((alone || path.length > 0) && this.#mayBeSmall() && this.#close(last)) return true
      if (path.length > 0) this.#leave()
    }
    return greedy > 1 && this.#chooseAny(0, packed, alone)
  }

  /** Tries every set of candidates: sets with the first candidates first, and of these the larger ones first. */
  #chooseAny(from: number, packed: Packed, closes: boolean): boolean {
    const { list, count } = this.#candidates
    const room = this.#packing.players - this.#packing.count(packed)
    for (let at = from; at < count; at++) {
      const candidate = list[at] as Candidate
      const size = this.#input.draft.cache.sizes[candidate] as number
      const next = this.#packing.add(packed, size)
      if (next === -1) continue
      if (!this.#join(candidate, size, room - size)) {
        if (this.#effort.isSpent) return false
        continue
      }
      if (this.#chooseAny(at + 1, next, true)) return true
      this.#leave()
    }
    return closes && this.#mayBeSmall() && this.#close(packed)
  }

  /** Makes a match of the members, if some arrangement of teams may play. */
  #close(packed: Packed): boolean {
    if (!this.#input.draft.isSound()) return false
    const ground = { packing: this.#packing, packed, opening: this.#opening, seats: this.#seating?.seats() }
    this.#found = closed(this.#input, ground, this.#effort)
    return this.#found !== undefined
  }
}
