// pure: searches a match around one ticket, or players for an opening: the free places of a running match
import type { Pausable } from '../data/budget.js'
import { isFree, isOlder } from '../data/columns.js'
import type { Slot } from '../data/model.js'
import { windowOf } from '../grid/grid.js'
import type { Packed, Packing } from '../teams/packing.js'
import { Seating } from '../teams/seating.js'
import { atLevel } from '../teams/team-sizes.js'
import { assignTeams } from './assign-teams.js'
import { Candidates, drawsOf, scrambled } from './candidates.js'
import type { FoundTeams, SearchInput, SearchTerms, Vacancy } from './search-terms.js'

export type { FoundTeams, SearchTerms, Vacancy }

/** Number of greedy choices, each with another first candidate. */
const GREEDY = 4
/** With at most this many candidates, all choices are tried at once. */
const FEW = 32
/** Slots that a first search reads at a scale. If priorities differ it reads more: the highest may be anywhere. */
const MOST_READ = 1024
const MOST_READ_RANKED = 4096
/** A match size: any number of players. */
const EVERY = -1
/** Weight of a player of a kind that is not lacking, in units of the strictest limits. */
const SPARE_COST = 0.85

/**
 * Candidates are gathered from near to far. The next member is the candidate with the lowest mean cost to all members.
 * Parties and long waits are preferred, and players of kinds that the match has enough of are left to others. Then only
 * candidates remain that may meet all members. A choice that leaves too few players is undone.
 *
 *     gather ample ──▶ greedy, with 4 first candidates ──▶ gather all ──▶ backtrack, as far as the budget goes
 */
export class Search<Facts> {
  /** True if the last search without a match has tried everything. */
  sawAll = true
  /** True if the last search found a match that the queue's patience delays, in favour of cheaper ones. */
  isHeldBack = false
  /** True if the last search has not tried everything, because patience postpones long searches. */
  isPatient = false
  /** Number of searches since creation that ran out of budget. */
  givenUp = 0
  /** Number of sets of members since creation for which no arrangement of teams may play. */
  rejected = 0
  /**
   * The wait with the highest value, in milliseconds: at least the wait at which the last level begins. In rounds that
   * make few matches it is the longest wait, so that the oldest come first.
   */
  longestMs: number
  /** True if the round makes few matches. A long wait then counts more than the cost of a candidate. */
  isRationed = false
  readonly slowestMs: number
  readonly #input: SearchInput<Facts>
  readonly #candidates: Candidates<Facts>
  /** The provisional teams; undefined if neither quotas nor parts are checked. */
  readonly #seating: Seating<Facts> | undefined
  readonly #mayEverBeSmall: boolean
  /** The places of a new match. */
  readonly #places: Pick<Vacancy<Facts>, 'rooms' | 'present'>
  #opening: Vacancy<Facts> | undefined
  #packing: Packing
  #found: FoundTeams | undefined
  /** Number of members before the choice begins. */
  #base = 0
  #mostCost = Infinity
  /** Number of players that the match lacks for each quota. */
  readonly #lacking: number[]
  // The rows of the choice: for each depth the remaining candidates, the sums of their costs, and their players.
  #row = new Int32Array(0)
  #sums = new Float64Array(0)
  #width = 0
  readonly #left: number[] = []
  readonly #behind: number[] = []
  readonly #packedAt: Packed[] = []
  readonly #price: number[] = []
  #pauses = 0
  #hasPaused = false

  constructor(input: SearchInput<Facts>) {
    const { model, packing, counts } = input
    const { teams, checks, levels } = model
    this.#input = input
    this.#packing = packing
    const isSeated = checks?.part !== undefined || counts.quotas.length > 0
    this.#seating = isSeated ? new Seating(input) : undefined
    this.#mayEverBeSmall = teams.some(({ max, min }) => (min.at(-1) as number) < max)
    this.longestMs = this.slowestMs = levels.at(-1) || 1000
    this.#places = { rooms: teams.map(({ max }) => max), present: teams.map(() => []) }
    this.#candidates = new Candidates(input, packing)
    this.#lacking = this.#candidates.lacking
  }

  /** Finds a match with this ticket. Undefined if there is none. */
  *around(anchor: Slot, terms: SearchTerms = {}): Pausable<FoundTeams | undefined> {
    const { columns, draft, counts, packing } = this.#input
    this.#begin(undefined, terms)
    const packed = packing.add(0, columns.size[anchor] as number)
    if (packed === -1 || counts.mostMatches(columns.level[anchor] as number) === 0) return undefined
    if (!draft.begin(anchor)) return undefined
    return yield* this.#search(packed, anchor, terms)
  }

  /** Finds players for an opening, including `wanted` if given. Undefined if there are none. */
  *fill(vacancy: Vacancy<Facts>, wanted: Slot | undefined): Pausable<FoundTeams | undefined> {
    const { columns, draft } = this.#input
    this.#begin(vacancy, { anew: true })
    if (vacancy.packing.players === 0 || !draft.begin(vacancy.slot)) return undefined
    let packed = 0
    if (wanted !== undefined) {
      packed = vacancy.packing.add(0, columns.size[wanted] as number)
      if (packed === -1 || !draft.admits(wanted)) return undefined
      draft.push(wanted)
    }
    return yield* this.#search(packed, wanted, {})
  }

  #begin(vacancy: Vacancy<Facts> | undefined, { anew = false, mostCost = Infinity }: SearchTerms): void {
    const { budget, model, packing } = this.#input
    this.#opening = vacancy
    this.#packing = vacancy?.packing ?? packing
    this.#found = undefined
    this.#mostCost = mostCost
    // If others are at the last resort, a ticket may be in matches that a search around it does not find.
    const skipRefused = !anew && model.lastResortLevel === Infinity
    this.#candidates.begin(this.#packing, this.longestMs, this.isRationed, skipRefused)
    this.#pauses = budget.pauses
    this.#hasPaused = false
    this.sawAll = true
    this.isHeldBack = false
    this.isPatient = false
    budget.chargeTime(1)
  }

  *#search(packed: Packed, ticket: Slot | undefined, terms: SearchTerms): Pausable<FoundTeams | undefined> {
    const { columns, draft, budget, triesOf } = this.#input
    this.#base = draft.count
    if (!this.#seatFirst(ticket)) return undefined
    const anchor = draft.members[0] as Slot
    const before = columns.cuts[anchor] as number
    budget.begin(triesOf(before))
    const missing = this.#packing.players - this.#packing.count(packed)
    if (missing === 0) return (yield* this.#close(packed)) ? this.#found : undefined
    if (terms.among === undefined) {
      if (yield* this.#widen(packed, anchor, missing, before)) return this.#found
      if (!budget.wasCut || this.isHeldBack) return undefined
      this.givenUp += 1
      this.sawAll = false
      return undefined
    }
    this.#candidates.take(terms.among, 0, terms.among.length, packed)
    return this.#candidates.isEnough(missing, 1) && (yield* this.#choose(packed, this.#packing.players, 1))
      ? this.#found
      : undefined
  }

  /** Gathers candidates, first enough of them, then all, and tries to make a match of them. */
  *#widen(packed: Packed, anchor: Slot, missing: number, before: number): Pausable<boolean> {
    const { columns, levels, grid, draft, budget, ranked, number } = this.#input
    // The search is wide too if the ticket that joins an opening is at the last resort.
    const isWide = grid.goesAnywhere(draft.members[this.#base - 1] as Slot) || grid.goesAnywhere(anchor)
    const last = grid.coverOf(anchor)
    const { most, skip } = windowOf(before, ranked() || this.isRationed ? MOST_READ_RANKED : MOST_READ)
    let read = 0
    grid.begin(anchor)
    const gather = (scale: number) => {
      const { reads } = grid
      if (scale > last) grid.collectAll(most, skip)
      else grid.collect(scale, most, scale === last ? skip : 0)
      budget.chargeTime((grid.reads - reads) / 16)
      this.#candidates.take(grid.found, read, grid.count, packed)
      read = grid.count
    }
    let scale = Math.min(grid.finest(), last)
    // A search reads all slots if priorities differ, if few matches are made, or for an opening. Preferred tickets may
    // be far away, and an opening takes as many players as there are.
    const isHasty = !ranked() && !this.isRationed && this.#opening === undefined
    for (; scale <= last && !grid.wasCut; scale++) {
      if (isHasty && this.#candidates.isAmple(missing)) break
      gather(scale)
    }
    if (this.#isBroken(draft.count)) return false
    const isAll = scale > last && !isWide
    const { players } = this.#packing
    const isTried = isHasty && !isAll && this.#candidates.isEnough(missing, 1)
    // While the search pauses, `Pool.around` may collect for another ticket.
    const { wasCut } = grid
    if (isTried && (yield* this.#choose(packed, players, GREEDY))) return true
    if (this.#isBroken(draft.count) || budget.wasCut || this.isHeldBack) return false
    grid.begin(anchor)
    grid.wasCut = wasCut
    for (const slot of this.#candidates.list.subarray(0, this.#candidates.count)) grid.skip(slot)
    read = 0
    while (scale <= last) gather(scale++)
    if (isWide) gather(last + 1)
    if (grid.wasCut) this.#candidates.gatherNeeded(packed, missing)
    if (this.#candidates.shorten(missing, before) || grid.wasCut) this.sawAll = false
    const totals = this.#totals()
    draft.expect(this.#candidates.list, 0, this.#candidates.count)
    // Matches that are hard to find are expensive, so patience postpones them.
    const isPatient = this.#opening === undefined && levels.isPatient(anchor)
    if (before > 0 && !isPatient && scrambled(columns.mix[anchor] as number, number()) % 2 === 1)
      return yield* this.#chooseAtRandom(packed, totals, before)
    if (this.#candidates.isEnough(missing, 1) && (totals?.includes(players) ?? true)) {
      // With few candidates, backtracking finds every match. With many, other first choices find more.
      const isMany = this.#candidates.count > Math.max(FEW, 3 * missing) && !ranked()
      this.isPatient = isPatient
      if ((isMany || this.isPatient) && (yield* this.#choose(packed, players, GREEDY))) return true
      if (!this.isHeldBack && !this.isPatient && (yield* this.#choose(packed, players, 0))) return true
    }
    if (this.#isBroken(draft.count) || this.isHeldBack || !this.#mayBecomeSmall()) return false
    if (totals === undefined) {
      budget.grant(this.#candidates.count)
      return yield* this.#choose(packed, EVERY, 0)
    }
    return yield* this.#chooseSizes(packed, totals, before)
  }

  /** Tries matches of the allowed sizes, the largest first. Each size has its own tries. */
  *#chooseSizes(packed: Packed, totals: readonly number[], before: number): Pausable<boolean> {
    const { budget, draft, triesOf } = this.#input
    const has = this.#packing.count(packed)
    const sizes = totals.filter((size) => size >= has && size < this.#packing.players)
    const tries = Math.max(this.#candidates.count, Math.ceil(triesOf(before) / Math.max(1, sizes.length)))
    let { wasCut } = budget
    for (const size of sizes) {
      if (!this.#candidates.isEnough(size - has, 1)) continue
      budget.begin(tries)
      if (yield* this.#choose(packed, size, GREEDY)) return true
      if (!this.isHeldBack && (yield* this.#choose(packed, size, 0))) return true
      wasCut ||= budget.wasCut
      if (this.#isBroken(draft.count) || this.isHeldBack) break
    }
    budget.wasCut = wasCut
    return false
  }

  /**
   * Tries random sets of candidates, in half of the searches after one that was cut short. A search of all candidates
   * would try the same sets first each time, and a few tickets that no match can hold could spend all tries.
   */
  *#chooseAtRandom(packed: Packed, totals: readonly number[] | undefined, before: number): Pausable<boolean> {
    const { budget, draft, triesOf, number } = this.#input
    const { count, players } = this.#candidates
    const isSmall = this.#mayBecomeSmall()
    const isAny = isSmall && totals === undefined
    const sizes = (totals ?? [this.#packing.players]).filter((size) => isSmall || size === this.#packing.players)
    const tries = triesOf(before)
    const draws = drawsOf(tries)
    this.sawAll = false
    for (let draw = 0; draw < draws; draw++) {
      const seed = scrambled(scrambled(number(), draft.members[0] as Slot), draw)
      const size = sizes[seed % sizes.length] ?? 0
      Object.assign(this.#candidates, { count, players })
      if (!this.#candidates.draw(size - this.#packing.count(packed), isAny, seed)) continue
      budget.begin(Math.ceil(tries / draws))
      if (yield* this.#choose(packed, isAny ? EVERY : size, 0)) return true
      if (this.#isBroken(draft.count) || this.isHeldBack) break
    }
    return false
  }

  /** Returns the numbers of players that may be in the match, or join it. Undefined if no rule is about them. */
  #totals(): readonly number[] | undefined {
    const { sizes } = this.#packing
    if (sizes === undefined) return undefined
    // Rules only loosen, so the highest level that a member may have allows everything that any other level allows.
    return sizes.totalsAt(atLevel(this.#candidates.highestLevel(this.#input.draft.levels().oldest)))
  }

  /** Seats the ticket and the players present from the start. Returns false if that is impossible. */
  #seatFirst(ticket: Slot | undefined): boolean {
    const { draft, counts } = this.#input
    const level = draft.youngest()
    for (const [quota, { countOf }] of counts.quotas.entries()) {
      const present = this.#opening?.everyone.reduce((sum, facts) => sum + countOf(facts), 0) ?? 0
      this.#lacking[quota] = this.#opening === undefined ? counts.needed(quota, level) - present : 0
    }
    const { rooms, present } = this.#opening ?? this.#places
    this.#seating?.begin(rooms, present)
    return ticket === undefined || this.#seat(ticket)
  }

  #seat(slot: Slot): boolean {
    if (this.#seating?.add(slot) === false) return false
    const { counts } = this.#input
    for (let quota = 0; quota < this.#lacking.length; quota++)
      this.#lacking[quota] = (this.#lacking[quota] as number) - counts.of(slot, quota)
    return true
  }

  #mayBecomeSmall(): boolean {
    if (this.#opening !== undefined) return true
    if (!this.#mayEverBeSmall) return false
    const { draft, model } = this.#input
    return draft.longestWait() >= model.fillForMs || this.#candidates.hasWaited(model.fillForMs)
  }

  /**
   * Tries sets of candidates, the best first. A match that need not be full is tried after the larger ones that contain
   * it.
   * @param size number of players that a match must have. `EVERY`: any number that it may have. @param greedy number of
   *   choices after which no other is tried. 0: all are tried.
   */
  *#choose(packed: Packed, size: number, greedy: number): Pausable<boolean> {
    const { columns, draft, budget, model } = this.#input
    const mayBeSmall = () =>
      this.#opening !== undefined || (this.#mayEverBeSmall && draft.longestWait() >= model.fillForMs)
    // An opening without a wanted ticket is no match.
    const isBaseMatch = columns.size[draft.members[this.#base - 1] as Slot] !== 0
    const isExact = size !== EVERY
    const players = isExact ? size : this.#packing.players
    const isFull = players === this.#packing.players
    let depth = 0
    let choices = greedy
    this.#firstRow(packed)
    // If all choices are tried, exclude early what cannot become a match.
    if (greedy === 0) this.#shareFacts()
    for (;;) {
      if (budget.isPauseDue()) {
        yield budget.pause()
        while (depth > 0 && this.#isBroken(draft.count)) {
          this.#leave()
          depth -= 1
        }
        if (this.#isBroken(draft.count)) return false
      }
      const before = this.#packedAt[depth] as Packed
      const missing = players - this.#packing.count(before)
      const isOver = missing === 0 || (this.#left[depth] as number) === 0
      if (isOver || (isExact && (this.#behind[depth] as number) < missing)) {
        const isOne = isBaseMatch || depth > 0
        const isMatch = isExact ? missing === 0 && isOne && (isFull || mayBeSmall()) : isOne && mayBeSmall()
        if (isMatch && (yield* this.#close(before))) return true
        if (budget.wasCut || this.isHeldBack) return this.#unwind(depth)
        if (depth > 0 && greedy > 0) {
          if (--choices === 0) return this.#unwind(depth)
          this.#unwind(depth)
          depth = 0
        } else if (depth > 0) {
          this.#leave()
          depth -= 1
        } else return false
        continue
      }
      const slot = this.#best(depth)
      const own = columns.size[slot] as number
      const next = own > missing ? -1 : this.#packing.add(before, own)
      if (next === -1 || (this.#hasPaused && !isFree(columns, slot))) continue
      if (!budget.spend()) return this.#unwind(depth)
      if (!this.#join(slot, missing - own)) continue
      depth += 1
      this.#packedAt[depth] = next
      this.#nextRow(depth, slot, missing - own, isExact)
    }
  }

  #unwind(depth: number): false {
    for (let at = depth; at > 0; at--) this.#leave()
    return false
  }

  #join(slot: Slot, room: number): boolean {
    const { draft, counts } = this.#input
    for (let quota = 0; quota < this.#lacking.length; quota++)
      if ((this.#lacking[quota] as number) - counts.of(slot, quota) > room) return false
    if (!draft.isPairwise && !draft.admits(slot)) return false
    draft.push(slot)
    if (this.#seat(slot)) return true
    draft.drop()
    return false
  }

  #leave(): void {
    const { draft, counts } = this.#input
    draft.drop()
    if (this.#seating === undefined) return
    this.#seating.drop()
    const slot = draft.members[draft.count] as Slot
    for (let quota = 0; quota < this.#lacking.length; quota++)
      this.#lacking[quota] = (this.#lacking[quota] as number) + counts.of(slot, quota)
  }

  #firstRow(packed: Packed): void {
    const { list, costs, count, players } = this.#candidates
    const rows = this.#packing.players + 2
    if (this.#row.length < rows * count) {
      this.#row = new Int32Array(2 * rows * count)
      this.#sums = new Float64Array(2 * rows * count)
    }
    this.#width = count
    this.#row.set(list.subarray(0, count))
    this.#sums.set(costs.subarray(0, count))
    this.#left[0] = count
    this.#behind[0] = players
    this.#packedAt[0] = packed
    this.#price[0] = 0
  }

  /** Keeps the candidates that may also meet the chosen one. */
  #nextRow(depth: number, chosen: Slot, missing: number, full: boolean): void {
    const { columns, draft, compare, counts, budget } = this.#input
    const from = (depth - 1) * this.#width
    const to = depth * this.#width
    const many = this.#left[depth - 1] as number
    const isPairwise = draft.isPairwise && this.#opening === undefined
    const end = missing > 0 ? from + many : from
    const packed = this.#packedAt[depth] as Packed
    const fits: boolean[] = []
    let [kept, players] = [0, 0]
    for (let at = from; at < end; at++) {
      const slot = this.#row[at] as Slot
      const size = columns.size[slot] as number
      if (size > missing || !(fits[size] ??= this.#packing.add(packed, size) !== -1)) continue
      if (!(isPairwise ? draft.mayMeet(chosen, slot) : draft.admits(slot))) continue
      this.#row[to + kept] = slot
      this.#sums[to + kept++] = (this.#sums[at] as number) + compare.cost(chosen, slot)
      players += size
    }
    budget.chargeTime(many / 16)
    this.#left[depth] = kept
    this.#behind[depth] = players
    if (!full || missing === 0) return
    for (let quota = 0; quota < this.#lacking.length; quota++) {
      let lacking = this.#lacking[quota] as number
      for (let at = to; lacking > 0 && at < to + kept; at++) lacking -= counts.of(this.#row[at] as Slot, quota)
      if (lacking > 0) this.#left[depth] = 0
    }
  }

  /** Removes the best candidate from the row. */
  #best(depth: number): Slot {
    const { columns, draft, counts } = this.#input
    const ranked = this.#input.ranked()
    const from = depth * this.#width
    const last = from + (this.#left[depth] as number) - 1
    let [best, least, highest] = [-1, Infinity, -Infinity]
    for (let at = from; at <= last; at++) {
      const slot = this.#row[at] as Slot
      const priority = ranked ? (columns.priority[slot] as number) : 0
      if (priority < highest) continue
      let price = (this.#sums[at] as number) / draft.count - (this.#candidates.worth[slot] as number)
      for (const quota of counts.spared) {
        const own = counts.of(slot, quota)
        const lacking = this.#lacking[quota] as number
        if (own > lacking) price += SPARE_COST * (own - Math.max(0, lacking))
      }
      const isTie = price === least && priority === highest
      if (priority === highest && !isTie && price > least) continue
      if (isTie && best >= 0 && !isOlder(columns, slot, this.#row[best] as Slot)) continue
      best = at
      least = price
      highest = priority
    }
    const slot = this.#row[best] as Slot
    this.#price[depth + 1] = (this.#price[depth] as number) + (this.#sums[best] as number)
    this.#row[best] = this.#row[last] as Slot
    this.#sums[best] = this.#sums[last] as number
    this.#left[depth] = last - from
    this.#behind[depth] = (this.#behind[depth] as number) - (columns.size[slot] as number)
    return slot
  }

  #shareFacts(): void {
    const { model, facts } = this.#input
    if (model.checks?.part === undefined) return
    const { list, count } = this.#candidates
    this.#seating?.expect(Array.from(list.subarray(0, count), (slot) => facts[slot] as Facts))
  }

  /** True if one of the members has left the pool while the search paused. */
  #isBroken(members: number): boolean {
    const { draft, budget, columns } = this.#input
    if (budget.pauses !== this.#pauses) {
      this.#pauses = budget.pauses
      this.#hasPaused = true
    }
    if (!this.#hasPaused) return false
    for (let at = 0; at < members; at++) if (!isFree(columns, draft.members[at] as Slot)) return true
    return false
  }

  /** Makes a match of the members if some arrangement of teams may play. */
  *#close(packed: Packed): Pausable<boolean> {
    const { draft, levels } = this.#input
    if (this.#isBroken(draft.count) || !draft.isSound()) return false
    const mean = (this.#price[draft.count - this.#base] ?? 0) / Math.max(1, (draft.count * (draft.count - 1)) / 2)
    if (mean > this.#mostCost) return false
    if (this.#opening === undefined && levels.isHeldBack(mean, levels.now - draft.longestWait())) {
      this.isHeldBack = true
      return false
    }
    const seats = this.#seating?.seats()
    const lineup = { packing: this.#packing, packed, seats, opening: this.#opening, ...this.#places }
    const found = yield* assignTeams(this.#input, lineup)
    if (found === undefined) this.rejected += 1
    if (found === undefined || this.#isBroken(draft.count)) return false
    this.#found = found
    return true
  }
}
