// pure: which tickets a round tries
import { Agenda } from './agenda.js'
import { AWAKE, DEFERRED, FRESH, SETTLED, UNTIL, type Columns } from './columns.js'
import type { Effort, Pausable } from './effort.js'
import type { Filing } from './filing.js'
import { grown } from './growing.js'
import { RELAXED, TIME, type Levels } from './levels.js'
import type { Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import { joined } from './order.js'
import type { Unsettled } from './unsettled.js'
import type { Met, Wake } from './wake.js'

/** Exponent of the longest gap: an incomplete search is repeated at least every 2⁶ = 64 rounds. */
const LONGEST_GAP = 6
const MOST_TRIES = 255
/** Tickets surveyed before it is asked whether a pause is due, and the time that each takes, in tries. */
const AT_ONCE = 512
const SURVEYED = 1 / 16

export interface SurveyInput {
  readonly columns: Columns
  readonly levels: Levels
  readonly neighbours: Neighbours
  readonly filing: Filing
  readonly unsettled: Unsettled
  readonly effort: Effort
  readonly lastResortLevel: number
  /** The number of waiting tickets. */
  count(): number
  /** All waiting tickets. */
  all(): Int32Array
  /** Whether the ticket is in the round. */
  isPresent(slot: Slot): boolean
  readonly wake: Wake
}

/** The tickets that a round tries: the lists may be changed, and are good until the next survey begins. */
export interface Surveyed {
  readonly fresh: Int32Array
  readonly awake: Int32Array
  /** Whether any ticket is new, or has a reason to be tried again. */
  readonly changed: boolean
  /** Whether `met` was told of all tickets that may be matched, one of them in the index and the other changed. */
  readonly allMet: boolean
}

/**
 * A ticket without a match settles, and is tried again when something has changed: the ticket has relaxed, or a new
 * ticket has come that it may be matched with. Until then no round reads it, so tickets that wait for something rare
 * cost nothing.
 */
export class Survey {
  readonly #input: SurveyInput
  /** Full rounds so far. */
  #rounds = 0
  /** When settled tickets relax. */
  readonly #agenda: Agenda
  /** For each of the next rounds the settled tickets whose turn it may be. */
  readonly #turns: Slot[][] = Array.from({ length: 1 << LONGEST_GAP }, () => [])
  /** Whether tickets relax sooner than the agenda says. */
  #isAgendaLate = false
  readonly #taken = new Int32Array(AT_ONCE)
  #fresh = new Int32Array(64)
  #awake = new Int32Array(64)
  #news = 0
  #due = 0

  constructor(input: SurveyInput) {
    this.#input = input
    this.#agenda = new Agenda(input.columns)
  }

  /** Head starts have changed: tickets relax sooner or later than it was. */
  relaxOtherwise(): void {
    this.#isAgendaLate = true
  }

  /**
   * Begins a full round: finds the new tickets and the tickets with a reason to be tried again, and wakes settled
   * tickets that these concern.
   * @param met see `Wake`.
   */
  *begin(met?: Met): Pausable<Surveyed> {
    const { unsettled } = this.#input
    this.#rounds += 1
    this.#news = 0
    this.#due = 0
    yield* this.#readUnsettled()
    if (this.#isAgendaLate) yield* this.#readSettled()
    else yield* this.#readDue()
    const fresh = this.#fresh.subarray(0, this.#news)
    const changed = joined(this.#awake.subarray(0, this.#due), fresh)
    const settled = this.#input.count() - unsettled.count
    // Comparing to wake finds all pairs. Where most tickets are new, the bulk matches them without comparing each.
    const told = changed.length < settled ? met : undefined
    const wasComplete = settled === 0 || (yield* this.#wakeNear(changed, settled, told))
    return {
      fresh,
      awake: this.#awake.subarray(0, this.#due),
      changed: changed.length > 0,
      allMet: told !== undefined && wasComplete,
    }
  }

  *#wakeNear(changed: Int32Array, settled: number, met: Met | undefined): Pausable<boolean> {
    const { wake, neighbours, filing } = this.#input
    // With more changed tickets than settled ones, these are woken without the index.
    if (changed.length < settled) yield* filing.now()
    return yield* wake(changed, settled, neighbours, (slot) => this.#wake(slot), met)
  }

  *#readUnsettled(): Pausable<void> {
    const { unsettled } = this.#input
    for (let left = unsettled.beginReading(); left > 0; left -= AT_ONCE) {
      this.#sort(this.#taken.subarray(0, unsettled.read(AT_ONCE, this.#taken)))
      yield* this.#pauseIfDue()
    }
  }

  /** Sorts unsettled tickets into new ones and those that are tried again. */
  #sort(slots: Int32Array): void {
    const { columns, neighbours, isPresent } = this.#input
    const { standing } = columns
    if (this.#news + slots.length > this.#fresh.length)
      this.#fresh = grown(this.#fresh, 2 * (this.#news + slots.length))
    const fresh = this.#fresh
    let news = this.#news
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at] as Slot
      if (!isPresent(slot)) continue
      if (standing[slot] === FRESH) {
        // A round that was given up, or one around other tickets, may have added it to the index.
        if (neighbours.count > 0) neighbours.raise(slot)
        fresh[news++] = slot
        continue
      }
      if (this.isWorthATry(slot)) {
        neighbours.raise(slot)
        if (standing[slot] !== DEFERRED) standing[slot] = AWAKE
      }
      this.#addAwake(slot)
    }
    this.#news = news
  }

  /** Finds the settled tickets that have relaxed, and those whose turn it is. */
  *#readDue(): Pausable<void> {
    const { levels } = this.#input
    let read = 0
    for (let slot = this.#agenda.takeDue(levels.now); slot !== undefined; slot = this.#agenda.takeDue(levels.now)) {
      this.#look(slot)
      if (++read % AT_ONCE === 0) yield* this.#pauseIfDue()
    }
    const turns = this.#turns[this.#rounds & (this.#turns.length - 1)] as Slot[]
    for (let slot = turns.pop(); slot !== undefined; slot = turns.pop()) {
      this.#look(slot)
      if (++read % AT_ONCE === 0) yield* this.#pauseIfDue()
    }
  }

  /** The same where the agenda is late: looks at all of them. */
  *#readSettled(): Pausable<void> {
    for (const [at, slot] of this.#input.all().entries()) {
      this.#look(slot)
      if (at % AT_ONCE === AT_ONCE - 1) yield* this.#pauseIfDue()
    }
    this.#isAgendaLate = false
    yield* this.#readDue()
  }

  /** Wakes a settled ticket that has a reason to be tried again. */
  #look(slot: Slot): void {
    const { columns, neighbours, isPresent } = this.#input
    if (columns.standing[slot] !== SETTLED || columns.size[slot] === 0 || !isPresent(slot)) return
    if (!this.isWorthATry(slot)) return this.#plan(slot)
    neighbours.raise(slot)
    this.#wake(slot)
  }

  #wake(slot: Slot): void {
    this.#input.columns.standing[slot] = AWAKE
    this.#input.unsettled.add(slot)
    this.#addAwake(slot)
  }

  #addAwake(slot: Slot): void {
    if (this.#due === this.#awake.length) this.#awake = grown(this.#awake, 2 * this.#due)
    this.#awake[this.#due++] = slot
  }

  *#pauseIfDue(): Pausable<void> {
    const { effort } = this.#input
    effort.note(AT_ONCE * SURVEYED)
    if (effort.isPauseDue()) yield effort.pause()
  }

  /** Plans when a settled ticket is looked at again. */
  #plan(slot: Slot): void {
    const { columns } = this.#input
    this.#agenda.set(slot, columns.rows[slot * columns.stride + UNTIL] as number)
    const gap = 1 << this.#gapOf(slot)
    if (gap === 1) return
    const round = this.#rounds + gap - ((this.#rounds + (columns.born[slot] as number)) & (gap - 1))
    this.#turns[round & (this.#turns.length - 1)]?.push(slot)
  }

  isWorthATry(slot: Slot): boolean {
    const { columns, levels } = this.#input
    const news = levels.news(slot)
    if (news === RELAXED) columns.tries[slot] = 0
    // An incomplete search is not repeated before its turn merely because time has passed.
    return news === RELAXED || (news === TIME && columns.tries[slot] === 0) || this.#isTurn(slot)
  }

  /**
   * Notes that a search for a ticket or opening found no match. Last-resort tickets are few and are tried in each
   * round, as new tickets do not tell which of them they may be matched with. A search that did not see all candidates
   * may have missed a match: it is repeated after 2, 4, 8 … 64 rounds, each time starting from other candidates, so
   * that all of them are seen in the end.
   */
  settle(slot: Slot, sawAll: boolean): void {
    const { columns, levels, unsettled, filing, lastResortLevel } = this.#input
    const isTicket = columns.size[slot] !== 0
    filing.note(slot)
    if (levels.of(slot) >= lastResortLevel) {
      columns.standing[slot] = AWAKE
      if (isTicket) unsettled.add(slot)
      return
    }
    const tries = columns.tries[slot] as number
    if (!sawAll) columns.tries[slot] = tries === MOST_TRIES ? LONGEST_GAP : tries + 1
    columns.standing[slot] = SETTLED
    if (isTicket) this.#plan(slot)
  }

  /** Exponent of the number of rounds after which an incomplete search is repeated; 0 for a complete one. */
  #gapOf(slot: Slot): number {
    return Math.min(LONGEST_GAP, this.#input.columns.tries[slot] as number)
  }

  #isTurn(slot: Slot): boolean {
    const gap = this.#gapOf(slot)
    const { born } = this.#input.columns
    return gap > 0 && ((this.#rounds + (born[slot] as number)) & ((1 << gap) - 1)) === 0
  }
}
