import type {
  AssignedLocation,
  CancelReason,
  Matchmaker,
  MatchmakerEvents,
  ReturnReason,
  ServerFailure,
  StopReason,
  Ticket,
} from '@muster/matchmaker'
import { problemText } from '../problems.js'

/** An event as it is remembered: ids and reasons, and no address of a player. Times are epoch milliseconds. */
export type RecordedEvent = { readonly at: number } & (
  | {
      readonly what: 'created'
      readonly ticketId: string
      readonly playerIds: readonly string[]
      readonly queues: readonly string[]
    }
  | (OfTickets & { readonly what: 'found'; readonly expansionMs: number })
  | (OfTickets & { readonly what: 'joined' })
  | (OfTicket & { readonly what: 'accepted'; readonly playerIds: readonly string[] })
  | (OfTicket & { readonly what: 'returned'; readonly reason: ReturnReason })
  | {
      readonly what: 'cancelled'
      readonly ticketId: string
      readonly matchId: string | undefined
      readonly reason: CancelReason
    }
  | (OfServer & { readonly what: 'deployed' })
  | (OfServer & { readonly what: 'ready'; readonly startMs: number })
  | (OfTickets &
      OfServer & {
        readonly what: 'assigned'
        readonly where: string | undefined
        /** Name and address of the server, by which it is found. */
        readonly hosts: readonly string[]
      })
  | (OfMatch & { readonly what: 'left'; readonly playerIds: readonly string[]; readonly remaining: number })
  | (OfServer & {
      readonly what: 'failed'
      readonly reason: ServerFailure
      readonly detail: string | undefined
    })
  | (OfServer & { readonly what: 'ended'; readonly reason: StopReason })
  | (OfGameServer & { readonly what: 'registered'; readonly build: string | undefined })
  | (OfGameServer & OfMatch & { readonly what: 'taken'; readonly warm: boolean })
  | (OfGameServer & OfMatch & { readonly what: 'freed'; readonly reason: FreedReason })
  | (OfGameServer & { readonly what: 'draining'; readonly reason: DrainReason })
  | (OfGameServer & { readonly what: 'silent' | 'heard'; readonly silentMs: number })
  | { readonly what: 'problem'; readonly matchId: string; readonly text: string }
)

interface OfMatch {
  readonly matchId: string
  readonly queue: string
}
interface OfTicket extends OfMatch {
  readonly ticketId: string
}
interface OfTickets extends OfMatch {
  readonly ticketIds: readonly string[]
}
interface OfServer extends OfMatch {
  readonly requestId: string
  /** Of a server of a pool; then `matchId` is the id of the server. */
  readonly pool?: string | undefined
}
interface OfGameServer {
  readonly serverId: string
  readonly pool: string | undefined
  readonly requestId: string | undefined
}

export type DrainReason = MatchmakerEvents['serverDraining']['reason']
export type FreedReason = MatchmakerEvents['serverFreed']['reason']

/** The tickets that an event names. */
export const ticketsOf = (event: RecordedEvent): readonly string[] =>
  'ticketIds' in event ? event.ticketIds : 'ticketId' in event ? [event.ticketId] : NONE

const NONE: readonly string[] = []

/** The match that an event is about; undefined for one about a server of a pool. The server of one match has its id. */
export function matchOf(event: RecordedEvent): string | undefined {
  if ('matchId' in event)
    return 'pool' in event && !('serverId' in event) && event.pool !== undefined ? undefined : event.matchId
  return 'serverId' in event && event.pool === undefined ? event.serverId : undefined
}

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
    on('backfillJoined', ({ matchId, queue, tickets }) =>
      add({ at: now(), what: 'joined', matchId, queue, ticketIds: idsOf(tickets) }),
    ),
    on('matchAccepted', ({ matchId, queue, ticket, playerIds }) =>
      add({ at: now(), what: 'accepted', matchId, queue, ticketId: ticket.id, playerIds }),
    ),
    on('ticketRequeued', ({ matchId, queue, ticket, reason }) =>
      add({ at: now(), what: 'returned', matchId, queue, ticketId: ticket.id, reason }),
    ),
    on('cancelled', ({ ticket: { id, matchId }, reason }) =>
      add({ at: now(), what: 'cancelled', ticketId: id, matchId, reason }),
    ),
    on('expired', ({ ticket: { id, matchId } }) =>
      add({ at: now(), what: 'cancelled', ticketId: id, matchId, reason: 'expired' }),
    ),
    on('deploymentCreated', ({ matchId, queue, pool, requestId }) =>
      add({ at: now(), what: 'deployed', matchId, queue, pool, requestId }),
    ),
    on('deploymentReady', ({ matchId, queue, pool, requestId, startMs }) =>
      add({ at: now(), what: 'ready', matchId, queue, pool, requestId, startMs }),
    ),
    on('serverAssigned', ({ matchId, queue, requestId, tickets, assignment }) =>
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
    on('deploymentFailed', ({ matchId, queue, pool, requestId, reason, detail }) =>
      add({ at: now(), what: 'failed', matchId, queue, pool, requestId, reason, detail }),
    ),
    on('deploymentStopped', ({ matchId, queue, pool, requestId, reason }) =>
      add({ at: now(), what: 'ended', matchId, queue, pool, requestId, reason }),
    ),
    on('serverRegistered', ({ serverId, pool, requestId, build }) =>
      add({ at: now(), what: 'registered', serverId, pool, requestId, build }),
    ),
    on('serverTaken', ({ matchId, queue, serverId, pool, requestId, warm }) =>
      add({ at: now(), what: 'taken', matchId, queue, serverId, pool, requestId, warm }),
    ),
    on('serverFreed', ({ matchId, queue, serverId, pool, requestId, reason }) =>
      add({ at: now(), what: 'freed', matchId, queue, serverId, pool, requestId, reason }),
    ),
    on('serverDraining', ({ serverId, pool, requestId, reason }) =>
      add({ at: now(), what: 'draining', serverId, pool, requestId, reason }),
    ),
    on('serverLost', ({ serverId, pool, requestId, silentMs }) =>
      add({ at: now(), what: 'silent', serverId, pool, requestId, silentMs }),
    ),
    on('serverReturned', ({ serverId, pool, requestId, silentMs }) =>
      add({ at: now(), what: 'heard', serverId, pool, requestId, silentMs }),
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

/** The newest events, in a bounded number, size and age. */
export type EventRing = ReturnType<typeof createEventRing>

interface EventRingOptions {
  readonly mostEvents: number
  readonly mostBytes: number
  /** Milliseconds. Default: age alone removes nothing. */
  readonly keepMs?: number | undefined
}

/** Bytes of an event besides its texts, and of each id in a list besides its characters; as V8 keeps them, roughly. */
const EVENT_BYTES = 100
const ID_BYTES = 24

export function createEventRing({ mostEvents, mostBytes, keepMs = Infinity }: EventRingOptions) {
  const events: (RecordedEvent | undefined)[] = []
  /** Numbers of the oldest event that is kept, and of the next one to come. An event's place is its number modulo. */
  let first = 0
  let next = 0
  let bytes = 0

  const dropOldest = () => {
    const place = first % mostEvents
    bytes -= bytesOf(events[place] as RecordedEvent)
    events[place] = undefined
    first += 1
  }

  return {
    add: (event: RecordedEvent) => {
      if (next - first === mostEvents) dropOldest()
      events[next % mostEvents] = event
      next += 1
      bytes += bytesOf(event)
      const isOld = () => (events[first % mostEvents] as RecordedEvent).at < event.at - keepMs
      const isTooMuch = () => next - first > 1 && (bytes > mostBytes || isOld())
      while (isTooMuch()) dropOldest()
    },
    /** In the order of time. Events that are dropped while one reads are left out. */
    *scan(): Iterable<RecordedEvent> {
      for (let number = first; number < next; number = Math.max(number + 1, first)) {
        const event = events[number % mostEvents]
        if (event !== undefined) yield event
      }
    },
    /** When the oldest event that is kept happened; undefined if none is. */
    since: () => events[first % mostEvents]?.at,
    hasDropped: () => first > 0,
    size: () => next - first,
  }
}

function bytesOf(event: RecordedEvent): number {
  let bytes = EVENT_BYTES
  for (const value of Object.values(event) as readonly unknown[]) {
    if (typeof value === 'string') bytes += value.length
    else if (Array.isArray(value)) for (const id of value as readonly string[]) bytes += ID_BYTES + id.length
  }
  return bytes
}
