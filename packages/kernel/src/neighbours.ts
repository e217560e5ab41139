// pure: an index of the slots near a ticket, at several scales
import { bandOf, cellOf, listAt, NETWORK, NOWHERE } from './cells.js'
import { VALUES, X, Y, Z, type Columns } from './columns.js'
import type { Filed } from './filed.js'
import { grown } from './growing.js'
import type { Levels } from './levels.js'
import { createLists } from './lists.js'
import { createIndexQuery, type IndexQuery } from './index-query.js'
import type { Model, Slot } from './model.js'
import type { Mutable } from './mutable.js'
import { olderDecides, searchScales, type SearchScale } from './scales.js'
import { SharedLists } from './shared-lists.js'
import { cellsAround } from './sphere.js'

/**
 * An index of slots. At each scale, and for each of the first spans, a slot is in the list of its key, its cell and its
 * band of values; every slot near at this scale is in one of the 27 lists around it. Lists hold other slots too: every
 * compatible slot is read, but not every slot read is compatible.
 */
export interface Neighbours {
  readonly query: IndexQuery
  readonly shared: SharedLists
  readonly scales: readonly SearchScale[]
  readonly count: number
  has(slot: Slot): boolean
  /** Adds slots; lists keep their order. @param expected how many slots will be added in all, these included. */
  insertAll(slots: Int32Array, expected: number): void
  insert(slot: Slot): void
  /** Files a slot, if it is in the index, at the wider scales that its level allows by now. */
  raise(slot: Slot): void
  remove(slot: Slot): void
  /** All slots near a slot at a scale. Allocates for the whole index: only for small ones. */
  allNear(slot: Slot, scale: number): Int32Array
  bytes(): number
}

/** An index of some of the slots, kept in step with the index of all. */
export interface Part {
  readonly index: Neighbours
  holds(slot: Slot): boolean
}

/** Lists per possible slot, so that few slots share a list by chance. */
const SPARE = 2
/** Spans with lists of their own at most: a query reads the lists of the span that leaves the fewest slots. */
const INDEXED = 3
const FIRST = 64
const HIGHEST = 255

/**
 * Creates an empty index.
 * @param levels if given, a ticket is only filed at scales at which its level lets it be matched; a search reads all
 * scales up to the searching ticket's own reach.
 * @param parts indexes of some of the slots, kept in step with this one.
 */
export function createNeighbours(
  model: Model<never>,
  columns: Columns,
  levels?: Levels,
  parts: readonly Part[] = [],
): Neighbours {
  const scales = searchScales(model)
  const spans = model.spans.length
  const indexed = Math.max(1, Math.min(INDEXED, spans))
  const byNetwork = model.radius?.unknown === 'network'
  const widthOf = (scale: SearchScale, span: number) => scale.widths[span] ?? Infinity
  const filed: Filed = {
    scales,
    grids: scales.map(({ chord }) => (chord === Infinity ? undefined : cellsAround(chord))),
    indexed,
    lists: Array.from({ length: indexed }, (_, span) =>
      scales.map((scale) =>
        span === 0 || widthOf(scale, span) < Infinity ? createLists(span === 0 ? SPARE : 1) : undefined,
      ),
    ),
    networks: byNetwork ? createLists(SPARE) : undefined,
    nodeOf: new Int32Array(0),
    slotOf: new Int32Array(0),
    points: new Float64Array(0),
    placeless: 0,
    valueless: new Int32Array(indexed),
  }
  /** The level up to which a node is filed. */
  let filedAt = new Uint8Array(0)
  const free: number[] = []

  const { stride } = columns
  const located = (slot: Slot) => !Number.isNaN(columns.rows[slot * stride + X] as number)
  const lowOf = (slot: Slot, span = 0) =>
    spans === 0 ? 0 : (columns.rows[slot * stride + VALUES + 2 * span] as number)
  const levelOf = levels === undefined || olderDecides(model) ? () => HIGHEST : levels.of

  /** Files a node at the scales that begin above one level, up to another. */
  const append = (slot: Slot, node: number, above: number, level: number) => {
    const key = columns.keyHash[slot] as number
    const placed = located(slot)
    filedAt[node] = level
    for (let at = 0; at < scales.length; at++) {
      const scale = scales[at] as SearchScale
      if (scale.from <= above || scale.from > level) continue
      const grid = filed.grids[at]
      const cell =
        grid === undefined
          ? 0
          : placed
            ? cellOf(grid, columns.coarse[4 * slot] as number, columns.coarse[4 * slot + 1] as number)
            : NOWHERE
      for (let span = 0; span < indexed; span++)
        filed.lists[span]?.[at]?.append(node, listAt(key, cell, bandOf(lowOf(slot, span), widthOf(scale, span))))
    }
    const network = columns.network[slot] as number
    if (above < 0 && network !== -1) filed.networks?.append(node, listAt(key, network, NETWORK))
  }

  const nodeOf = (slot: Slot) => (filed.nodeOf[slot] as number) - 1

  /** Assigns a node to a slot. */
  const place = (slot: Slot): number => {
    const node = free.pop() ?? neighbours.count
    neighbours.count += 1
    if (!located(slot)) filed.placeless += 1
    countValueless(slot, 1)
    filed.nodeOf[slot] = node + 1
    note(slot, node)
    return node
  }
  const countValueless = (slot: Slot, by: number) => {
    const { valueless } = filed
    for (let span = 0; span < indexed; span++)
      if (lowOf(slot, span) === Infinity) valueless[span] = (valueless[span] as number) + by
  }
  const note = (slot: Slot, node: number) => {
    const { points, slotOf } = filed
    slotOf[node] = slot
    points[4 * node] = columns.rows[slot * stride + X] as number
    points[4 * node + 1] = columns.rows[slot * stride + Y] as number
    points[4 * node + 2] = columns.rows[slot * stride + Z] as number
    points[4 * node + 3] = lowOf(slot)
  }

  const reserve = (wanted: number) => {
    if (filed.nodeOf.length < columns.born.length) filed.nodeOf = grown(filed.nodeOf, columns.born.length)
    if (filed.slotOf.length >= wanted) return
    const capacity = 2 ** Math.ceil(Math.log2(Math.max(FIRST, wanted)))
    filed.slotOf = grown(filed.slotOf, capacity)
    filed.points = grown(filed.points, 4 * capacity)
    filedAt = grown(filedAt, capacity)
    for (const list of filed.lists.flat()) list?.reserve(capacity)
    filed.networks?.reserve(capacity)
  }

  const query = createIndexQuery(model, columns, filed)

  const neighbours: Mutable<Neighbours> = {
    query,
    shared: new SharedLists(model, columns, filed),
    scales,
    count: 0,
    bytes: () =>
      4 * filed.nodeOf.length +
      45 * filed.slotOf.length +
      filed.lists.flat().reduce((sum, list) => sum + (list?.bytes ?? 0), filed.networks?.bytes ?? 0),
    has: (slot) => slot < filed.nodeOf.length && filed.nodeOf[slot] !== 0,
    insertAll: (slots, expected) => {
      reserve(neighbours.count + expected)
      for (let at = 0; at < slots.length; at++) {
        const slot = slots[at] as Slot
        append(slot, place(slot), -1, levelOf(slot))
      }
      for (const { index, holds } of parts) {
        const some = slots.filter(holds)
        index.insertAll(some, some.length)
      }
    },
    insert: (slot) => {
      reserve(neighbours.count + 1)
      append(slot, place(slot), -1, levelOf(slot))
      if (parts.length > 0) for (const { index, holds } of parts) if (holds(slot)) index.insert(slot)
    },
    raise: (slot) => {
      if (!neighbours.has(slot)) return
      const node = nodeOf(slot)
      const level = levelOf(slot)
      if (level > (filedAt[node] as number)) append(slot, node, filedAt[node] as number, level)
      if (parts.length > 0) for (const { index } of parts) index.raise(slot)
    },
    remove: (slot) => {
      if (!neighbours.has(slot)) return
      if (parts.length > 0) for (const { index } of parts) index.remove(slot)
      const node = nodeOf(slot)
      filed.nodeOf[slot] = 0
      free.push(node)
      neighbours.count -= 1
      if (!located(slot)) filed.placeless -= 1
      countValueless(slot, -1)
      for (let at = 0; at < scales.length; at++) {
        if ((scales[at] as SearchScale).from > (filedAt[node] as number)) continue
        for (let span = 0; span < indexed; span++) filed.lists[span]?.[at]?.remove(node)
      }
      if (columns.network[slot] !== -1) filed.networks?.remove(node)
    },
    allNear: (slot, scale) => {
      const into = new Int32Array(neighbours.count)
      query.startAround(slot)
      query.turnTo(scale, Infinity, 0)
      return into.slice(0, query.next(into))
    },
  }
  return neighbours
}
