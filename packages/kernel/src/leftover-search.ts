// pure: searches for matches of many tickets left over, of one after the other
import { mostOf } from './candidate-list.js'
import { Clique, type CliqueInput } from './clique.js'
import type { Columns } from './columns.js'
import type { Effort, Pausable } from './effort.js'
import { Leftovers } from './leftovers.js'
import type { Levels } from './levels.js'
import type { Model, Slot } from './model.js'
import type { Mutable } from './mutable.js'
import { NearestFirst } from './nearest-first.js'
import type { Packed, Packing } from './packing.js'
import type { Id } from './ticket-rows.js'

/** A match is tried once there are this many times the players it lacks. */
const AMPLE = 2
/**
 * Members chosen at most to make one match, per player of it. With fewer, more searches end undecided, and all others
 * read their tickets; with more, matches are made whose members fit together worse.
 */
const TRIES = 1.5
/** The time it takes to read a ticket, in tries. */
const READ = 1 / 64

export interface LeftoverSearchInput {
  readonly model: Model<never>
  readonly columns: Columns
  readonly levels: Levels
  readonly packing: Packing
  readonly effort: Effort
  /** Whether the ticket is in the pool, and in no match of this round. */
  free(slot: Slot): boolean
  /** Whether a ticket or opening has left the pool since the round began. */
  disturbed(): boolean
  /** Makes a match. */
  group(slots: Slot[]): void
  /** Notes that no match was found for a ticket. @param sawAll whether this proves that there is none. */
  failed(slot: Slot, sawAll: boolean): void
}

/** What a search comes to: a match, the proof that there is none, or neither. */
type Outcome = typeof FOUND | typeof NONE | typeof UNKNOWN
const FOUND = 0
const NONE = 1
const UNKNOWN = 2

/**
 * Searches as `Search` does, where many tickets of one key wait and two and two are compared by numbers alone.
 * A ticket that is proven to be in no match is a candidate for nobody else, so that the next ones are proven by
 * counting: the tickets left over are few, or too unlike, around most of them.
 */
export class LeftoverSearch {
  readonly #input: LeftoverSearchInput
  readonly #leftovers: Leftovers
  readonly #clique: Clique
  readonly #nearest = new NearestFirst()
  /** For each slot the id of its copy. */
  #idOf = new Int32Array(0)
  /** Choices of members that a search may undo. */
  #mostUndone = Infinity
  /** For each size, how many candidates of this size are chosen at most, and how many are. */
  readonly #most: Int32Array
  readonly #ofSize: Int32Array
  /** The candidates, those that fit best first. */
  readonly #list: Int32Array
  readonly #candidates: Mutable<CliqueInput> & { readonly sizes: Uint16Array }
  /** For each size of a ticket: which sizes fit into a match with it. */
  readonly #fits: Uint8Array[] = []
  /** Whether candidates were left out because there are enough of their size. */
  #isShort = false

  constructor(input: LeftoverSearchInput) {
    const { model, columns, levels, packing } = input
    this.#input = input
    this.#leftovers = new Leftovers(model, columns, levels)
    this.#clique = new Clique(packing)
    this.#ofSize = new Int32Array(packing.players + 1)
    this.#most = this.#ofSize.map((_, size) => (size === 0 ? 0 : mostOf(size, packing.players)))
    const all = this.#most.reduce((sum, most) => sum + most, 0)
    this.#list = new Int32Array(all)
    this.#candidates = {
      count: 0,
      sizes: new Uint16Array(all),
      compare: (at, wanted, fitting, spare) =>
        this.#leftovers.rows.compare(this.#list, this.#candidates.sizes, at, wanted, fitting, spare),
    }
  }

  bytes(): number {
    return this.#leftovers.bytes() + this.#idOf.byteLength
  }

  /**
   * Copies tickets for the searches of a round; false, and nothing can be searched for, if one of them has no place or
   * no values. @param slots all tickets that may be matched with those that are tried, these included.
   */
  *copy(slots: Int32Array): Pausable<boolean> {
    const { columns } = this.#input
    const leftovers = this.#leftovers
    if (!(yield* leftovers.fill(slots))) return false
    if (this.#idOf.length < columns.end) this.#idOf = new Int32Array(columns.born.length)
    for (let id = 0; id < slots.length; id++) this.#idOf[leftovers.slots[id] as Slot] = id
    return true
  }

  /**
   * Tries every ticket in turn; each is one of those copied.
   * @param thoroughly false to take a match only if those that fit best go together: where new tickets are about that
   * have had no turn, a match is not made at any price.
   */
  *run(anchors: Int32Array, thoroughly: boolean): Pausable<void> {
    const { effort, free, disturbed } = this.#input
    this.#mostUndone = thoroughly ? Infinity : 0
    // Some may have been matched, or have left, since they were copied.
    this.#dropGone()
    for (let at = 0; at < anchors.length; at++) {
      const slot = anchors[at] as Slot
      if (effort.isPauseDue()) {
        yield effort.pause()
        if (disturbed()) this.#dropGone()
      }
      if (!free(slot)) continue
      effort.charge(1)
      this.#search(this.#idOf[slot] as Id)
    }
  }

  /** Notes that a ticket is in no match. */
  #fail(id: Id): void {
    const { slots } = this.#leftovers
    this.#leftovers.forget(id)
    this.#input.failed(slots[id] as Slot, true)
  }

  /** Forgets the tickets that are matched or have left the pool. */
  #dropGone(): void {
    const { free } = this.#input
    const { slots } = this.#leftovers
    for (let id = 0; id < slots.length; id++) if (!free(slots[id] as Slot)) this.#leftovers.forget(id)
  }

  #search(id: Id): void {
    const { packing, failed, group } = this.#input
    const leftovers = this.#leftovers
    const { slots, sizes } = leftovers
    const packed = packing.add(0, sizes[id] as number)
    const outcome = packed === -1 || !this.#leftovers.rows.isEven(id) ? NONE : this.#around(id, packed)
    if (outcome === UNKNOWN) return failed(slots[id] as Slot, false)
    if (outcome === NONE) return this.#fail(id)
    const members = [slots[id] as Slot]
    leftovers.forget(id)
    for (let at = 0; at < this.#clique.chosen; at++) {
      const member = this.#list[this.#clique.members[at] as number] as Id
      members.push(slots[member] as Slot)
      leftovers.forget(member)
    }
    group(members)
  }

  /** Widens the search sheet by sheet, until there is a full match. */
  #around(id: Id, packed: Packed): Outcome {
    const { columns, packing, effort } = this.#input
    const leftovers = this.#leftovers
    const clique = this.#clique
    const size = leftovers.sizes[id] as number
    const missing = packing.players - size
    const fits = (this.#fits[size] ??= this.#fitsWith(packed))
    const last = leftovers.lastOf(id)
    let tried = 0
    clique.chosen = 0
    if (missing === 0) return FOUND
    if (leftovers.begin(id) * columns.largest < missing) return NONE
    for (let at = 0; at <= last; at++) {
      leftovers.read(id, at, fits)
      const { many, players } = leftovers
      if (players < (at === last ? missing : AMPLE * missing) || many === tried) continue
      tried = many
      leftovers.price(id)
      this.#choose()
      const isFound = clique.find(packed, TRIES * packing.players, this.#mostUndone, this.#candidates)
      effort.charge(clique.tries)
      if (isFound) return FOUND
    }
    effort.note(leftovers.reads * READ)
    if (leftovers.players < missing && !leftovers.wasCut) return NONE
    return leftovers.wasCut || clique.wasCut || this.#isShort ? UNKNOWN : NONE
  }

  /** Chooses the candidates that fit best among the tickets found. */
  #choose(): void {
    const { columns } = this.#input
    const { found, costs, many, sizes } = this.#leftovers
    const list = this.#list
    const ofSize = this.#ofSize.fill(0)
    this.#isShort = false
    const nearest = this.#nearest
    nearest.sort(costs, many)
    let count = 0
    for (let place = 0; place < many; place++) {
      const id = found[nearest.at(place)] as Id
      const size = sizes[id] as number
      if (ofSize[size] === this.#most[size]) {
        this.#isShort = true
        if (columns.largest === 1) break
        continue
      }
      ofSize[size] = (ofSize[size] as number) + 1
      list[count] = id
      this.#candidates.sizes[count++] = size
    }
    this.#candidates.count = count
  }

  /** For each size, 1 if a ticket of this size fits into a match with the parties packed. */
  #fitsWith(packed: Packed): Uint8Array {
    const { packing } = this.#input
    return Uint8Array.from(this.#most, (_, size) => (size > 0 && packing.add(packed, size) !== -1 ? 1 : 0))
  }
}
