// pure: whom a change near them makes worth another try
import { AWAKE, SETTLED, type Columns } from './columns.js'
import type { Draft } from './draft.js'
import type { Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import type { Reach } from './reach.js'
import { isPartOf, type Scale } from './scales.js'

/** Slots read at most to find out whom the new ones concern, for each that could be concerned; beyond, all are woken. */
const MOST_READ_EACH = 16
const MOST_READ_AT_ONCE = 4096

export interface Waking {
  readonly columns: Columns
  readonly draft: Draft
  readonly reach: Reach
}

/**
 * Wakes those of the settled who may meet one of the changed.
 * @param among where the settled are.
 */
export function createWaking({ columns, draft, reach }: Waking) {
  const raw = new Int32Array(MOST_READ_AT_ONCE)

  return (changed: Int32Array, settled: Int32Array, among: Neighbours): void => {
    const { standing } = columns
    const all = () => {
      for (const slot of settled) standing[slot] = AWAKE
    }
    // To ask around each of the changed costs as much as to try one of the settled.
    if (changed.length >= settled.length) return all()
    let left = MOST_READ_EACH * settled.length
    for (const slot of changed) {
      if (!draft.begin(slot)) continue
      const last = reach(slot)
      for (let scale = 0; scale <= last; scale++) {
        if (scale < last && isPartOf(among.scales[scale] as Scale, among.scales[scale + 1])) continue
        const read = among.near(slot, scale, raw, 0)
        left -= read
        if (among.cut || left < 0) return all()
        for (let each = 0; each < read; each++) {
          const other = raw[each] as Slot
          if (standing[other] !== SETTLED || !draft.add(other)) continue
          draft.drop()
          standing[other] = AWAKE
        }
      }
    }
  }
}
