// pure: the parts that all folders of the kernel use
import type { Budget } from './budget.js'
import type { Columns } from './columns.js'
import type { Compare } from './compare.js'
import type { Levels } from './levels.js'
import type { Model, Slot } from './model.js'

/** The rules of a pool and its tickets. */
export interface PoolParts<Facts> {
  readonly model: Model<Facts>
  readonly columns: Columns
  readonly levels: Levels
  readonly compare: Compare
  readonly budget: Budget
  /** The facts of each ticket, by slot. */
  readonly facts: (Facts | undefined)[]
  /** Returns the players present in all teams of an opening. */
  present(opening: Slot): readonly Facts[]
  /** True if the tickets have different priorities. */
  ranked(): boolean
}
