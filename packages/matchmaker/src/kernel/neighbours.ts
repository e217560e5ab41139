// pure: who is near a ticket, at several scales
import { copied, type Columns } from './columns.js'
import { createLists, type Lists } from './lists.js'
import type { Model, Slot } from './model.js'
import { searchScales, type Scale } from './scales.js'
import { cellsAround, type SphereGrid } from './sphere.js'

/**
 * An index of slots. At each scale a slot is in the list of its key, its cell and its band of values; whoever is
 * near at this scale is in one of the 27 lists around it. Lists hold others too: what is read here may be compatible,
 * and what is compatible is read here, no more.
 */
export interface Neighbours {
  readonly scales: readonly Scale[]
  readonly count: number
  has(slot: Slot): boolean
  /** Makes room for so many at once, rather than bit by bit. */
  reserve(count: number): void
  insert(slot: Slot): void
  remove(slot: Slot): void
  /** Writes those near a slot at a scale, itself aside, in no order of distance, some twice; says how many. Looks at no more than `into.length`. */
  near(slot: Slot, scale: number, into: Int32Array): number
  /** Whether the last look ended there. */
  readonly cut: boolean
  /** As `near`, without those twice; for few. */
  allNear(slot: Slot, scale: number): Int32Array
  readonly bytes: number
}

/** In place of a cell or a band, where a ticket has no place or goes with any value. */
const NOWHERE = -2
const ANY = 0x5bd1e995
const NETWORK = 0x2545f491
/** Of `nodeOf`, for a slot that is not in. */
const NONE = -1
const FIRST = 64

export function createNeighbours(model: Model<never>, columns: Columns): Neighbours {
  const scales = searchScales(model)
  const grids = scales.map(({ chord }) => (chord === Infinity ? undefined : cellsAround(chord)))
  const byNetwork = model.radius?.unknown === 'network'
  const spans = model.spans.length
  /** One set of lists per scale, and the last by network. They hold nodes: few slots of many are in, as a rule. */
  let lists: Lists[] = []
  let nodeOf = new Int32Array(0)
  let slotOf = new Int32Array(0)
  let free: number[] = []
  let count = 0
  let placeless = 0
  let valueless = 0
  let cut = false
  const cells = new Int32Array(10)

  const located = (slot: Slot) => !Number.isNaN(columns.x[slot] as number)
  const sameNetwork = (one: Slot, other: Slot) => columns.network[one] !== -1 && columns.network[one] === columns.network[other]
  const lowOf = (slot: Slot) => (spans === 0 ? 0 : (columns.values[2 * slot * spans] as number))
  const bandOf = (slot: Slot, width: number) => (width === Infinity ? 0 : lowOf(slot) === Infinity ? ANY : bandAt(lowOf(slot), width))

  const append = (slot: Slot, node: number) => {
    const key = columns.key[slot] as number
    for (let scale = 0; scale < scales.length; scale++) {
      const grid = grids[scale]
      const { width } = scales[scale] as Scale
      const cell = grid === undefined ? 0 : located(slot) ? cellOf(grid, columns.north[slot] as number, columns.turn[slot] as number) : NOWHERE
      ;(lists[scale] as Lists).append(node, listAt(key, cell, bandOf(slot, width)))
    }
    const network = columns.network[slot] as number
    if (byNetwork && network !== -1) (lists[scales.length] as Lists).append(node, listAt(key, network, NETWORK))
  }

  /** All in wider lists; those of one key in the order in which they came in. */
  const widen = (capacity: number) => {
    const slots = (lists[scales.length - 1]?.all() ?? []).map((node) => slotOf[node] as Slot)
    lists = Array.from({ length: scales.length + (byNetwork ? 1 : 0) }, () => createLists(capacity))
    slotOf = copied(new Int32Array(capacity), slots)
    free = []
    for (const [node, slot] of slots.entries()) {
      nodeOf[slot] = node
      append(slot, node)
    }
  }

  const reserve = (wanted: number) => {
    if (nodeOf.length < columns.born.length) nodeOf = copied(new Int32Array(columns.born.length).fill(NONE), nodeOf)
    if (slotOf.length < wanted) widen(2 ** Math.ceil(Math.log2(Math.max(FIRST, wanted))))
  }

  /**
   * Lists hold others too, and which ones is chance: of the first `found` nodes only those really near are kept, as slots.
   * Who has no place, or goes with any value, is near those of the same kind, and near the others if it was read around them.
   */
  const keepNear = (center: Slot, at: number, into: Int32Array, found: number): number => {
    const { chord, width } = scales[at] as Scale
    const { x, y, z, values } = columns
    const limit = chord * chord
    const [cx, cy, cz, low] = [x[center] as number, y[center] as number, z[center] as number, lowOf(center)]
    const alone = byNetwork || !located(center)
    let kept = 0
    for (let each = 0; each < found; each++) {
      const slot = slotOf[into[each] as number] as Slot
      if (width < Infinity) {
        const other = values[2 * spans * slot] as number
        if (other !== Infinity && !(Math.abs(other - low) <= width)) continue
      }
      if (limit < Infinity) {
        const dx = (x[slot] as number) - cx
        const dy = (y[slot] as number) - cy
        const dz = (z[slot] as number) - cz
        const square = dx * dx + dy * dy + dz * dz
        if (square > limit) continue
        if (alone && Number.isNaN(square) && !(byNetwork ? sameNetwork(center, slot) : !located(slot))) continue
      }
      if (slot !== center) into[kept++] = slot
    }
    return kept
  }

  const neighbours: Neighbours = {
    scales,
    get count() {
      return count
    },
    get cut() {
      return cut
    },
    get bytes() {
      return 4 * (nodeOf.length + slotOf.length) + lists.reduce((sum, { bytes }) => sum + bytes, 0)
    },
    has: (slot) => slot < nodeOf.length && nodeOf[slot] !== NONE,
    reserve,
    insert: (slot) => {
      reserve(count + 1)
      const node = free.pop() ?? count
      count += 1
      if (!located(slot)) placeless += 1
      if (lowOf(slot) === Infinity) valueless += 1
      nodeOf[slot] = node
      slotOf[node] = slot
      append(slot, node)
    },
    remove: (slot) => {
      if (!neighbours.has(slot)) return
      const node = nodeOf[slot] as number
      nodeOf[slot] = NONE
      free.push(node)
      count -= 1
      if (!located(slot)) placeless -= 1
      if (lowOf(slot) === Infinity) valueless -= 1
      for (let scale = 0; scale < scales.length; scale++) (lists[scale] as Lists).remove(node)
      if (byNetwork && columns.network[slot] !== -1) (lists[scales.length] as Lists).remove(node)
    },

    near: (slot, at, into) => {
      if (count === 0) return 0
      const { width } = scales[at] as Scale
      const grid = grids[at]
      const list = lists[at] as Lists
      const key = columns.key[slot] as number
      const band = bandOf(slot, width)
      let many = 0
      if (grid === undefined) cells[many++] = 0
      else if (located(slot)) many = cellsNear(grid, columns.north[slot] as number, columns.turn[slot] as number, cells)
      if (grid !== undefined && placeless > 0 && !byNetwork) cells[many++] = NOWHERE

      let found = 0
      for (let each = 0; each < many; each++) {
        const cell = cells[each] as number
        found = list.read(listAt(key, cell, band), into, found)
        if (width === Infinity || band === ANY) continue
        found = list.read(listAt(key, cell, (band - 1) | 0), into, found)
        found = list.read(listAt(key, cell, (band + 1) | 0), into, found)
        if (valueless > 0) found = list.read(listAt(key, cell, ANY), into, found)
      }
      const network = columns.network[slot] as number
      if (grid !== undefined && placeless > 0 && byNetwork && network !== -1) {
        found = (lists[scales.length] as Lists).read(listAt(key, network, NETWORK), into, found)
      }
      cut = found === into.length
      return keepNear(slot, at, into, found)
    },
    allNear: (slot, scale) => {
      const into = new Int32Array(27 * count)
      return Int32Array.from(new Set(into.subarray(0, neighbours.near(slot, scale, into))))
    },
  }
  return neighbours
}

/** The list of a key, a cell and a band. */
function listAt(key: number, cell: number, band: number): number {
  const mixed = Math.imul(Math.imul(cell, 0x9e3779b1) ^ Math.imul(band, 0x85ebca6b) ^ Math.imul(key, 0xc2b2ae35), 0x27d4eb2f)
  return mixed ^ (mixed >>> 15)
}

/** The remainder of 2³² bands: those that share a number are told apart by the comparison. */
const bandAt = (value: number, width: number): number => (width > 0 ? Math.floor(value / width) | 0 : Math.floor(value) | 0)

function cellOf({ bandsPerRadian, counts, offsets }: SphereGrid, north: number, turn: number): number {
  const band = (north * bandsPerRadian) | 0
  const many = counts[band] as number
  const cell = (turn * many) | 0
  return (offsets[band] as number) + (cell === many ? 0 : cell)
}

/** Its own cell and those around it. */
function cellsNear({ bandsPerRadian, bands, counts, offsets }: SphereGrid, north: number, turn: number, into: Int32Array): number {
  const own = (north * bandsPerRadian) | 0
  const end = Math.min(bands - 1, own + 1)
  let to = 0
  for (let band = Math.max(0, own - 1); band <= end; band++) {
    const many = counts[band] as number
    const offset = offsets[band] as number
    let cell = (turn * many) | 0
    if (cell === many) cell = 0
    into[to++] = offset + cell
    if (many > 1) into[to++] = offset + (cell === 0 ? many - 1 : cell - 1)
    if (many > 2) into[to++] = offset + (cell === many - 1 ? 0 : cell + 1)
  }
  return to
}
