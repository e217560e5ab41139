// pure: what all rooms of the kernel work with
import type { Budget } from './budget.js'
import type { Columns } from './columns.js'
import type { Compare } from './compare.js'
import type { Levels } from './levels.js'
import type { Model, Slot } from './model.js'

/** The rules of a pool and its tickets. */
export interface Parts<Facts> {
  readonly model: Model<Facts>
  readonly columns: Columns
  readonly levels: Levels
  readonly compare: Compare
  readonly budget: Budget
  /** The facts of each ticket, by slot. */
  readonly facts: (Facts | undefined)[]
  /** The players present in an opening, in all its teams. */
  present(opening: Slot): readonly Facts[]
  /** Whether the tickets have different priorities. */
  ranked(): boolean
}
