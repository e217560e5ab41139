import type { Inspection, QueueState } from '../matches/inspection.js'
import type { LongestWaiting } from '../matches/matchmaker.js'
import type { AllocationView } from '@muster/servers'
import { inSnakeCase, type InSnakeCase } from './snake-case.js'
import { assignmentView, isoTime, partyViews, type AssignmentView, type TicketView } from './views.js'

/** The queues, and some of the searching tickets, longest waiting first. Without addresses. */
export interface TicketsInspected {
  readonly queues: readonly InSnakeCase<QueueState>[]
  /** Number of tickets that search. */
  readonly total: number
  readonly tickets: readonly TicketView[]
}

/** A match whose server exists or may exist. */
export interface MatchInspected {
  readonly match_id: string
  readonly queue: string
  readonly tag: string
  readonly found_at: string
  readonly phase: AllocationView['phase']
  readonly ticket_ids: readonly string[]
  readonly player_ids: readonly string[]
  readonly request_id: string | null
  readonly assignment: AssignmentView | null
}

export const ticketsInspected = (
  { total, tickets }: LongestWaiting,
  { queues }: Pick<Inspection, 'queues'>,
): TicketsInspected => ({
  queues: inSnakeCase(queues),
  total,
  tickets: tickets.flatMap((ticket) => partyViews(ticket)),
})

export const inspectMatches = ({ matches }: Inspection): readonly MatchInspected[] =>
  matches.map(({ matchId, queue, tag, at, phase, ticketIds, playerIds, requestId, assignment }) => ({
    match_id: matchId,
    queue,
    tag,
    found_at: isoTime(at),
    phase,
    ticket_ids: ticketIds,
    player_ids: playerIds,
    request_id: requestId ?? null,
    assignment: assignment === undefined ? null : assignmentView(assignment),
  }))
