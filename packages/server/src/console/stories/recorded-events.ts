import type { AssignedLocation, CancelReason, Matchmaker, MatchmakerEvents, Ticket } from '@muster/matchmaker'
import { problemText } from '../problems.js'

const match = ['matchId', 'queue'] as const
/** If a server event has `pool`, its `matchId` is the id of a server of that pool. */
const server = [...match, 'pool', 'requestId'] as const
const gameServer = ['serverId', 'pool', 'requestId'] as const

/**
 * The events of the matchmaker that are recorded. `what` is the recorded name. `fields` are recorded in addition to the
 * ids of the event's tickets.
 */
const remembered = {
  matchFound: { what: 'found', fields: [...match, 'expansionMs'] },
  backfillJoined: { what: 'joined', fields: match },
  matchAccepted: { what: 'accepted', fields: [...match, 'playerIds'] },
  ticketRequeued: { what: 'returned', fields: [...match, 'reason'] },
  deploymentCreated: { what: 'deployed', fields: server },
  deploymentReady: { what: 'ready', fields: [...server, 'startMs'] },
  playersLeft: { what: 'left', fields: [...match, 'playerIds', 'remaining'] },
  deploymentFailed: { what: 'failed', fields: [...server, 'reason', 'detail'] },
  serverLogs: { what: 'wrote', fields: [...server, 'logs'] },
  deploymentStopped: { what: 'ended', fields: [...server, 'reason'] },
  serverRegistered: { what: 'registered', fields: [...gameServer, 'build'] },
  serverTaken: { what: 'taken', fields: [...match, ...gameServer, 'warm'] },
  serverFreed: { what: 'freed', fields: [...match, ...gameServer, 'reason'] },
  serverDraining: { what: 'draining', fields: [...gameServer, 'reason'] },
  serverLost: { what: 'silent', fields: [...gameServer, 'silentMs'] },
  serverReturned: { what: 'heard', fields: [...gameServer, 'silentMs'] },
} as const satisfies {
  [Each in keyof MatchmakerEvents]?: { what: string; fields: readonly (keyof MatchmakerEvents[Each])[] }
}
type Name = keyof typeof remembered

type RememberedEvent = {
  [Each in Name]: { readonly what: (typeof remembered)[Each]['what'] } & Pick<
    MatchmakerEvents[Each],
    Extract<(typeof remembered)[Each]['fields'][number], keyof MatchmakerEvents[Each]>
  > &
    TicketIds<MatchmakerEvents[Each]>
}[Name]
type TicketIds<Event> = Event extends { readonly tickets: unknown }
  ? { readonly ticketIds: readonly string[] }
  : Event extends { readonly ticket: unknown }
    ? { readonly ticketId: string }
    : unknown

/** A recorded event: ids and reasons, without addresses of players. Times are epoch milliseconds. */
export type RecordedEvent = { readonly at: number } & (
  | RememberedEvent
  | (Pick<Ticket, 'queues'> & {
      readonly what: 'created'
      readonly ticketId: string
      readonly playerIds: readonly string[]
    })
  | (Pick<Ticket, 'matchId'> & { readonly what: 'cancelled'; readonly ticketId: string; readonly reason: CancelReason })
  | (Pick<MatchmakerEvents['serverAssigned'], 'matchId' | 'queue' | 'requestId'> & {
      readonly what: 'assigned'
      readonly ticketIds: readonly string[]
      readonly where: string | undefined
      /** Name and address of the server, by which a search finds it. */
      readonly hosts: readonly string[]
    })
  | { readonly what: 'problem'; readonly matchId: string; readonly text: string }
)

export type DrainReason = MatchmakerEvents['serverDraining']['reason']
export type FreedReason = MatchmakerEvents['serverFreed']['reason']

/** Returns the ids of the tickets that an event names. */
export const ticketsOf = (event: RecordedEvent): readonly string[] =>
  'ticketIds' in event ? event.ticketIds : 'ticketId' in event ? [event.ticketId] : NONE

const NONE: readonly string[] = []

/**
 * Returns the match that an event is about; undefined if the event is about a server of a pool. Outside of pools, a
 * server has the id of its match.
 */
export function matchOf(event: RecordedEvent): string | undefined {
  if ('matchId' in event)
    return 'pool' in event && !('serverId' in event) && event.pool !== undefined ? undefined : event.matchId
  return 'serverId' in event && event.pool === undefined ? event.serverId : undefined
}

/**
 * Records the events of tickets, matches and servers. Returns a function that stops the recording.
 * @param dateOf returns the date of a time of the matchmaker, in epoch milliseconds. Default: of now.
 */
export function recordEvents(
  on: Matchmaker['on'],
  add: (event: RecordedEvent) => void,
  dateOf: (at?: number) => number,
): () => void {
  const cancelled = ({ id, matchId }: Ticket, reason: CancelReason) =>
    add({ at: dateOf(), what: 'cancelled', ticketId: id, matchId, reason })
  const endings = [
    ...(Object.keys(remembered) as Name[]).map((name) =>
      on(name, (payload) => {
        const { what, fields } = remembered[name]
        const facts = Object.fromEntries(fields.map((field) => [field, payload[field as keyof typeof payload]]))
        const tickets = 'tickets' in payload && { ticketIds: idsOf(payload.tickets) }
        const ticket = 'ticket' in payload && { ticketId: payload.ticket.id }
        add({ at: dateOf(), what, ...facts, ...tickets, ...ticket } as RecordedEvent)
      }),
    ),
    // Uses the ticket's creation time, because an imported ticket began to wait before this event.
    on('ticketCreated', ({ ticket: { id, createdAt, players, queues } }) =>
      add({ at: dateOf(createdAt), what: 'created', ticketId: id, playerIds: idsOf(players), queues }),
    ),
    on('cancelled', ({ ticket, reason }) => cancelled(ticket, reason)),
    on('expired', ({ ticket }) => cancelled(ticket, 'expired')),
    on('serverAssigned', ({ matchId, queue, requestId, tickets, assignment: { location, fqdn, publicIp } }) => {
      const hosts = [fqdn, publicIp].filter((host) => host !== undefined)
      const where = placeName(location)
      add({ at: dateOf(), what: 'assigned', matchId, queue, requestId, ticketIds: idsOf(tickets), where, hosts })
    }),
    on('problem', ({ during, error, matchId, source }) => {
      const text = () => problemText(during, error, source)
      if (matchId !== undefined) add({ at: dateOf(), what: 'problem', matchId, text: text() })
    }),
  ]
  return () => {
    for (const end of endings) end()
  }
}

const idsOf = (items: readonly Pick<Ticket, 'id'>[]): readonly string[] => items.map(({ id }) => id)

export const placeName = (location: AssignedLocation | undefined): string | undefined => {
  const parts = [location?.city, location?.country].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(', ')
}

/** The newest events, bounded in number, bytes and age. */
export type EventRing = ReturnType<typeof createEventRing>

interface EventRingOptions {
  readonly mostEvents: number
  readonly mostBytes: number
  /** Maximum age in milliseconds. Default: no limit. */
  readonly keepMs?: number | undefined
}

/** Approximate bytes in V8 of an event without its strings, and of each id in a list without its characters. */
const EVENT_BYTES = 100
const ID_BYTES = 24

export function createEventRing({ mostEvents, mostBytes, keepMs = Infinity }: EventRingOptions) {
  const events: (RecordedEvent | undefined)[] = []
  /**
   * `first` is the number of the oldest stored event, `next` that of the next event. An event's index is its number
   * modulo the capacity.
   */
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
    /** Yields the events in order of time. Events that are dropped during the scan are skipped. */
    *scan(): Iterable<RecordedEvent> {
      for (let number = first; number < next; number = Math.max(number + 1, first)) {
        const event = events[number % mostEvents]
        if (event !== undefined) yield event
      }
    },
    /** Time of the oldest stored event; undefined if there is none. */
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
