// pure: whether tickets that pass the column rules may play together
import { arrange, byPlan } from './arrange.js'
import type { Columns } from './columns.js'
import type { Draft } from './draft.js'
import type { Effort, Pausable } from './effort.js'
import type { Model, Slot } from './model.js'
import type { Packing, Plan } from './packing.js'

export interface Accept {
  /** The team of each member, by party sizes alone. The members must make a full match. */
  planned(members: ArrayLike<Slot>): readonly number[]
  /**
   * The team of each member, or undefined if they may not play together. The members must already keep the rules of the
   * columns.
   */
  accepted(members: ArrayLike<Slot>): Pausable<readonly number[] | undefined>
}

/** Team arrangements tried at most for one match. */
const MOST_WAYS = 4096

export interface AcceptInput<Facts> {
  readonly model: Model<Facts>
  readonly columns: Columns
  readonly packing: Packing
  readonly draft: Draft<Facts>
  readonly facts: readonly (Facts | undefined)[]
  readonly effort: Effort
}

export function createAccept<Facts>(input: AcceptInput<Facts>): Accept {
  const { model, columns, packing, draft, facts, effort } = input
  const { checks, teams } = model
  const nobody = teams.map(() => 0)
  const noFacts = teams.map((): Facts[] => [])
  const rooms = teams.map(({ max }) => max)

  /** The teams of a match without parties are always the same. */
  const singles = teams.flatMap(({ max }, team) => new Array<number>(max).fill(team))

  const planned = (members: ArrayLike<Slot>): readonly number[] => {
    if (members.length === packing.players) return singles
    const sizes = Array.from(members, (slot) => columns.size[slot] as number)
    const packed = sizes.reduce((sum, size) => packing.add(sum, size), 0)
    return byPlan(sizes, packing.plan(packed, 0) as Plan)
  }

  return {
    planned,
    *accepted(members) {
      const first = planned(members)
      if (checks === undefined) return first
      const slots = Array.from(members)
      if (!slots.every((slot, at) => (at === 0 ? draft.begin(slot) : draft.add(slot)))) return undefined
      if (!draft.isSound()) return undefined
      effort.begin(MOST_WAYS)
      return yield* arrange(
        checks,
        {
          sizes: slots.map((slot) => columns.size[slot] as number),
          facts: slots.map((slot) => facts[slot] as Facts),
          present: noFacts,
          rooms,
          least: nobody,
          levels: draft.levels(),
        },
        first,
        effort,
      )
    },
  }
}
