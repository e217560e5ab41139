// pure: searches for a match around one ticket, or for players for an opening
import { Assembly } from './assembly.js'
import { Candidates } from './candidates.js'
import type { Draft } from './draft.js'
import type { Effort, Pausable } from './effort.js'
import { Lacking } from './lacking.js'
import type { Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import type { Packed } from './packing.js'
import { isPartOf, type Scale } from './scales.js'
import type { Found, SearchInput, SearchTerms, Vacancy } from './search-terms.js'

/** An index with more tickets than this, per player that a match lacks, is a crowd. */
const CROWD = 10_000
/** A match is tried once there are this many times the players it lacks. */
const AMPLE = 2
/** If this many candidates give no match, more candidates will not help. */
const MOST_CANDIDATES = 400
/** Candidates gathered for a needed kind of player: per player lacking, and at least. */
const SPARE_NEEDED = 4
const LEAST_NEEDED = 16

export class Search<Facts> {
  /** Whether the last search without a match has tried all candidates. */
  sawAll = true
  /** Searches since creation that were given up because their tries were spent. */
  givenUp = 0
  readonly #input: SearchInput<Facts>
  readonly #effort: Effort
  readonly #candidates: Candidates
  readonly #assembly: Assembly<Facts>
  /** Undefined where no rule has needs. */
  readonly #lacking: Lacking<Facts> | undefined

  constructor(input: SearchInput<Facts>) {
    this.#input = input
    this.#effort = input.effort
    this.#candidates = new Candidates({
      ...input,
      draft: input.draft as unknown as Draft,
      readsTwice: input.supply.parts.length > 0,
      checksPairs: input.model.checks?.pair !== undefined,
    })
    this.#lacking = input.supply.needs.length === 0 ? undefined : new Lacking(input.supply)
    this.#assembly = new Assembly(input, this.#candidates.list, this.#lacking)
  }

  /** Finds a match with this ticket; undefined if there is none. */
  *around(anchor: Slot, terms: SearchTerms = {}): Pausable<Found | undefined> {
    const { columns, draft } = this.#input
    this.#start(undefined)
    const packed = this.#input.packing.add(0, columns.size[anchor] as number)
    if (this.#lacking !== undefined && this.#input.supply.isShort(this.#input.levels.of(anchor))) return undefined
    if (packed === -1 || !draft.begin(anchor)) return undefined
    this.#beginTries()
    return this.#ended(yield* this.#isFound(packed, anchor, terms))
  }

  /** Finds players for an opening, `wanted` among them if given; undefined if there are none. */
  *fill(vacancy: Vacancy<Facts>, wanted: Slot | undefined): Pausable<Found | undefined> {
    const { columns, draft } = this.#input
    this.#start(vacancy)
    if (vacancy.packing.players === 0 || !draft.begin(vacancy.slot)) return undefined
    const packed = wanted === undefined ? 0 : vacancy.packing.add(0, columns.size[wanted] as number)
    if (packed === -1 || (wanted !== undefined && !draft.add(wanted))) return undefined
    this.#beginTries()
    return this.#ended(yield* this.#isFound(packed, wanted, { all: true, anew: true }))
  }

  #start(vacancy: Vacancy<Facts> | undefined): void {
    this.#assembly.begin(vacancy)
    this.#candidates.more = false
    this.sawAll = true
    this.#effort.charge(1)
  }

  /** Begins the tries that a search around the first member of the draft has. */
  #beginTries(): void {
    const { columns, draft, effort, triesOf } = this.#input
    const { startTries } = this.#assembly.members
    effort.begin(triesOf(columns.tries[draft.members[0] as Slot] as number))
    effort.grant(startTries)
    effort.charge(startTries)
  }

  #ended(isFound: boolean): Found | undefined {
    if (isFound) return this.#assembly.found
    const { wasCut } = this.#effort
    if (wasCut) this.givenUp += 1
    if (wasCut || this.#candidates.more) this.sawAll = false
    return undefined
  }

  *#isFound(packed: Packed, ticket: Slot | undefined, terms: SearchTerms): Pausable<boolean> {
    const { model, draft, searchRadius, ranked } = this.#input
    const assembly = this.#assembly
    const { packing } = assembly
    const missing = packing.players - packing.count(packed)
    if (!assembly.members.seatFirst(ticket)) return false
    if (missing === 0) return yield* assembly.close(packed)
    this.#candidates.begin({
      packing,
      packed,
      ranked: ranked(),
      skipRefused: terms.anew !== true && draft.levels().oldest < model.lastResortLevel,
    })
    const last = searchRadius(draft.members[0] as Slot)
    if (this.#lacking !== undefined && !(yield* this.#gatherNeeded(this.#lacking, last, missing))) return false
    if (yield* this.#widen(packed, last, terms.all === true)) return true
    this.#effort.charge(this.#candidates.list.count)
    if (assembly.members.isBroken() || !assembly.mayBecomeSmall()) return false
    assembly.members.expect()
    return yield* assembly.makeSmall(packed, ticket !== undefined)
  }

  /** Widens the search scale by scale, up to the last, until there is a full match with all members of the draft. */
  *#widen(packed: Packed, last: number, all: boolean): Pausable<boolean> {
    const { neighbours, columns, draft } = this.#input
    const { list } = this.#candidates
    const ranked = this.#input.ranked()
    const { packing } = this.#assembly
    const missing = packing.players - packing.count(packed)
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
          ? !this.#assembly.mayEverBeSmall
          : isPartOf(neighbours.scales[scale] as Scale, neighbours.scales[scale + 1])
      const floor = ranked && scale < last ? (columns.priority[draft.members[0] as Slot] as number) : -Infinity
      this.#candidates.turnTo(scale, skippable ? (wanted - list.players) / columns.largest : 0, floor)
      while (!this.#candidates.read()) yield this.#effort.pause()
      if (this.#assembly.members.isBroken()) return false
      const { players, count } = list
      if (players < wanted || count === tried || (ranked && all && scale < last)) continue
      tried = count
      this.#assembly.members.expect()
      this.#effort.grant(count)
      if (yield* this.#assembly.makeFull(packed)) return true
      if (scale === last || count < MOST_CANDIDATES) continue
      this.#candidates.more = true
      break
    }
    return false
  }

  /** Gathers tickets with players of the kinds lacking, the rarest kind first. False if some kind has too few. */
  *#gatherNeeded(lacking: Lacking<Facts>, last: number, missing: number): Pausable<boolean> {
    const { parts } = this.#input.supply
    if (!lacking.leavesRoomFor(missing)) return false
    const rarest = parts
      .map((_, need) => need)
      .toSorted((one, other) => (parts[one]?.index.count ?? 0) - (parts[other]?.index.count ?? 0))
    for (const need of rarest) {
      const wanted = lacking.of(need)
      if (wanted > 0) {
        const { index } = parts[need] as { index: Neighbours }
        const most = Math.max(LEAST_NEEDED, SPARE_NEEDED * wanted)
        for (let scale = 0; scale <= last; scale++) {
          // A scale leaves out who has not relaxed as far, unless it holds all that the one before does.
          if (scale < last && isPartOf(index.scales[scale] as Scale, index.scales[scale + 1])) continue
          this.#candidates.turnToPart(index, scale, most)
          while (!this.#candidates.read()) yield this.#effort.pause()
        }
      }
      if (wanted > this.#supplyOf(need) && !this.#candidates.more) return false
    }
    return true
  }

  #supplyOf(need: number): number {
    const { list } = this.#candidates
    let sum = 0
    for (let at = 0; at < list.count; at++) sum += this.#input.supply.of(list.slotAt(at), need)
    return sum
  }
}
