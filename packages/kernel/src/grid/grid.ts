// pure: a spatial index of waiting tickets: hashed grids over location, first values and key
import { grown, isFree, KEY, VALUES, X, Y, Z, type Columns } from '../data/columns.js'
import type { Model, Slot } from '../data/model.js'
import { scalesOf, type Scale } from './scales.js'

/** Coordinates of tickets whose location is unknown, or that match any value. */
const UNKNOWN = 0x3fff_fff1
/**
 * Cells are wider than the limits by this factor. Otherwise rounding could put tickets that are just within a limit two
 * cells apart.
 */
const WIDER = 1 + 1e-9
const EVERY_CELL = 0
const EVERYWHERE: Scale = { chord: Infinity, widths: [] }
/** Squared distances from the centre of the sphere, with tolerance for rounding. */
const [LEAST_SQUARE, MOST_SQUARE] = [1 - 1e-9, 1 + 1e-9]
/**
 * Number of tickets per chain above which a scale is worth reading. Below it, cells are nearly empty, so a coarser
 * scale is read.
 */
const CROWDED = 2
/** How often the number of slots that a search reads is doubled. */
const DOUBLINGS = 4

/**
 * Returns the part of a crowd that a search reads. The first search for a ticket reads `first` slots, the next one
 * twice as many after those, and so on. So every slot is read after a bounded number of searches.
 * @param cuts number of earlier searches for the ticket that were cut short.
 */
export function windowOf(cuts: number, first: number): { readonly most: number; readonly skip: number } {
  const most = first << Math.min(DOUBLINGS, cuts)
  // The first of the largest windows starts at the beginning. If it holds all slots, the search is complete.
  return { most, skip: cuts < DOUBLINGS ? most - first : (cuts - DOUBLINGS) * most }
}

/**
 * One grid whose cells are as wide as its scale. A chain holds the slots of one cell, and sometimes those of others.
 */
class Layer {
  /** The index of the layer's scale. Infinity for a chain that belongs to no scale. */
  readonly level: number
  readonly chord: number
  readonly side: number
  readonly widths: readonly number[]
  readonly steps: readonly number[]
  heads = new Int32Array(1 << 6).fill(-1)
  next = new Int32Array(0)
  cell = new Int32Array(0)
  count = 0
  /** Number of chains that are not empty. */
  #chains = 0
  #before = new Int32Array(0)

  constructor({ chord, widths }: Scale, level: number) {
    this.level = level
    this.chord = chord
    this.widths = widths
    this.side = chord * WIDER
    this.steps = widths.map((width) => (width > 0 ? width * WIDER : 1))
  }

  link(slot: Slot, cell: number): void {
    if (this.count >= this.heads.length) this.#widen()
    const index = cell & (this.heads.length - 1)
    const head = this.heads[index] as Slot
    this.cell[slot] = cell
    this.#before[slot] = -1
    this.next[slot] = head
    if (head >= 0) this.#before[head] = slot
    else this.#chains += 1
    this.heads[index] = slot
    this.count += 1
  }

  unlink(slot: Slot): void {
    const [one, other] = [this.#before[slot] as Slot, this.next[slot] as Slot]
    if (one >= 0) this.next[one] = other
    else this.heads[(this.cell[slot] as number) & (this.heads.length - 1)] = other
    if (other >= 0) this.#before[other] = one
    else if (one < 0) this.#chains -= 1
    this.count -= 1
  }

  /** True if a ticket usually shares its cell with another. */
  isCrowded(): boolean {
    return this.count > CROWDED * this.#chains
  }

  grow(length: number): void {
    this.next = grown(this.next, length)
    this.#before = grown(this.#before, length)
    this.cell = grown(this.cell, length)
  }

  /** Returns the cell of a value. `UNKNOWN` for one that matches any, `EVERY_CELL` if the layer has no limit. */
  coordinateOf(value: number, span: number): number {
    if (this.widths[span] === Infinity) return EVERY_CELL
    return value === Infinity ? UNKNOWN : Math.floor(value / (this.steps[span] as number))
  }

  /** Multiplies the number of cells by four. */
  #widen(): void {
    const slots: Slot[] = []
    for (const head of this.heads) for (let slot = head; slot >= 0; slot = this.next[slot] as Slot) slots.push(slot)
    this.heads = new Int32Array(4 * this.heads.length).fill(-1)
    this.count = 0
    this.#chains = 0
    for (const slot of slots.toReversed()) this.link(slot, this.cell[slot] as number)
  }
}

/**
 * One layer per scale. A ticket is filed in all layers up to the one that covers the limits of its level. So two
 * tickets that may be matched are always in neighbouring cells of the layer of the lower level, in which both are
 * filed:
 *
 *     level 0   ▦ ▦          5 s: the ticket is also filed in the next layer; it then finds, and is found by,
 *     level 1   ▩ ▩ ▩ ▩      those who have waited as long, at twice the distance
 *
 * Further chains hold the tickets of one network, and those at the last resort, which may be matched with any ticket.
 */
export class Grid {
  /** The first scale that is at least as coarse as the limits of any level. */
  readonly coarse: number
  /** The slots that `collect` has found since `begin`: the first `count` entries. */
  found = new Int32Array(256)
  count = 0
  /** True if a `collect` since `begin` has left out slots. */
  wasCut = false
  /** Number of slots read since creation. */
  reads = 0
  readonly #columns: Columns
  readonly #coverOf: Int32Array
  readonly #lastResort: number
  readonly #unknown: 'network' | 'any' | undefined
  readonly #layers: readonly Layer[]
  readonly #networks = new Layer(EVERYWHERE, Infinity)
  readonly #lastResorts = new Layer(EVERYWHERE, Infinity)
  readonly #stride: number
  readonly #dimensions: number
  /** The highest layer in which each slot is filed, plus 1. 0 if it is in none. */
  #filed = new Uint8Array(0)
  #isLast = new Uint8Array(0)
  #seen = new Float64Array(0)
  #tag = 0
  /** True if any filed ticket matches any value. */
  #hasUnknown = false
  // Number of slots that the current `collect` still leaves out.
  #skipped = 0
  #read = 0
  #most = Infinity
  #self: Slot = -1
  // Cells of values that may be near: of the first span by coordinate, of the second by hash.
  readonly #firsts = new Int32Array(4)
  readonly #seconds = new Int32Array(4)
  #firstCount = 0
  #secondCount = 0
  #squared = Infinity
  #width0 = Infinity
  #width1 = Infinity

  constructor(model: Model<never>, columns: Columns) {
    const { scales, coverOf } = scalesOf(model)
    this.#columns = columns
    this.#coverOf = coverOf
    this.coarse = coverOf[0] ?? 0
    this.#lastResort = model.lastResortLevel
    this.#unknown = model.radius?.unknown
    this.#layers = scales.map((scale, level) => new Layer(scale, level))
    this.#stride = columns.stride
    this.#dimensions = scales[0]?.widths.length ?? 0
  }

  has(slot: Slot): boolean {
    return (this.#filed[slot] ?? 0) > 0
  }

  /** Files a ticket in the layers up to its level. If it is filed already and has relaxed, adds the further layers. */
  insert(slot: Slot): void {
    if (slot >= this.#filed.length) this.#grow()
    const { level, network } = this.#columns
    const own = network[slot] as number
    const upTo = this.coverOf(slot) + 1
    if (this.#isAnyValue(slot)) this.#hasUnknown = true
    if (this.#filed[slot] === 0 && this.#unknown === 'network' && own !== -1)
      this.#networks.link(slot, mixed(hashOfPlace(own, 0, 0)))
    if ((level[slot] as number) >= this.#lastResort && this.#isLast[slot] === 0) {
      this.#isLast[slot] = 1
      this.#lastResorts.link(slot, EVERY_CELL)
    }
    for (let at = this.#filed[slot] as number; at < upTo; at++) {
      const layer = this.#layers[at] as Layer
      layer.link(slot, this.#cellOf(layer, slot))
    }
    if (upTo > (this.#filed[slot] as number)) this.#filed[slot] = upTo
  }

  remove(slot: Slot): void {
    const filed = this.#filed[slot] ?? 0
    if (filed === 0) return
    for (let layer = 0; layer < filed; layer++) (this.#layers[layer] as Layer).unlink(slot)
    if (this.#unknown === 'network' && this.#columns.network[slot] !== -1) this.#networks.unlink(slot)
    if (this.#isLast[slot] === 1) this.#lastResorts.unlink(slot)
    this.#isLast[slot] = 0
    this.#filed[slot] = 0
  }

  /** Returns the finest scale that is worth reading. */
  finest(): number {
    let scale = 0
    while (scale < this.coarse && !(this.#layers[scale] as Layer).isCrowded()) scale += 1
    return scale
  }

  /** Returns the finest scale at which all possible partners of the ticket or opening are near. */
  coverOf(slot: Slot): number {
    return this.#coverOf[this.#columns.level[slot] as number] as number
  }

  /** True if the ticket may match tickets in any cell. Use `collectAll` then. */
  goesAnywhere(slot: Slot): boolean {
    const { rows, level } = this.#columns
    if ((level[slot] as number) >= this.#lastResort || this.#isAnyValue(slot)) return true
    return this.#unknown === 'any' && Number.isNaN(rows[slot * this.#stride + X] as number)
  }

  /** Returns tickets at the last resort, at most this number. */
  atLastResort(most: number): Slot[] {
    const { heads, next } = this.#lastResorts
    const slots: Slot[] = []
    for (let slot = heads[EVERY_CELL] as Slot; slot >= 0 && slots.length < most; slot = next[slot] as Slot)
      slots.push(slot)
    return slots
  }

  /** Begins to collect slots around this one. */
  begin(slot: Slot): void {
    this.count = 0
    this.wasCut = false
    this.#tag += 1
    this.#self = slot
    if (this.#seen.length < this.#columns.capacity) this.#seen = grown(this.#seen, this.#columns.capacity)
    this.#seen[slot] = this.#tag
  }

  /**
   * Adds the free slots near at a scale to `found`, without duplicates.
   * @param most maximum number of slots read. @param skip number of slots left out before those. Each `skip` gives
   *   another part of a crowd.
   */
  collect(scale: number, most: number, skip: number): void {
    const layer = this.#layers[scale] as Layer
    const before = this.count
    this.#setLimits(layer)
    this.#skipped = skip
    this.#read = 0
    this.#most = most
    this.#readNear(layer)
    const there = skip - this.#skipped
    let isAll = skip === 0
    if (this.#read === 0 && there > 0 && this.count === before) {
      // There are fewer slots than the number to leave out.
      isAll = there <= most
      this.#skipped = isAll ? 0 : skip % there
      this.#readNear(layer)
    }
    if (!isAll) this.wasCut = true
    this.reads += this.#read
  }

  /** Adds all free slots of the same key, filed or not, without duplicates. `skip` decides the slot to start from. */
  collectAll(most: number, skip: number): void {
    const { end, size } = this.#columns
    this.#setLimits(undefined)
    this.#read = 0
    for (let each = 0; each < end; each++) {
      if (this.#read >= most) {
        this.wasCut = true
        break
      }
      const slot = (each + skip) % end
      if (size[slot] !== 0) this.#consider(slot)
    }
    this.reads += this.#read
  }

  /** Leaves this slot out of later collections. */
  skip(slot: Slot): void {
    this.#seen[slot] = this.#tag
  }

  /** Adds one slot to `found`, wherever it is, if it is free, has the same key and is not in it yet. */
  add(slot: Slot): void {
    this.#setLimits(undefined)
    this.#consider(slot)
  }

  /** True if a ticket matches any value of an indexed span. */
  #isAnyValue(slot: Slot): boolean {
    const at = slot * this.#stride + VALUES
    for (let span = 0; span < this.#dimensions; span++) if (this.#columns.rows[at + 2 * span] === Infinity) return true
    return false
  }

  #setLimits(layer: Layer | undefined): void {
    this.#squared = layer === undefined || layer.chord === Infinity ? Infinity : layer.chord ** 2
    this.#width0 = layer?.widths[0] ?? Infinity
    this.#width1 = layer?.widths[1] ?? Infinity
  }

  #readNear(layer: Layer): void {
    const { rows, network } = this.#columns
    const at = this.#self * this.#stride
    if (this.#lastResorts.count > 0) {
      this.#setLimits(undefined)
      this.#chain(this.#lastResorts, EVERY_CELL)
      this.#setLimits(layer)
    }
    const { side } = layer
    this.#listValues(layer)
    if (side === Infinity) return this.#readCells(layer, 0)
    const x = rows[at + X] as number
    const own = network[this.#self] as number
    if (Number.isNaN(x)) {
      if (this.#unknown === 'network' && own !== -1) this.#chain(this.#networks, mixed(hashOfPlace(own, 0, 0)))
      return
    }
    if (this.#unknown === 'any') this.#readCells(layer, hashOfPlace(UNKNOWN, 0, 0))
    else if (own !== -1) this.#readCells(layer, hashOfPlace(UNKNOWN, own, 0))
    const i = Math.floor(x / side)
    const j = Math.floor((rows[at + Y] as number) / side)
    const k = Math.floor((rows[at + Z] as number) / side)
    // Reads only cells that contain a point of the sphere.
    for (let a = i - 1; a <= i + 1; a++) {
      const [nearA, farA] = [leastSquare(a, side), greatestSquare(a, side)]
      for (let b = j - 1; b <= j + 1; b++) {
        const near = nearA + leastSquare(b, side)
        const far = farA + greatestSquare(b, side)
        if (near > MOST_SQUARE) continue
        for (let c = k - 1; c <= k + 1; c++)
          if (near + leastSquare(c, side) <= MOST_SQUARE && far + greatestSquare(c, side) >= LEAST_SQUARE)
            this.#readCells(layer, hashOfPlace(a, b, c))
      }
    }
  }

  /** Lists in `#firsts` and `#seconds` the cells of all values that may be near. */
  #listValues(layer: Layer): void {
    const { rows } = this.#columns
    const row = this.#self * this.#stride
    const first = this.#dimensions > 0 ? layer.coordinateOf(rows[row + VALUES] as number, 0) : EVERY_CELL
    const second = this.#dimensions > 1 ? layer.coordinateOf(rows[row + VALUES + 2] as number, 1) : EVERY_CELL
    const toFirst = this.#dimensions === 0 || layer.widths[0] === Infinity ? -1 : this.#hasUnknown ? 2 : 1
    const toSecond = this.#dimensions < 2 || layer.widths[1] === Infinity ? -1 : this.#hasUnknown ? 2 : 1
    // Without a limit, read one cell; with a limit, also the cells beside it. If a ticket matches any value, also read
    // the cell of such tickets.
    this.#firstCount = toFirst + 2
    for (let v = -1; v <= toFirst; v++) this.#firsts[v + 1] = v === 2 ? UNKNOWN : toFirst < 0 ? first : first + v
    this.#secondCount = toSecond + 2
    for (let w = -1; w <= toSecond; w++) {
      const other = w === 2 ? UNKNOWN : toSecond < 0 ? second : second + w
      this.#seconds[w + 1] = hashOfValues(other, rows[row + KEY] as number)
    }
  }

  /** Reads the cells of a location for all values that may be near. */
  #readCells(layer: Layer, place: number): void {
    for (let second = 0; second < this.#secondCount; second++)
      for (let first = 0; first < this.#firstCount; first++)
        this.#chain(layer, cellAt(place ^ (this.#seconds[second] as number), this.#firsts[first] as number))
  }

  #chain(layer: Layer, cell: number): void {
    const { heads, next } = layer
    const head = heads[cell & (heads.length - 1)] as Slot
    if (head < 0) return
    // Read the chain from the ticket itself on, then from its head. So of two tickets in a crowd, one reads the other
    // early.
    const isIn = layer.cell[this.#self] === cell && layer.level < (this.#filed[this.#self] ?? 0)
    if (!isIn) return this.#readFrom(layer, cell, head, -1)
    this.#readFrom(layer, cell, next[this.#self] as Slot, -1)
    this.#readFrom(layer, cell, head, this.#self)
  }

  #readFrom({ next, cell: cells }: Layer, cell: number, from: Slot, end: Slot): void {
    for (let slot = from; slot !== end; slot = next[slot] as Slot) {
      if (this.#skipped > 0) {
        this.#skipped -= 1
        continue
      }
      if (this.#read >= this.#most) {
        this.wasCut = true
        return
      }
      // Another cell may share the chain. Its slots count as read, so that a chain is read in bounded time.
      if (cells[slot] === cell) this.#consider(slot)
      else this.#read += 1
    }
  }

  #consider(slot: Slot): void {
    this.#read += 1
    if (this.#seen[slot] === this.#tag) return
    const { rows } = this.#columns
    const a = this.#self * this.#stride
    const b = slot * this.#stride
    if (rows[a + KEY] !== rows[b + KEY]) return
    if (this.#dimensions > 0) {
      const gap = Math.abs((rows[a + VALUES] as number) - (rows[b + VALUES] as number))
      if (gap > this.#width0 && gap < Infinity) return
      if (this.#dimensions > 1) {
        const other = Math.abs((rows[a + VALUES + 2] as number) - (rows[b + VALUES + 2] as number))
        if (other > this.#width1 && other < Infinity) return
      }
    }
    const dx = (rows[a + X] as number) - (rows[b + X] as number)
    const dy = (rows[a + Y] as number) - (rows[b + Y] as number)
    const dz = (rows[a + Z] as number) - (rows[b + Z] as number)
    if (dx * dx + dy * dy + dz * dz > this.#squared || !isFree(this.#columns, slot)) return
    this.#seen[slot] = this.#tag
    if (this.count === this.found.length) this.found = grown(this.found, 4 * this.count)
    this.found[this.count++] = slot
  }

  #cellOf(layer: Layer, slot: Slot): number {
    const { rows, network } = this.#columns
    const at = slot * this.#stride
    const first = this.#dimensions > 0 ? layer.coordinateOf(rows[at + VALUES] as number, 0) : EVERY_CELL
    const second = this.#dimensions > 1 ? layer.coordinateOf(rows[at + VALUES + 2] as number, 1) : EVERY_CELL
    const values = hashOfValues(second, rows[at + KEY] as number)
    const { side } = layer
    if (side === Infinity) return cellAt(values, first)
    const x = rows[at + X] as number
    const own = this.#unknown === 'network' ? (network[slot] as number) : 0
    if (Number.isNaN(x)) return cellAt(hashOfPlace(UNKNOWN, own, 0) ^ values, first)
    const [y, z] = [rows[at + Y] as number, rows[at + Z] as number]
    const place = hashOfPlace(Math.floor(x / side), Math.floor(y / side), Math.floor(z / side))
    return cellAt(place ^ values, first)
  }

  #grow(): void {
    const { capacity } = this.#columns
    this.#filed = grown(this.#filed, capacity)
    this.#isLast = grown(this.#isLast, capacity)
    for (const layer of [...this.#layers, this.#networks, this.#lastResorts]) layer.grow(capacity)
  }
}

/** Return the minimum and maximum squared coordinate within cell `at`. */
const leastSquare = (at: number, side: number) => (at > 0 ? (at * side) ** 2 : at < -1 ? ((at + 1) * side) ** 2 : 0)
const greatestSquare = (at: number, side: number) => (at >= 0 ? ((at + 1) * side) ** 2 : (at * side) ** 2)

const hashOfPlace = (a: number, b: number, c: number): number =>
  Math.imul(a, 73_856_093) ^ Math.imul(b, 19_349_663) ^ Math.imul(c, 83_492_791)
const hashOfValues = (second: number, key: number): number =>
  Math.imul(second, 0x27d4_eb2f) ^ Math.imul(key, 0x1656_67b1)

/**
 * Returns the number of a cell. Neighbours by the first value are adjacent in memory, because they are read together.
 */
const cellAt = (hash: number, first: number): number => (mixed(hash) + first) | 0

function mixed(hash: number): number {
  const product = Math.imul(hash, 0x85eb_ca6b)
  return product ^ (product >>> 15)
}
