// pure: what a server is asked for, and told
import type { Allocation, FoundMatch, Order, Placement } from './records/allocation.js'

export const foundMatch = (
  { matchId, queue, at }: Pick<Allocation, 'matchId' | 'queue' | 'at'>,
  order: Order,
  placement?: Placement,
): FoundMatch => {
  const { equality, intersection } = order.inCommon()
  return {
    id: matchId,
    queue,
    tickets: order.tickets,
    teams: order.teams.map(({ name }, team) => ({ name, ticketIds: idsIn(team, order) })),
    foundAt: at,
    expansionMs: order.expansionMs,
    equality,
    intersection,
    placement,
  }
}

const idsIn = (team: number, { tickets, teamOf }: Order): readonly string[] =>
  tickets.flatMap(({ id }, index) => (teamOf[index] === team ? [id] : []))
