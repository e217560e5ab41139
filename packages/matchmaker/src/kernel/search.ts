// pure: looks for a match around one ticket, or for players for an opening
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

/** Tickets in the index from which on it is a crowd, for each player that a match lacks. */
const CROWD = 10_000
/** With so many times the players it takes, a match is tried for. */
const AMPLE = 2
/** By how many candidates a search begins farther on after each one that was given up. */
const TURN = 5
/** What it takes to look around where matches are checked as a whole, in tries. */
const LOOK = 8
/** Slots that are read in the time it takes to look at a member, as a power of two. */
const READS = 5
/** When so many are not enough, it is not for want of candidates. */
const MOST_CANDIDATES = 400
/** Tickets with players of a needed kind that are taken up, for each that is lacking, and at least. */
const SPARE_NEEDED = 4
const LEAST_NEEDED = 16
const NOBODY: readonly never[] = []

export class Search<Facts> {
  /** Whether the last search that found nothing has tried all there was. */
  sawAll = true
  readonly #input: SearchInput<Facts>
  readonly #effort = new Effort()
  readonly #candidates: Candidates
  readonly #seating: Seating<Facts> | undefined
  /** Undefined where no rule tells of needs. */
  readonly #lacking: Lacking<Facts> | undefined
  readonly #full: readonly number[]
  readonly #noFacts: readonly (readonly Facts[])[]
  readonly #mayEverBeSmall: boolean

  // The match that is being made.
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

  /** Tries, since the beginning; slots read count as few. */
  work(): number {
    return this.#effort.spent + (this.#candidates.read >> READS)
  }

  /** A match with this ticket. */
  around(anchor: Slot, terms: SearchTerms = {}): Found | undefined {
    const { columns, draft } = this.#input
    this.#start(undefined)
    this.#effort.charge(1)
    const packed = this.#packing.add(0, columns.size[anchor] as number)
    if (this.#lacking !== undefined && this.#input.supply.isShort(this.#input.levels.of(anchor))) return undefined
    return packed === -1 || !draft.begin(anchor) ? undefined : this.#look(packed, anchor, terms)
  }

  /** Players for an opening; `wanted` among them, if it is given. */
  fill(vacancy: Vacancy<Facts>, wanted: Slot | undefined): Found | undefined {
    const { columns, draft } = this.#input
    this.#start(vacancy)
    this.#effort.charge(1)
    if (vacancy.packing.players === 0 || !draft.begin(vacancy.slot)) return undefined
    const terms = { all: true, anew: true }
    if (wanted === undefined) return this.#look(0, undefined, terms)
    const packed = this.#packing.add(0, columns.size[wanted] as number)
    return packed === -1 || !draft.add(wanted) ? undefined : this.#look(packed, wanted, terms)
  }

  #start(vacancy: Vacancy<Facts> | undefined): void {
    this.#opening = vacancy
    this.#packing = vacancy?.packing ?? this.#input.packing
    this.#rooms = vacancy?.rooms ?? this.#full
    this.#found = undefined
    this.sawAll = true
  }

  /** Looks farther and farther away until there is a match with all who are in the draft. */
  #look(packed: Packed, ticket: Slot | undefined, { all = false, anew = false }: SearchTerms): Found | undefined {
    const { model, draft, neighbours, columns, reach } = this.#input
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
    const last = reach(first)
    if (this.#lacking !== undefined && !this.#gatherNeeded(this.#lacking, last, missing)) return this.#none()

    // Where few are left, hardly two of them are as near as the first scale has it; the second one has them too.
    const sparse =
      last > 0 && neighbours.count < CROWD * missing && isPartOf(neighbours.scales[0] as Scale, neighbours.scales[1])
    /** How many were tried in vain: the same candidates cannot succeed later. */
    let tried = 0
    for (let scale = sparse ? 1 : 0; scale <= last; scale++) {
      // With just as many as it takes there is little to choose from: rather look farther.
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

  /** Seats those who are in the draft from the beginning. False if there is no way to. */
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

  /**
   * Takes up tickets with players of the kinds that are lacking, the rarest first. False if there are too few of some
   * kind.
   */
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

  /** Puts the candidates in order, and has those asked know them. */
  #expect(): void {
    const { draft, facts, columns } = this.#input
    const candidates = this.#candidates
    candidates.sort()
    draft.expect(candidates.guests, candidates.count)
    // What was given up before is tried from others on.
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
      (this.#mayEverBeSmall && this.#input.draft.mayBecomeSmall(this.#candidates.guests, this.#candidates.count))
    )
  }

  /** Adds a candidate to the match if it may be in it. */
  #join(guest: Candidate, size: number, room: number): boolean {
    const { draft, facts } = this.#input
    const slot = draft.guests.slots[guest] as Slot
    if (!this.#effort.take() || this.#lacking?.leavesRoom(slot, room) === false || !draft.join(guest)) return false
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

  /** Full matches, those of the first candidates first. Gives up when the effort is spent. */
  #choose(from: number, packed: Packed, playersLeft: number): boolean {
    const missing = this.#packing.players - this.#packing.count(packed)
    if (missing === 0) return this.#close(packed)
    const { guests, count } = this.#candidates
    let behind = playersLeft
    for (let at = from; at < count && behind >= missing; at++) {
      if (this.#lacking?.canBeHad(at) === false) return false
      const guest = guests[at] as Candidate
      const size = this.#input.draft.guests.sizes[guest] as number
      behind -= size
      const next = this.#packing.add(packed, size)
      if (next === -1) continue
      if (!this.#join(guest, size, missing - size)) {
        if (this.#effort.isSpent) return false
        continue
      }
      if (this.#choose(at + 1, next, behind)) return true
      this.#leave()
    }
    return false
  }

  /**
   * A match that need not be full: as many as go together, the first candidates first, and then fewer until they may
   * play. If that finds none, any of the candidates.
   */
  #chooseSome(packed: Packed, alone: boolean): boolean {
    const { guests, count } = this.#candidates
    const path = [packed]
    this.#effort.grant(count)
    for (let at = 0; at < count; at++) {
      const guest = guests[at] as Candidate
      const size = this.#input.draft.guests.sizes[guest] as number
      const last = path.at(-1) as Packed
      const next = this.#packing.add(last, size)
      if (next !== -1 && this.#join(guest, size, this.#packing.players - this.#packing.count(next))) path.push(next)
    }
    const greedy = path.length
    for (let last = path.pop(); last !== undefined; last = path.pop()) {
      if ((alone || path.length > 0) && this.#mayBeSmall() && this.#close(last)) return true
      if (path.length > 0) this.#leave()
    }
    return greedy > 1 && this.#chooseAny(0, packed, alone)
  }

  /** Every set of candidates: those with the first ones first, and of these the larger ones first. */
  #chooseAny(from: number, packed: Packed, closes: boolean): boolean {
    const { guests, count } = this.#candidates
    const room = this.#packing.players - this.#packing.count(packed)
    for (let at = from; at < count; at++) {
      const guest = guests[at] as Candidate
      const size = this.#input.draft.guests.sizes[guest] as number
      const next = this.#packing.add(packed, size)
      if (next === -1) continue
      if (!this.#join(guest, size, room - size)) {
        if (this.#effort.isSpent) return false
        continue
      }
      if (this.#chooseAny(at + 1, next, true)) return true
      this.#leave()
    }
    return closes && this.#mayBeSmall() && this.#close(packed)
  }

  /** Makes a match of the members, if they can be arranged so that they may play. */
  #close(packed: Packed): boolean {
    if (!this.#input.draft.isSound()) return false
    const ground = { packing: this.#packing, packed, opening: this.#opening, seats: this.#seating?.seats() }
    this.#found = closed(this.#input, ground, this.#effort)
    return this.#found !== undefined
  }
}
