// pure: assigns the members of a complete match to teams
import type { Pausable } from '../data/budget.js'
import type { Slot } from '../data/model.js'
import { arrange, byPlan, firstTeams } from '../teams/balance-teams.js'
import type { Packed, Packing } from '../teams/packing.js'
import type { FoundTeams, SearchInput, Vacancy } from './search-terms.js'

interface Assignment<Facts> {
  readonly packing: Packing
  readonly packed: Packed
  /** The free places of a running match. Undefined for a new match. */
  readonly opening: Vacancy<Facts> | undefined
  /** Teams that were found while the members were chosen. */
  readonly seats: readonly number[] | undefined
  /** For each team of a new match: the maximum number of players, and nobody. */
  readonly rooms: readonly number[]
  readonly present: readonly (readonly Facts[])[]
}

/** Assigns a team to each member of the draft. Undefined if no arrangement of teams that was tried may play. */
export function* assignTeams<Facts>(
  { draft, columns, facts, model, budget }: SearchInput<Facts>,
  { packing, packed, opening, seats, rooms, present }: Assignment<Facts>,
): Pausable<FoundTeams | undefined> {
  const waits = draft.levels()
  const plan = () => packing.plan(packed, waits)
  const sizeOf = (slot: Slot) => columns.size[slot] as number
  const slots = [...draft.members.subarray(opening === undefined ? 0 : 1, draft.count)]
  const sizes = slots.map(sizeOf)
  if (model.checks === undefined && opening === undefined) {
    const planned = plan()
    return planned && { slots, teams: byPlan(sizes, planned) }
  }
  const isFull = packing.count(packed) === packing.players
  const mayBeAny = isFull || opening !== undefined
  const lineup = {
    sizes,
    facts: slots.map((slot) => facts[slot] as Facts),
    present: opening?.present ?? present,
    rooms: opening?.rooms ?? rooms,
    least: model.teams.map(({ min }) => (mayBeAny ? 0 : (min[waits.oldest] as number))),
    players: opening?.players,
    levels: waits,
  }
  const first = firstTeams(lineup, { seats, isFull, plan, isCounted: model.checks?.counts !== undefined })
  const teams = first && (yield* arrange(model.checks, lineup, first, budget))
  return teams && { slots, teams }
}
