// pure: the order in which the tickets of a round have their turns
import { DEFERRED, type Columns } from './columns.js'
import type { Slot } from './model.js'
import type { Order } from './order.js'

export interface TurnOrder {
  /** Splits tickets into those above, at and below the most common priority. */
  byPriority(slots: Int32Array): [above: Int32Array, common: Int32Array, below: Int32Array]
  /** Sorts slots into the order in which they are served. Yields how many it has read. */
  inOrder(slots: Int32Array): Generator<number, Int32Array>
  /**
   * The same; within a priority, those that had no turn in the last round come first, and of these those whose last
   * turn is the longest ago.
   */
  inTurn(slots: Int32Array): Generator<number, Int32Array>
}

export interface TurnOrderInput {
  readonly columns: Columns
  readonly order: Order
  /** The most common priority; undefined if all tickets have the same. */
  commonPriority(): number | undefined
}

const NOBODY = new Int32Array(0)

export function createTurnOrder({ columns, order, commonPriority }: TurnOrderInput): TurnOrder {
  function* inOrder(slots: Int32Array): Generator<number, Int32Array> {
    yield* order.sortInSteps(slots)
    return slots
  }
  return {
    inOrder,
    byPriority: (slots) => {
      const common = commonPriority()
      if (common === undefined) return [NOBODY, slots, NOBODY]
      const than = (slot: Slot) => (columns.priority[slot] as number) - common
      return [
        slots.filter((slot) => than(slot) > 0),
        slots.filter((slot) => than(slot) === 0),
        slots.filter((slot) => than(slot) < 0),
      ]
    },
    *inTurn(slots) {
      const { standing, priority, turnIn } = columns
      yield* inOrder(slots)
      if (!slots.some((slot) => standing[slot] === DEFERRED)) return slots
      const lastTurn = (slot: Slot) => (standing[slot] === DEFERRED ? (turnIn[slot] as number) : Infinity)
      return slots.toSorted(
        (one, other) =>
          (priority[other] as number) - (priority[one] as number) || compare(lastTurn(one), lastTurn(other)),
      )
    },
  }
}

/** Negative if `one` comes first. Both may be Infinity. */
const compare = (one: number, other: number): number => (one < other ? -1 : one > other ? 1 : 0)
