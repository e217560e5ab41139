// pure: completes a draft into a match with teams
import { arrange, byPlan } from './arrange.js'
import type { Effort, Pausable } from './effort.js'
import type { Packed, Packing } from './packing.js'
import type { Found, SearchInput, Vacancy } from './search-terms.js'

/** What is known about the members of a draft, apart from the draft itself. */
export interface Ground<Facts> {
  readonly packing: Packing
  readonly packed: Packed
  readonly opening: Vacancy<Facts> | undefined
  /** The team of each member, if known. */
  readonly seats: readonly number[] | undefined
}

/** The members with a team each; undefined if no arrangement was found in which they may play. */
export function* closed<Facts>(
  { draft, columns, facts, model }: Pick<SearchInput<Facts>, 'draft' | 'columns' | 'facts' | 'model'>,
  { packing, packed, opening, seats }: Ground<Facts>,
  effort: Effort,
): Pausable<Found | undefined> {
  const { teams, checks } = model
  const levels = draft.levels()
  const mayBeAny = packing.count(packed) === packing.players || opening !== undefined
  const least = teams.map(({ min }) => (mayBeAny ? 0 : (min[levels.oldest] as number)))
  const rooms = opening?.rooms ?? teams.map(({ max }) => max)
  const slots = [...draft.members.subarray(opening === undefined ? 0 : 1, draft.count)]
  const sizes = slots.map((slot) => columns.size[slot] as number)
  const planned = () => {
    const plan = packing.plan(packed, levels.oldest)
    return plan === undefined ? undefined : byPlan(sizes, plan)
  }
  const first = seats !== undefined && areEnough(seats, sizes, least) ? seats : planned()
  if (first === undefined) return undefined
  const lineup = {
    sizes,
    facts: slots.map((slot) => facts[slot] as Facts),
    present: opening?.present ?? teams.map(() => []),
    rooms,
    least,
    levels,
  }
  const arranged = yield* arrange(checks, lineup, first, effort)
  return arranged === undefined ? undefined : { slots, teams: arranged }
}

/** Whether every team reaches its minimum. */
const areEnough = (seats: readonly number[], sizes: readonly number[], least: readonly number[]): boolean =>
  least.every(
    (min, team) => min === 0 || sizes.reduce((sum, size, at) => (seats[at] === team ? sum + size : sum), 0) >= min,
  )
