// pure: wakes settled tickets that a change near them concerns
import { SETTLED, type Columns } from './columns.js'
import type { Draft } from './draft.js'
import type { Effort, Pausable } from './effort.js'
import type { Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import type { TooFarApart } from './pair-limits.js'
import type { SearchRadius } from './search-radius.js'
import { isPartOf, type Scale } from './scales.js'

/** Pairs of tickets compared to find the settled tickets concerned: per settled ticket, and in all. */
const MOST_COMPARED_EACH = 32
const MOST_COMPARED = 400_000
/** Slots read around tickets that share their lists. */
const MOST_READ = 8192
/** Changed tickets that are grouped at once. */
const GROUPED_AT_ONCE = 4096
/**
 * Where reading is cut short, settled tickets are woken in turn: at least `FEW`, or this share of the number of changed
 * tickets.
 */
const FEW = 500
const SHARE = 1 / 4
/** The time it takes to compare two tickets, and to read a slot, in tries. */
const COMPARED = 1 / 8
const READ = 1 / 32
/** Slots looked at, where settled tickets are woken in turn, before it is asked whether a pause is due. */
const LOOKED_AT_ONCE = 512

export interface Waking {
  readonly columns: Columns
  readonly draft: Pick<Draft, 'begin' | 'admits'>
  readonly searchRadius: SearchRadius
  readonly isTooFarApart: TooFarApart
  readonly effort: Effort
  /** Whether the ticket is still in the pool. */
  isPresent(slot: Slot): boolean
}

/**
 * Wakes the settled tickets that one of the changed tickets concerns. Returns whether all of them were found.
 * @param settled how many there are. @param among the index of the settled tickets. @param woken is told of each.
 * @param met is told of each two tickets that may be matched: a changed one, and one of the index, settled or not.
 */
export type Wake = (
  changed: Int32Array,
  settled: number,
  among: Neighbours,
  woken: (slot: Slot) => void,
  met?: Met,
) => Pausable<boolean>
export type Met = (one: Slot, other: Slot) => void

/**
 * Creates a function that wakes the settled tickets that may be matched with one of the changed. In a crowd of tickets
 * that the columns allow together but other rules do not, comparing each pair would take longer than the rest of the
 * round: then a part of them is woken, others each time, so that every ticket is woken within a bounded number of
 * rounds.
 */
export function createWaking({ columns, draft, searchRadius, isTooFarApart, effort, isPresent }: Waking): Wake {
  const raw = new Int32Array(MOST_READ)
  const settledNear = new Int32Array(MOST_READ)
  const lows = new Float64Array(MOST_READ)
  /** The last ticket woken in turn. */
  let last: Slot = -1
  /** Pairs that may still be compared. */
  let left = 0

  /** The tickets whose search reads a scale. The next scale's lists may hold all that this one's do. */
  const readingAt = (changed: Int32Array, { scales }: Neighbours, scale: number): Slot[] => {
    const isPart = isPartOf(scales[scale] as Scale, scales[scale + 1])
    const slots: Slot[] = []
    for (const slot of changed) {
      if (!isPresent(slot)) continue
      const widest = searchRadius(slot)
      if (scale === widest || (scale < widest && !isPart)) slots.push(slot)
    }
    return slots
  }

  /** Wakes those of the first `read` slots that may be matched with one of the others. */
  function* compare(
    slots: readonly Slot[],
    read: number,
    { shared, scales }: Neighbours,
    scale: number,
    woken: (slot: Slot) => void,
    met: Met | undefined,
  ): Pausable<void> {
    const { standing } = columns
    const width = scales[scale]?.width ?? Infinity
    let count = 0
    for (let at = 0; at < read; at++) {
      const other = raw[at] as Slot
      if (met === undefined && standing[other] !== SETTLED) continue
      lows[count] = shared.lowOf(other, 0)
      settledNear[count++] = other
    }
    effort.note(read * READ)
    for (const slot of slots) {
      if (count === 0) break
      if (!isPresent(slot) || !draft.begin(slot)) continue
      const low = shared.lowOf(slot, 0)
      let compared = 0
      for (let at = 0; at < count; at++) {
        const value = lows[at] as number
        if (Math.abs(value - low) > width && value !== Infinity && low !== Infinity) continue
        compared += 1
        const other = settledNear[at] as Slot
        const isSettled = standing[other] === SETTLED
        if (!(isSettled || (met !== undefined && other !== slot)) || !isPresent(other)) continue
        if (isTooFarApart(slot, other) || !draft.admits(other)) continue
        met?.(slot, other)
        if (isSettled) woken(other)
      }
      left -= compared
      effort.note(compared * COMPARED)
      if (left < 0) return
      if (effort.isPauseDue()) yield effort.pause()
    }
  }

  function* inTurn(many: number, woken: (slot: Slot) => void): Pausable<false> {
    let wanted = many
    for (let each = 1; each <= columns.end && wanted > 0; each++) {
      if (each % LOOKED_AT_ONCE === 0) {
        effort.note(LOOKED_AT_ONCE * READ)
        if (effort.isPauseDue()) yield effort.pause()
      }
      const { standing, size, end } = columns
      last = last + 1 < end ? last + 1 : 0
      if (standing[last] !== SETTLED || size[last] === 0 || !isPresent(last)) continue
      woken(last)
      wanted -= 1
    }
    return false
  }

  return function* wake(changed, settled, among, woken, met) {
    // Reading around each changed ticket costs as much as trying one settled ticket.
    if (met === undefined && changed.length >= settled) return yield* inTurn(settled, woken)
    left = Math.min(MOST_COMPARED, MOST_COMPARED_EACH * Math.max(changed.length, settled))
    for (let from = 0; from < changed.length; from += GROUPED_AT_ONCE)
      for (let scale = 0; scale < among.scales.length; scale++) {
        const slots = readingAt(changed.subarray(from, from + GROUPED_AT_ONCE), among, scale)
        if (effort.isPauseDue()) yield effort.pause()
        for (const sharing of slots.length === 0 ? [] : among.shared.grouped(slots, scale)) {
          const read = among.shared.read(sharing, scale, raw)
          if (read < Infinity) yield* compare(sharing.slots, read, among, scale, woken, met)
          if (read === Infinity || left < 0) return yield* inTurn(Math.max(FEW, changed.length * SHARE), woken)
        }
      }
    return true
  }
}
