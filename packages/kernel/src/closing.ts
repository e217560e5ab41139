// pure: plans the teams of a draft
import { byPlan, type Lineup } from './arrange.js'
import type { Slot } from './model.js'
import type { Packed, Packing } from './packing.js'
import type { SearchInput, Vacancy } from './search-terms.js'

/** What is known about the members of a draft, apart from the draft itself. */
export interface Ground<Facts> {
  readonly packing: Packing
  readonly packed: Packed
  readonly opening: Vacancy<Facts> | undefined
  /** The team of each member, if known. */
  readonly seats: readonly number[] | undefined
}

/** A plan for the members: the tickets, and the team of each by party sizes alone. */
export interface Planned<Facts> {
  readonly lineup: Lineup<Facts>
  readonly slots: Slot[]
  readonly teams: readonly number[]
}

/** Plans the teams of the members; undefined if there is no way to fill the teams with these parties. */
export function planned<Facts>(
  { draft, columns, facts, model }: Pick<SearchInput<Facts>, 'draft' | 'columns' | 'facts' | 'model'>,
  { packing, packed, opening, seats }: Ground<Facts>,
): Planned<Facts> | undefined {
  const { teams } = model
  const levels = draft.levels()
  const mayBeAny = packing.count(packed) === packing.players || opening !== undefined
  const least = teams.map(({ min }) => (mayBeAny ? 0 : (min[levels.oldest] as number)))
  const rooms = opening?.rooms ?? teams.map(({ max }) => max)
  const slots = [...draft.members.subarray(opening === undefined ? 0 : 1, draft.count)]
  const sizes = slots.map((slot) => columns.size[slot] as number)
  const bySize = () => {
    const plan = packing.plan(packed, levels.oldest)
    return plan === undefined ? undefined : byPlan(sizes, plan)
  }
  const first = seats !== undefined && areEnough(seats, sizes, least) ? seats : bySize()
  if (first === undefined) return undefined
  const lineup = {
    sizes,
    facts: slots.map((slot) => facts[slot] as Facts),
    present: opening?.present ?? teams.map(() => []),
    rooms,
    least,
    levels,
  }
  return { lineup, slots, teams: first }
}

/** Whether every team reaches its minimum. */
const areEnough = (seats: readonly number[], sizes: readonly number[], least: readonly number[]): boolean =>
  least.every(
    (min, team) => min === 0 || sizes.reduce((sum, size, at) => (seats[at] === team ? sum + size : sum), 0) >= min,
  )
