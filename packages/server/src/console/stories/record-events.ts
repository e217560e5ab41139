import type { AssignedLocation, Matchmaker, Ticket } from '@muster/matchmaker'
import type { RecordedEvent } from './recorded-event.js'
import { problemText } from '../watching/problems.js'

/** Remembers what happens to tickets, matches and servers. Returns a function that ends it. */
export function recordEvents(on: Matchmaker['on'], add: (event: RecordedEvent) => void, now: () => number): () => void {
  const endings = [
    // A ticket that was taken over began to wait earlier.
    on('ticketCreated', ({ ticket: { id, createdAt, players, queues } }) =>
      add({ at: createdAt, what: 'created', ticketId: id, playerIds: idsOf(players), queues }),
    ),
    on('matchFound', ({ matchId, queue, tickets, expansionMs }) =>
      add({ at: now(), what: 'found', matchId, queue, ticketIds: idsOf(tickets), expansionMs }),
    ),
    on('joined', ({ matchId, queue, tickets }) =>
      add({ at: now(), what: 'joined', matchId, queue, ticketIds: idsOf(tickets) }),
    ),
    on('accepted', ({ matchId, queue, ticket, playerIds }) =>
      add({ at: now(), what: 'accepted', matchId, queue, ticketId: ticket.id, playerIds }),
    ),
    on('returned', ({ matchId, queue, ticket, reason }) =>
      add({ at: now(), what: 'returned', matchId, queue, ticketId: ticket.id, reason }),
    ),
    on('cancelled', ({ ticket: { id, matchId }, reason }) =>
      add({ at: now(), what: 'cancelled', ticketId: id, matchId, reason }),
    ),
    on('expired', ({ ticket: { id, matchId } }) =>
      add({ at: now(), what: 'cancelled', ticketId: id, matchId, reason: 'expired' }),
    ),
    on('deploymentCreated', ({ matchId, queue, requestId }) =>
      add({ at: now(), what: 'deployed', matchId, queue, requestId }),
    ),
    on('deploymentReady', ({ matchId, queue, requestId, startMs }) =>
      add({ at: now(), what: 'ready', matchId, queue, requestId, startMs }),
    ),
    on('assigned', ({ matchId, queue, requestId, tickets, assignment }) =>
      add({
        at: now(),
        what: 'assigned',
        matchId,
        queue,
        requestId,
        ticketIds: idsOf(tickets),
        where: placeName(assignment.location),
        hosts: [assignment.fqdn, assignment.publicIp].filter((host) => host !== undefined),
      }),
    ),
    on('playersLeft', ({ matchId, queue, playerIds, remaining }) =>
      add({ at: now(), what: 'left', matchId, queue, playerIds, remaining }),
    ),
    on('deploymentFailed', ({ matchId, queue, requestId, reason, detail }) =>
      add({ at: now(), what: 'failed', matchId, queue, requestId, reason, detail }),
    ),
    on('deploymentStopped', ({ matchId, queue, requestId, reason }) =>
      add({ at: now(), what: 'ended', matchId, queue, requestId, reason }),
    ),
    on('problem', ({ during, error, matchId }) => {
      if (matchId !== undefined) add({ at: now(), what: 'problem', matchId, text: problemText(during, error) })
    }),
  ]
  return () => {
    for (const end of endings) end()
  }
}

/** One list for one id: most tickets have one player. */
const idsOf = (items: readonly Pick<Ticket, 'id'>[]): readonly string[] => items.map(({ id }) => id)

export const placeName = (location: AssignedLocation | undefined): string | undefined => {
  const parts = [location?.city, location?.country].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(', ')
}
