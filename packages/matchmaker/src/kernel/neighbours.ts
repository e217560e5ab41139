// pure: who is near a ticket, at several scales
import { ANY, bandAt, cellOf, cellsNear, listAt, NETWORK, NOWHERE } from './cells.js'
import { copied, VALUES, X, Y, Z, type Columns } from './columns.js'
import { createLists, type Lists } from './lists.js'
import type { Levels } from './levels.js'
import type { Model, Slot } from './model.js'
import { olderDecides, searchScales, type SearchScale } from './scales.js'
import { cellsAround } from './sphere.js'

/**
 * An index of slots. At each scale, and for each of the first spans, a slot is in the list of its key, its cell and its
 * band of values; whoever is near at this scale is in one of the 27 lists around it. Lists hold others too: what is read
 * here may be compatible, and what is compatible is read here, no more.
 */
export interface Neighbours {
  readonly scales: readonly SearchScale[]
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
   * @param skip where to begin among them, so that other looks see others.
   */
  near(slot: Slot, scale: number, into: Int32Array, least: number, skip?: number): number
  /** Whether the last look ended there. */
  readonly cut: boolean
  /** As `near`, without those twice; for few. */
  allNear(slot: Slot, scale: number): Int32Array
  readonly bytes: number
}

/** Lists for each slot there may be: so that few share one. */
const SPARE = 2
/** So few are read as they are. */
const FEW = 32
/** Spans that there are lists for: a look reads those of the span that leave the fewest. */
const INDEXED = 3
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
  const indexed = Math.max(1, Math.min(INDEXED, spans))
  /**
   * For each span one set of lists per scale at which it narrows the search; for the first span at each scale. They hold
   * nodes: few slots of many are in, as a rule.
   */
  let lists: (Lists | undefined)[][] = []
  let networks: Lists | undefined
  let nodeOf = new Int32Array(0)
  let slotOf = new Int32Array(0)
  /** What of a node is asked for most, side by side: its place, and its low value. */
  let points = new Float64Array(0)
  /** The level at which a node is in the lists. */
  let filedAt = new Uint8Array(0)
  let free: number[] = []
  let count = 0
  let placeless = 0
  /** For each span, those who go with any value. */
  const valueless = new Int32Array(indexed)
  let cut = false
  let inLists = 0
  const cells = new Int32Array(10)
  // For the span that leaves the fewest, and for the one that is tried.
  let codes = new Int32Array(40)
  let others = new Int32Array(40)

  const { stride } = columns
  const located = (slot: Slot) => !Number.isNaN(columns.rows[slot * stride + X] as number)
  const sameNetwork = (one: Slot, other: Slot) => columns.network[one] !== -1 && columns.network[one] === columns.network[other]
  const lowOf = (slot: Slot, span = 0) => (spans === 0 ? 0 : (columns.rows[slot * stride + VALUES + 2 * span] as number))
  const bandOf = (low: number, width: number) => (width === Infinity ? 0 : low === Infinity ? ANY : bandAt(low, width))
  const widthOf = (scale: SearchScale, span: number) => scale.widths[span] ?? Infinity

  const levelOf = levels === undefined || olderDecides(model) ? () => HIGHEST : levels.of

  /** On those scales that are above one level, up to another. */
  const append = (slot: Slot, node: number, above: number, level: number) => {
    const key = columns.keyHash[slot] as number
    filedAt[node] = level
    for (let at = 0; at < scales.length; at++) {
      const scale = scales[at] as SearchScale
      if (scale.level <= above || scale.level > level) continue
      const grid = grids[at]
      const cell = grid === undefined ? 0 : located(slot) ? cellOf(grid, columns.coarse[4 * slot] as number, columns.coarse[4 * slot + 1] as number) : NOWHERE
      for (let span = 0; span < indexed; span++) lists[span]?.[at]?.append(node, listAt(key, cell, bandOf(lowOf(slot, span), widthOf(scale, span))))
    }
    const network = columns.network[slot] as number
    if (above < 0 && network !== -1) networks?.append(node, listAt(key, network, NETWORK))
  }

  /** All in wider lists; those of one key in the order in which they came in. */
  const widen = (capacity: number) => {
    const slots = (lists[0]?.at(-1)?.all() ?? []).map((node) => slotOf[node] as Slot)
    lists = Array.from({ length: indexed }, (_, span) => scales.map((scale) => (span === 0 || widthOf(scale, span) < Infinity ? createLists(capacity, span === 0 ? SPARE : 1) : undefined)))
    networks = byNetwork ? createLists(capacity, SPARE) : undefined
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
    countValueless(slot, 1)
    nodeOf[slot] = node
    note(slot, node)
    return node
  }
  const countValueless = (slot: Slot, by: number) => {
    for (let span = 0; span < indexed; span++) if (lowOf(slot, span) === Infinity) valueless[span] = (valueless[span] as number) + by
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
    const { chord, width } = scales[at] as SearchScale
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

  /** The cells around a slot, and where whoever has no place is; says how many. */
  const cellsOf = (slot: Slot, at: number): number => {
    const grid = grids[at]
    if (grid === undefined) {
      cells[0] = 0
      return 1
    }
    let many = 0
    if (located(slot)) many = cellsNear(grid, columns.coarse[4 * slot] as number, columns.coarse[4 * slot + 1] as number, cells)
    if (placeless > 0 && !byNetwork) cells[many++] = NOWHERE
    return many
  }

  /** Writes the lists of a span around a slot that are not empty into `others`; says how many, and sets `inLists`. */
  const codesOf = (slot: Slot, at: number, span: number, many: number): number => {
    const list = lists[span]?.[at] as Lists
    const hash = columns.keyHash[slot] as number
    const width = widthOf(scales[at] as SearchScale, span)
    const band = bandOf(lowOf(slot, span), width)
    // The band itself, those beside it, and whoever goes with any.
    const bands = width === Infinity || band === ANY ? 1 : (valueless[span] as number) > 0 ? 4 : 3
    let to = 0
    inLists = 0
    for (let each = 0; each < many; each++) {
      const cell = cells[each] as number
      for (let beside = 0; beside < bands; beside++) {
        const code = listAt(hash, cell, beside === 0 ? band : beside === 1 ? (band - 1) | 0 : beside === 2 ? (band + 1) | 0 : ANY)
        const members = list.count(code)
        if (members === 0) continue
        inLists += members
        others[to++] = code
      }
    }
    return to
  }

  /** Reads lists one after the other, from the member on that comes after `skip` others, round to that one again. */
  const readFrom = (list: Lists, many: number, into: Int32Array, skip: number): number => {
    let found = 0
    let before = skip
    for (let each = 0; each < many; each++) {
      const code = codes[each] as number
      const members = before === 0 ? 0 : list.count(code)
      if (before > 0 && members <= before) before -= members
      else {
        found = list.read(code, into, found, before)
        before = 0
      }
    }
    for (let each = 0, left = skip; each < many && left > 0; each++) {
      const code = codes[each] as number
      left -= list.count(code)
      found = list.read(code, into, found, 0)
    }
    return found
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
      return 4 * nodeOf.length + 37 * slotOf.length + lists.flat().reduce((sum, list) => sum + (list?.bytes ?? 0), networks?.bytes ?? 0)
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
      countValueless(slot, -1)
      for (let at = 0; at < scales.length; at++) {
        if ((scales[at] as SearchScale).level > (filedAt[node] as number)) continue
        for (let span = 0; span < indexed; span++) lists[span]?.[at]?.remove(node)
      }
      if (columns.network[slot] !== -1) networks?.remove(node)
    },

    near: (slot, at, into, least, skip = 0) => {
      cut = false
      if (count < least || count === 0) return 0
      const around = cellsOf(slot, at)
      let best = 0
      let many = 0
      let there = Infinity
      for (let span = 0; span < indexed && there > FEW; span++) {
        const list = lists[span]?.[at]
        // Who goes with any value is near all, and lists of bands do not tell who they are.
        if (list === undefined || (span > 0 && lowOf(slot, span) === Infinity)) continue
        const to = codesOf(slot, at, span, around)
        if (inLists >= there) continue
        best = span
        many = to
        there = inLists
        const worse = codes
        codes = others
        others = worse
      }
      const network = grids[at] !== undefined && placeless > 0 ? (columns.network[slot] as number) : -1
      const inNetwork = networks === undefined || network === -1 ? 0 : networks.count(listAt(columns.keyHash[slot] as number, network, NETWORK))
      if (there + inNetwork < least) return 0

      let found = readFrom(lists[best]?.[at] as Lists, many, into, there === 0 ? 0 : skip % there)
      if (networks !== undefined && inNetwork > 0) found = networks.read(listAt(columns.keyHash[slot] as number, network, NETWORK), into, found, 0)
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
