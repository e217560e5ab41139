// pure: the lists of an index of slots
import type { Lists } from './lists.js'
import type { SearchScale } from './scales.js'
import type { SphereGrid } from './sphere.js'

/** What `neighbours.ts` files, as it is read here. Its columns are replaced when they grow. */
export interface Filed {
  readonly scales: readonly SearchScale[]
  /** Of each scale; undefined where places do not matter. */
  readonly grids: readonly (SphereGrid | undefined)[]
  /** How many of the first spans have lists. */
  readonly indexed: number
  /**
   * For each span one set of lists per scale at which it narrows the search; for the first span at each scale. They
   * hold nodes: few slots of many are in, as a rule.
   */
  lists: (Lists | undefined)[][]
  networks: Lists | undefined
  nodeOf: Int32Array
  slotOf: Int32Array
  /** What of a node is asked for most, side by side: its place, and its low value. */
  points: Float64Array
  /** Those without a place. */
  placeless: number
  /** For each span, those who go with any value. */
  readonly valueless: Int32Array
}
