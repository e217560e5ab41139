// pure: which tickets a round tries
import { AWAKE, DEFERRED, FRESH, SETTLED, type Columns } from './columns.js'
import type { Effort, Pausable } from './effort.js'
import { RELAXED, TIME, type Levels } from './levels.js'
import type { Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import { joined } from './order.js'

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
  readonly effort: Effort
  readonly lastResortLevel: number
  /**
   * Wakes the settled tickets that one of the changed tickets concerns. @param among the index of the settled tickets.
   */
  wake(changed: Int32Array, settled: Int32Array, among: Neighbours): Pausable<void>
}

/** The tickets that a round tries. */
export interface Surveyed {
  readonly fresh: Int32Array
  readonly awake: Int32Array
  /** Whether any ticket is new, or has a reason to be tried again. */
  readonly changed: boolean
}

/**
 * A ticket without a match settles, and is tried again when something has changed: the ticket has relaxed, or a new
 * ticket has come that it may be matched with. So tickets that wait for something rare cost next to nothing.
 */
export class Survey {
  readonly #input: SurveyInput
  /** Full rounds so far. */
  #rounds = 0

  constructor(input: SurveyInput) {
    this.#input = input
  }

  /**
   * Begins a full round: finds the new tickets and the tickets with a reason to be tried again, and wakes settled
   * tickets that these concern.
   */
  *begin(slots: Int32Array): Pausable<Surveyed> {
    const { columns, neighbours, effort } = this.#input
    this.#rounds += 1
    const fresh = new Int32Array(slots.length)
    const awake = new Int32Array(slots.length)
    const settled = new Int32Array(slots.length)
    let [news, due, still] = [0, 0, 0]
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at] as Slot
      if (at % AT_ONCE === AT_ONCE - 1) {
        effort.note(AT_ONCE * SURVEYED)
        if (effort.isPauseDue()) yield effort.pause()
      }
      const { standing } = columns
      if (standing[slot] === FRESH) {
        fresh[news++] = slot
        continue
      }
      if (this.isWorthATry(slot)) {
        neighbours.raise(slot)
        if (standing[slot] !== DEFERRED) standing[slot] = AWAKE
      }
      if (standing[slot] !== SETTLED) awake[due++] = slot
      else settled[still++] = slot
    }
    const changed = joined(awake.slice(0, due), fresh.subarray(0, news))
    if (still > 0) yield* this.#input.wake(changed, settled.subarray(0, still), neighbours)
    const woken = settled.subarray(0, still).filter((slot) => columns.standing[slot] === AWAKE)
    awake.set(woken, due)
    return {
      fresh: fresh.subarray(0, news),
      awake: awake.subarray(0, due + woken.length),
      changed: changed.length > 0,
    }
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
    const { columns, levels, lastResortLevel } = this.#input
    if (levels.of(slot) >= lastResortLevel) {
      columns.standing[slot] = AWAKE
      return
    }
    const tries = columns.tries[slot] as number
    if (!sawAll) columns.tries[slot] = tries === MOST_TRIES ? LONGEST_GAP : tries + 1
    columns.standing[slot] = SETTLED
  }

  #isTurn(slot: Slot): boolean {
    const { columns } = this.#input
    const tries = Math.min(LONGEST_GAP, columns.tries[slot] as number)
    return tries > 0 && ((this.#rounds + (columns.born[slot] as number)) & ((1 << tries) - 1)) === 0
  }
}
