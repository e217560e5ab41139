// pure: the lists of an index of slots
import type { Lists } from './lists.js'
import type { SearchScale } from './scales.js'
import type { SphereGrid } from './sphere.js'

/**
 * The data of an index, written by `neighbours.ts` and read by `index-query.ts`. A node is an index entry of one slot.
 * The columns are replaced when they grow.
 */
export interface Filed {
  readonly scales: readonly SearchScale[]
  /** The grid of each scale; undefined where places do not matter. */
  readonly grids: readonly (SphereGrid | undefined)[]
  /** The number of spans, from the first, that have lists. */
  readonly indexed: number
  /**
   * For each span, one set of lists per scale at which the span narrows the search; the first span has lists at every
   * scale. Lists hold nodes instead of slots, because often only few of many slots are in the index.
   */
  readonly lists: readonly (readonly (Lists | undefined)[])[]
  readonly networks: Lists | undefined
  /** One more than the node of each slot; 0 for a slot that is not in the index. */
  nodeOf: Int32Array
  slotOf: Int32Array
  /** Four numbers per node, read together: its point on the sphere and the low value of its first span. */
  points: Float64Array
  /** The number of nodes without a place. */
  placeless: number
  /** For each span, the number of nodes that match any value. */
  readonly valueless: Int32Array
}
