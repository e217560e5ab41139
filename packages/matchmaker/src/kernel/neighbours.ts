// pure: who is near a ticket, at several scales
import { copied, VALUES, X, Y, Z, type Columns } from './columns.js'
import { createLists, type Lists } from './lists.js'
import type { Levels } from './levels.js'
import type { Model, Slot } from './model.js'
import { olderDecides, searchScales, type Scale } from './scales.js'
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
  /**
   * @param slots those that are near one another together: so they are in memory too, and a look around is quick.
   * @param order the same in the order in which they are to be found in lists.
   */
  insertAll(slots: Int32Array, order: Int32Array): void
  insert(slot: Slot): void
  /** Has it found as far as it has relaxed by now. */
  raise(slot: Slot): void
  remove(slot: Slot): void
  /**
   * Writes those near a slot at a scale, itself aside, in no order of distance, some twice; says how many. Looks at no
   * more than `into.length`, and at nobody where there are fewer than `least` for certain.
   */
  near(slot: Slot, scale: number, into: Int32Array, least: number): number
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
const HIGHEST = 255

/**
 * @param levels if given, a ticket is only on scales at which its level lets it meet somebody. Whoever looks for others
 * looks on all scales up to where it reaches.
 */
export function createNeighbours(model: Model<never>, columns: Columns, levels?: Levels): Neighbours {
  const scales = searchScales(model)
  const grids = scales.map(({ chord }) => (chord === Infinity ? undefined : cellsAround(chord)))
  const byNetwork = model.radius?.unknown === 'network'
  const spans = model.spans.length
  /** One set of lists per scale, and the last by network. They hold nodes: few slots of many are in, as a rule. */
  let lists: Lists[] = []
  let nodeOf = new Int32Array(0)
  let slotOf = new Int32Array(0)
  /** What of a node is asked for most, side by side: its place, and its low value. */
  let points = new Float64Array(0)
  /** The level at which a node is in the lists. */
  let filedAt = new Uint8Array(0)
  let free: number[] = []
  let count = 0
  let placeless = 0
  let valueless = 0
  let cut = false
  const cells = new Int32Array(10)
  const codes = new Int32Array(40)

  const { stride } = columns
  const located = (slot: Slot) => !Number.isNaN(columns.rows[slot * stride + X] as number)
  const sameNetwork = (one: Slot, other: Slot) => columns.network[one] !== -1 && columns.network[one] === columns.network[other]
  const lowOf = (slot: Slot) => (spans === 0 ? 0 : (columns.rows[slot * stride + VALUES] as number))
  const bandOf = (slot: Slot, width: number) => (width === Infinity ? 0 : lowOf(slot) === Infinity ? ANY : bandAt(lowOf(slot), width))

  const levelOf = levels === undefined || olderDecides(model) ? () => HIGHEST : levels.of

  /** On those scales that are above one level, up to another. */
  const append = (slot: Slot, node: number, above: number, level: number) => {
    const key = columns.keyHash[slot] as number
    filedAt[node] = level
    for (let at = 0; at < scales.length; at++) {
      const scale = scales[at] as Scale
      if (scale.level <= above || scale.level > level) continue
      const grid = grids[at]
      const cell = grid === undefined ? 0 : located(slot) ? cellOf(grid, columns.coarse[4 * slot] as number, columns.coarse[4 * slot + 1] as number) : NOWHERE
      ;(lists[at] as Lists).append(node, listAt(key, cell, bandOf(slot, scale.width)))
    }
    const network = columns.network[slot] as number
    if (above < 0 && byNetwork && network !== -1) (lists[scales.length] as Lists).append(node, listAt(key, network, NETWORK))
  }

  /** All in wider lists; those of one key in the order in which they came in. */
  const widen = (capacity: number) => {
    const slots = (lists[scales.length - 1]?.all() ?? []).map((node) => slotOf[node] as Slot)
    lists = Array.from({ length: scales.length + (byNetwork ? 1 : 0) }, () => createLists(capacity))
    slotOf = new Int32Array(capacity)
    points = new Float64Array(4 * capacity)
    free = []
    const before = slots.map((slot) => filedAt[nodeOf[slot] as number] as number)
    filedAt = new Uint8Array(capacity)
    for (const [node, slot] of slots.entries()) {
      nodeOf[slot] = node
      note(slot, node)
      append(slot, node, -1, before[node] as number)
    }
  }

  /** Gives a slot a node. */
  const place = (slot: Slot): number => {
    const node = free.pop() ?? count
    count += 1
    if (!located(slot)) placeless += 1
    if (lowOf(slot) === Infinity) valueless += 1
    nodeOf[slot] = node
    note(slot, node)
    return node
  }
  const note = (slot: Slot, node: number) => {
    slotOf[node] = slot
    points[4 * node] = columns.rows[slot * stride + X] as number
    points[4 * node + 1] = columns.rows[slot * stride + Y] as number
    points[4 * node + 2] = columns.rows[slot * stride + Z] as number
    points[4 * node + 3] = lowOf(slot)
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
    const limit = chord * chord
    const { rows } = columns
    const own = center * stride
    const [x, y, z] = [rows[own + X] as number, rows[own + Y] as number, rows[own + Z] as number]
    const low = lowOf(center)
    const alone = byNetwork || !located(center)
    let kept = 0
    for (let each = 0; each < found; each++) {
      const node = into[each] as number
      const point = 4 * node
      if (width < Infinity) {
        const other = points[point + 3] as number
        if (other !== Infinity && !(Math.abs(other - low) <= width)) continue
      }
      if (limit < Infinity) {
        const dx = (points[point] as number) - x
        const dy = (points[point + 1] as number) - y
        const dz = (points[point + 2] as number) - z
        const square = dx * dx + dy * dy + dz * dz
        if (square > limit) continue
        if (alone && Number.isNaN(square) && !(byNetwork ? sameNetwork(center, slotOf[node] as Slot) : Number.isNaN(points[point] as number))) continue
      }
      const slot = slotOf[node] as Slot
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
      return 4 * nodeOf.length + 37 * slotOf.length + lists.reduce((sum, { bytes }) => sum + bytes, 0)
    },
    has: (slot) => slot < nodeOf.length && nodeOf[slot] !== NONE,
    insertAll: (slots, order) => {
      reserve(count + slots.length)
      for (const slot of slots) place(slot)
      for (const slot of order) append(slot, nodeOf[slot] as number, -1, levelOf(slot))
    },
    insert: (slot) => {
      reserve(count + 1)
      append(slot, place(slot), -1, levelOf(slot))
    },
    raise: (slot) => {
      const node = nodeOf[slot] as number
      const level = levelOf(slot)
      if (neighbours.has(slot) && level > (filedAt[node] as number)) append(slot, node, filedAt[node] as number, level)
    },
    remove: (slot) => {
      if (!neighbours.has(slot)) return
      const node = nodeOf[slot] as number
      nodeOf[slot] = NONE
      free.push(node)
      count -= 1
      if (!located(slot)) placeless -= 1
      if (lowOf(slot) === Infinity) valueless -= 1
      for (let scale = 0; scale < scales.length; scale++) if ((scales[scale] as Scale).level <= (filedAt[node] as number)) (lists[scale] as Lists).remove(node)
      if (byNetwork && columns.network[slot] !== -1) (lists[scales.length] as Lists).remove(node)
    },

    near: (slot, at, into, least) => {
      cut = false
      if (count < least || count === 0) return 0
      const { width } = scales[at] as Scale
      const grid = grids[at]
      const list = lists[at] as Lists
      const byNet = lists[scales.length]
      const hash = columns.keyHash[slot] as number
      const band = bandOf(slot, width)
      const network = grid !== undefined && placeless > 0 ? (columns.network[slot] as number) : -1
      let many = 0
      if (grid === undefined) cells[many++] = 0
      else if (located(slot)) many = cellsNear(grid, columns.coarse[4 * slot] as number, columns.coarse[4 * slot + 1] as number, cells)
      if (grid !== undefined && placeless > 0 && !byNetwork) cells[many++] = NOWHERE

      let to = 0
      let there = 0
      for (let each = 0; each < many; each++) {
        const cell = cells[each] as number
        // The band itself, those beside it, and whoever goes with any.
        const bands = width === Infinity || band === ANY ? 1 : valueless > 0 ? 4 : 3
        for (let beside = 0; beside < bands; beside++) {
          const other = beside === 0 ? band : beside === 1 ? (band - 1) | 0 : beside === 2 ? (band + 1) | 0 : ANY
          const code = listAt(hash, cell, other)
          const inList = list.count(code)
          if (inList === 0) continue
          there += inList
          codes[to++] = code
        }
      }
      const inNetwork = byNet === undefined || network === -1 ? 0 : byNet.count(listAt(hash, network, NETWORK))
      if (there + inNetwork < least) return 0

      let found = 0
      for (let each = 0; each < to; each++) found = list.read(codes[each] as number, into, found)
      if (byNet !== undefined && inNetwork > 0) found = byNet.read(listAt(hash, network, NETWORK), into, found)
      cut = found === into.length
      return keepNear(slot, at, into, found)
    },
    allNear: (slot, scale) => {
      const into = new Int32Array(27 * count)
      return Int32Array.from(new Set(into.subarray(0, neighbours.near(slot, scale, into, 0))))
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
