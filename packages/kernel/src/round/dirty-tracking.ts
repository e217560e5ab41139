// pure: decides for which tickets a round (one pass over the waiting tickets) searches matches
import type { Pausable } from '../data/budget.js'
import { DEFERRED, DIRTY, FRESH, grown, isPresent, PARKED, UNTIL, type Columns } from '../data/columns.js'
import { NOTHING, RELAXED } from '../data/levels.js'
import type { Slot } from '../data/model.js'
import type { PoolParts } from '../data/parts.js'
import type { Grid } from '../grid/grid.js'
import type { Draft } from '../search/draft.js'

/** Exponent of the longest gap: a search that was cut short is repeated at least every 2⁶ = 64 rounds. */
const LONGEST_GAP = 6
/** Number of rounds after which a match that the queue's `patience` delayed is tried again. */
const HELD_GAP = 2
/** Number of tickets scanned between two pause checks, and the search budget's tries charged per scanned ticket. */
const AT_ONCE = 256
const SCAN_COST = 1 / 8
/** Maximum number of slots read around all changed tickets of a round, and around one. */
const MOST_READ = 400_000
const MOST_READ_EACH = 4096
/** If reading is cut short, parked tickets are woken in turn: at least this many, or this share of the changed ones. */
const FEW = 500
const SHARE = 1 / 4
const SECOND = 1000

export interface DirtyInput<Facts> extends PoolParts<Facts> {
  readonly grid: Grid
  readonly draft: Draft<Facts>
  /** Returns the number of waiting tickets. */
  count(): number
}

/** The tickets for which a round searches matches. */
export interface Changed {
  /** Tickets for which no round has searched a match yet. */
  readonly fresh: readonly Slot[]
  /** Tickets that had no turn in the last round, and tickets with a reason to be searched again. */
  readonly dirty: readonly Slot[]
}

/**
 * Tracks dirty tickets. A ticket without a match is parked, and skipped until it is dirty: it relaxes, or a ticket that
 * it may meet arrives or relaxes. If its search was cut short, it is repeated within 64 rounds.
 */
export class DirtyTracker<Facts> {
  /** Number of parked tickets. */
  parked = 0
  readonly #input: DirtyInput<Facts>
  readonly #timers: SlotTimers
  /** True if tickets relax earlier than the timers are set to. */
  #areTimersLate = false
  /** Slots that are due but not processed yet. The last one is the next. */
  #due: Slot[] = []
  /** The slots that the next round reads. Some may have left or occur twice. */
  #noted: Slot[] = []
  /** Slots that the current round has read. If it is abandoned, the next one reads them again. */
  #read: readonly Slot[] = []
  /** The entries of `#noted` up to this index are in the grid. */
  #filed = 0
  #rounds = 0
  #readIn = new Uint32Array(0)
  /** For each of the next rounds, the parked tickets that are searched again in that round. */
  readonly #turns: Slot[][] = Array.from({ length: 1 << LONGEST_GAP }, () => [])
  /** The last slot that was woken in turn. */
  #last: Slot = -1
  #fresh: Slot[] = []
  #dirty: Slot[] = []

  constructor(input: DirtyInput<Facts>) {
    this.#input = input
    this.#timers = new SlotTimers(input.columns)
  }

  /** Records that the next round reads this slot. */
  note(slot: Slot): void {
    this.#noted.push(slot)
  }

  /** Called when head starts have changed: tickets relax earlier than planned. */
  relaxOtherwise(): void {
    this.#areTimersLate = true
  }

  /** Called when a search has found no match. @param sawAll true if it has proved that there is none. */
  park(slot: Slot, sawAll: boolean): void {
    const { columns } = this.#input
    columns.state[slot] = PARKED
    if (columns.size[slot] !== 0) this.#timers.set(slot, columns.rows[slot * columns.stride + UNTIL] as number)
    if (sawAll) return
    const cuts = Math.min(255, (columns.cuts[slot] as number) + 1)
    columns.cuts[slot] = cuts
    this.#retry(slot, 1 << Math.min(LONGEST_GAP, cuts - 1))
  }

  /** Called when the queue's `patience` delays the match that a search has found. */
  hold(slot: Slot): void {
    this.park(slot, true)
    this.#retry(slot, HELD_GAP)
  }

  /** Called when a ticket had no turn. It is among the first in the next round. */
  defer(slot: Slot): void {
    this.#input.columns.state[slot] = DEFERRED
    if (this.#input.columns.size[slot] !== 0) this.note(slot)
  }

  /** Begins a round. @param isInOrder true if it may end before all have had a turn, so that the order matters. */
  *begin(isInOrder: boolean): Pausable<Changed> {
    const { columns, model, ranked, count } = this.#input
    this.#rounds += 1
    this.#fresh = []
    this.#dirty = []
    if (this.#readIn.length < columns.capacity) this.#readIn = grown(this.#readIn, columns.capacity)
    yield* this.#readNoted()
    yield* this.#readDue()
    this.parked = count() - this.#fresh.length - this.#dirty.length
    // Wake parked tickets near changed ones if the order matters, or if a ticket at the last resort may let others
    // meet. In all other cases, the searches of changed tickets find the parked ones.
    if (this.parked > 0 && (isInOrder || ranked() || model.lastResortLevel < Infinity)) {
      // Deferred tickets already woke their neighbours in an earlier round.
      const changed = this.#dirty.filter((slot) => columns.state[slot] !== DEFERRED)
      yield* this.#wakeNear([...changed, ...this.#fresh])
    }
    return { fresh: this.#fresh, dirty: this.#dirty }
  }

  /** Called when the round has searched everything that `begin` returned. */
  end(): void {
    this.#read = []
  }

  /** Wakes all parked tickets. They join the dirty ones that `begin` returned. */
  *wakeAll(): Pausable<void> {
    yield* this.#wakeInTurn(Infinity)
  }

  /** Files these tickets in the grid. Their levels must be set. */
  *file(slots: readonly Slot[]): Pausable<void> {
    const { columns, levels, grid } = this.#input
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at] as Slot
      if (columns.born[slot] !== 0 && columns.size[slot] !== 0 && columns.taken[slot] === 0 && !grid.has(slot)) {
        levels.of(slot)
        grid.insert(slot)
      }
      if (at % AT_ONCE === AT_ONCE - 1) yield* this.#scanned(AT_ONCE)
    }
  }

  /**
   * Runs between full rounds. Files the new tickets and updates the levels of parked tickets that have relaxed. The
   * next full round searches for matches of the relaxed ones.
   */
  *catchUp(): Pausable<void> {
    this.#dirty = []
    yield* this.#readDue()
    if (this.#read.length > 0) {
      // The last round was abandoned, so read its slots again.
      this.#noted = [...this.#read, ...this.#noted]
      this.#read = []
      this.#filed = 0
    }
    const from = this.#filed
    this.#filed = this.#noted.length
    yield* this.file(this.#noted.slice(from))
  }

  *#readNoted(): Pausable<void> {
    const noted = this.#read.length === 0 ? this.#noted : [...this.#read, ...this.#noted]
    this.#read = noted
    this.#noted = []
    this.#filed = 0
    for (let from = 0; from < noted.length; from += AT_ONCE) {
      for (const slot of noted.slice(from, from + AT_ONCE)) this.#readOne(slot)
      yield* this.#scanned(Math.min(AT_ONCE, noted.length - from))
    }
  }

  #readOne(slot: Slot): void {
    const { columns } = this.#input
    if (columns.born[slot] === 0 || columns.size[slot] === 0 || this.#readIn[slot] === this.#rounds) return
    if (columns.state[slot] === PARKED) return
    this.#readIn[slot] = this.#rounds
    if (!isPresent(columns, slot)) return this.note(slot)
    this.#renew(slot)
    if (columns.state[slot] === FRESH) this.#fresh.push(slot)
    else this.#dirty.push(slot)
  }

  /** Finds the parked tickets that have relaxed, and those that are due for a repeated search. */
  *#readDue(): Pausable<void> {
    const { columns, levels } = this.#input
    let read = 0
    if (this.#areTimersLate) {
      for (let slot = 0; slot < columns.end; slot++) {
        this.#wakeIfDue(slot)
        if (++read % AT_ONCE === 0) yield* this.#scanned(AT_ONCE)
      }
      this.#areTimersLate = false
    }
    this.#due = [...this.#timers.takeDue(levels.now).toReversed(), ...this.#due]
    for (let slot = this.#due.pop(); slot !== undefined; slot = this.#due.pop()) {
      this.#wakeIfDue(slot)
      if (++read % AT_ONCE === 0) yield* this.#scanned(AT_ONCE)
    }
    for (const slot of (this.#turns[this.#rounds & (this.#turns.length - 1)] as Slot[]).splice(0)) {
      if (this.#isParked(slot)) this.#wake(slot)
      else if (columns.state[slot] === PARKED && columns.size[slot] === 0) columns.state[slot] = DIRTY
    }
  }

  #retry(slot: Slot, rounds: number): void {
    this.#turns[(this.#rounds + rounds) & (this.#turns.length - 1)]?.push(slot)
  }

  #isParked(slot: Slot): boolean {
    const { columns } = this.#input
    return columns.state[slot] === PARKED && columns.size[slot] !== 0 && isPresent(columns, slot)
  }

  #wakeIfDue(slot: Slot): void {
    if (!this.#isParked(slot)) return
    const { columns } = this.#input
    if (this.#renew(slot)) this.#wake(slot)
    else this.#timers.set(slot, columns.rows[slot * columns.stride + UNTIL] as number)
  }

  /** Updates the level. Returns true if there is a reason to search again. */
  #renew(slot: Slot): boolean {
    const { columns, levels, grid } = this.#input
    const news = levels.news(slot)
    if (news === RELAXED) columns.cuts[slot] = 0
    if (grid.has(slot)) grid.insert(slot)
    return news !== NOTHING
  }

  #wake(slot: Slot): void {
    this.#input.columns.state[slot] = DIRTY
    this.#dirty.push(slot)
    // If this round is abandoned, the next one reads the slot.
    this.note(slot)
  }

  *#wakeNear(changed: readonly Slot[]): Pausable<void> {
    if (changed.length >= this.parked) return yield* this.#wakeInTurn(Infinity)
    const { columns, grid, draft, budget } = this.#input
    const enough = grid.reads + MOST_READ
    let isCut = false
    for (const slot of changed) {
      if (grid.reads > enough) {
        isCut = true
        break
      }
      if (!isPresent(columns, slot)) continue
      const before = grid.reads
      grid.begin(slot)
      if (grid.goesAnywhere(slot)) grid.collectAll(MOST_READ_EACH, 0)
      else for (let scale = grid.coarse; scale <= grid.coverOf(slot); scale++) grid.collect(scale, MOST_READ_EACH, 0)
      if (grid.wasCut) isCut = true
      if (draft.begin(slot))
        for (let at = 0; at < grid.count; at++) {
          const other = grid.found[at] as Slot
          if (this.#isParked(other) && draft.admits(other)) this.#wake(other)
        }
      budget.chargeTime(1 / 2 + (grid.reads - before) / 16)
      if (budget.isPauseDue()) yield budget.pause()
    }
    if (isCut) yield* this.#wakeInTurn(Math.max(FEW, changed.length * SHARE))
  }

  *#wakeInTurn(many: number): Pausable<void> {
    const { columns } = this.#input
    let wanted = many
    for (let each = 1; each <= columns.end && wanted > 0; each++) {
      if (each % AT_ONCE === 0) yield* this.#scanned(AT_ONCE / 4)
      this.#last = this.#last + 1 < columns.end ? this.#last + 1 : 0
      if (!this.#isParked(this.#last)) continue
      this.#wake(this.#last)
      wanted -= 1
    }
  }

  *#scanned(slots: number): Pausable<void> {
    const { budget } = this.#input
    budget.chargeTime(slots * SCAN_COST)
    if (budget.isPauseDue()) yield budget.pause()
  }
}

/**
 * Slots by the second in which they are due. A slot may be in several seconds, so the reader checks whether the slot is
 * still due.
 */
export class SlotTimers {
  readonly #columns: Columns
  readonly #slotsOf = new Map<number, Slot[]>()
  /** The earliest time that each slot is set for. Infinity if it is not set. */
  #dueOf = new Float64Array(0)

  constructor(columns: Columns) {
    this.#columns = columns
  }

  /** @param due epoch milliseconds. Infinity: never. */
  set(slot: Slot, due: number): void {
    if (slot >= this.#dueOf.length) {
      const dueOf = new Float64Array(this.#columns.capacity).fill(Infinity)
      dueOf.set(this.#dueOf)
      this.#dueOf = dueOf
    }
    if ((this.#dueOf[slot] as number) <= due) return
    this.#dueOf[slot] = due
    this.#put(slot, Math.floor(due / SECOND))
  }

  /** Removes and returns the slots that are due. */
  takeDue(now: number): readonly Slot[] {
    const taken: Slot[] = []
    const begun = Array.from(this.#slotsOf).filter(([second]) => second * SECOND <= now)
    for (const [second, slots] of begun) {
      this.#slotsOf.delete(second)
      for (const slot of slots) {
        const due = this.#dueOf[slot] as number
        if (due <= now) {
          this.#dueOf[slot] = Infinity
          taken.push(slot)
        } else if (Math.floor(due / SECOND) === second) this.#put(slot, second)
      }
    }
    return taken
  }

  #put(slot: Slot, second: number): void {
    const slots = this.#slotsOf.get(second)
    if (slots === undefined) this.#slotsOf.set(second, [slot])
    else slots.push(slot)
  }
}
