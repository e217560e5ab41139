// pure: rearranges the matches of a small pool, so that more tickets are matched
import { augment } from './augment.js'
import type { Columns } from './columns.js'
import type { Draft } from './draft.js'
import type { Effort, Pausable } from './effort.js'
import { MatchBounds } from './match-bounds.js'
import type { Grouped, Model, Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import type { Order } from './order.js'
import type { RoundState } from './round-state.js'
import type { SearchScale } from './scales.js'
import type { Search } from './search.js'
import type { SearchRadius } from './search-radius.js'
import { SMALL_POOL, type Tries } from './tries.js'

export interface RearrangingInput<Facts> {
  readonly model: Model<Facts>
  readonly columns: Columns
  readonly order: Order
  readonly search: Search<Facts>
  readonly searchRadius: SearchRadius
  readonly neighbours: Neighbours
  readonly draft: Draft<Facts>
  readonly effort: Effort
  readonly tries: Tries
  readonly state: RoundState
  /** All waiting tickets. */
  all(): Int32Array
  /** Whether tickets that had no turn yet are to wait for the next round. */
  isLate(): boolean
}

/** Creates a function that rearranges the matches of the round; `waiting` tickets waited when the round began. */
export function createRearranging<Facts>(input: RearrangingInput<Facts>) {
  const { model, columns, order, search, searchRadius, neighbours, draft, effort, tries, state, isLate } = input
  const { free, isPresent, take, release } = state
  const isAhead = (slot: Slot, other: Slot) =>
    columns.size[slot] === columns.size[other] &&
    (columns.priority[slot] as number) > (columns.priority[other] as number)
  const boundsOf = (matches: readonly Grouped[]) => new MatchBounds(matches, columns, model.spans.length > 0)
  const lastScale = (slot: Slot) => neighbours.scales[searchRadius(slot)] as SearchScale

  return function* (waiting: number): Pausable<void> {
    const { groups } = state
    if (waiting > SMALL_POOL || groups.single().length === 0) return
    const left = input.all().filter(free)
    order.sort(left, left.length)
    const enough = effort.spent + tries.ofRound / 2
    const isOver = () => isLate() || effort.spent > enough
    yield* augment(
      { search, draft, effort, groups, boundsOf, lastScale, free, isPresent, isOver, isAhead, take, release },
      left,
    )
  }
}
