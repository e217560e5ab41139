// pure: whom a change near them makes worth another try
import { AWAKE, SETTLED, type Columns } from './columns.js'
import type { Draft } from './draft.js'
import type { Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import type { SearchRadius } from './search-radius.js'
import { isPartOf, type Scale } from './scales.js'

/**
 * Slots read to find out whom the new ones concern, for each that could be concerned, as long as these are few, and at
 * most.
 */
const MOST_READ_EACH = 16
const MOST_READ = 200_000
const MOST_READ_AT_ONCE = 4096
/**
 * Where that does not tell, some are woken in turn: all where they are few, else this part of as many as have changed.
 */
const FEW = 500
const SHARE = 1 / 4

export interface Waking {
  readonly columns: Columns
  readonly draft: Pick<Draft, 'begin' | 'admits'>
  readonly reach: SearchRadius
}

/**
 * Wakes those of the settled who may meet one of the changed. In a crowd of tickets that the columns allow together,
 * and that have not found one another all the same, to ask about each two of them would take longer than all the rest
 * of a round: then part of them are woken, others each time, so that everybody is woken within a bounded number of
 * rounds.
 * @param among where the settled are.
 */
export function createWaking({ columns, draft, reach }: Waking) {
  const raw = new Int32Array(MOST_READ_AT_ONCE)
  /** Of those woken in turn. */
  let last: Slot = -1

  return (changed: Int32Array, settled: Int32Array, among: Neighbours): void => {
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
    // To ask around each of the changed costs as much as to try one of the settled.
    if (changed.length >= settled.length) return inTurn(settled.length)
    let left = Math.min(MOST_READ, MOST_READ_EACH * settled.length)
    for (const slot of changed) {
      if (!draft.begin(slot)) continue
      const widest = reach(slot)
      among.look.lookAround(slot)
      for (let scale = 0; scale <= widest; scale++) {
        if (scale < widest && isPartOf(among.scales[scale] as Scale, among.scales[scale + 1])) continue
        among.look.turnTo(scale, raw.length, 0)
        const read = among.look.next(raw)
        left -= read
        if (among.look.cut || left < 0) return inTurn(Math.max(FEW, changed.length * SHARE))
        for (let each = 0; each < read; each++) {
          const other = raw[each] as Slot
          if (standing[other] === SETTLED && draft.admits(other)) standing[other] = AWAKE
        }
      }
    }
  }
}
