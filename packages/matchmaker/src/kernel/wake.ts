// pure: wakes settled tickets that a change near them concerns
import { AWAKE, SETTLED, type Columns } from './columns.js'
import type { Draft } from './draft.js'
import type { Effort, Pausable } from './effort.js'
import type { Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import type { SearchRadius } from './search-radius.js'
import { isPartOf, type Scale } from './scales.js'

/** Slots read to find the settled tickets concerned: per settled ticket, in all, and at one scale. */
const MOST_READ_EACH = 16
const MOST_READ = 200_000
const MOST_READ_AT_ONCE = 4096
/**
 * Where reading is cut short, settled tickets are woken in turn: at least `FEW`, or this share of the number of changed
 * tickets.
 */
const FEW = 500
const SHARE = 1 / 4
/** The time it takes to compare two tickets, in tries. */
const COMPARED = 1 / 4

export interface Waking {
  readonly columns: Columns
  readonly draft: Pick<Draft, 'begin' | 'admits'>
  readonly searchRadius: SearchRadius
  readonly effort: Effort
  /** Whether the ticket is still in the pool. */
  isPresent(slot: Slot): boolean
}

/**
 * Creates a function that wakes the settled tickets that may be matched with one of the changed. In a crowd of tickets
 * that the columns allow together but other rules do not, comparing each pair would take longer than the rest of the
 * round: then a part of them is woken, others each time, so that every ticket is woken within a bounded number of
 * rounds.
 */
export function createWaking({ columns, draft, searchRadius, effort, isPresent }: Waking) {
  const raw = new Int32Array(MOST_READ_AT_ONCE)
  /** The last ticket woken in turn. */
  let last: Slot = -1

  return function* wake(changed: Int32Array, settled: Int32Array, among: Neighbours): Pausable<void> {
    const { standing } = columns
    const inTurn = (many: number) => {
      const first = Math.max(
        0,
        settled.findIndex((slot) => slot > last),
      )
      for (let each = 0; each < Math.min(many, settled.length); each++) {
        last = settled[(first + each) % settled.length] as Slot
        standing[last] = AWAKE
      }
    }
    // Reading around each changed ticket costs as much as trying one settled ticket.
    if (changed.length >= settled.length) return inTurn(settled.length)
    let left = Math.min(MOST_READ, MOST_READ_EACH * settled.length)
    for (const slot of changed) {
      if (!isPresent(slot) || !draft.begin(slot)) continue
      const widest = searchRadius(slot)
      among.query.startAround(slot)
      for (let scale = 0; scale <= widest; scale++) {
        if (scale < widest && isPartOf(among.scales[scale] as Scale, among.scales[scale + 1])) continue
        among.query.turnTo(scale, raw.length, 0)
        const read = among.query.next(raw)
        left -= read
        if (among.query.cut || left < 0) return inTurn(Math.max(FEW, changed.length * SHARE))
        for (let each = 0; each < read; each++) {
          const other = raw[each] as Slot
          if (standing[other] === SETTLED && draft.admits(other)) standing[other] = AWAKE
        }
        effort.note(read * COMPARED)
        if (!effort.isPauseDue()) continue
        yield effort.pause()
        if (!isPresent(slot)) break
        // The index may have changed.
        among.query.startAround(slot)
      }
    }
  }
}
