import type { StoryEvent, StoryKind } from '@muster/console/internal'
import type { CancelReason, ReturnReason, StopReason } from '@muster/matchmaker'
import { failureText } from '../../telemetry/log.js'
import { type DrainReason, type FreedReason, matchOf, type RecordedEvent, ticketsOf } from './recorded-events.js'

type Ref = StoryEvent['refs'][number]

const cancelled: Readonly<Record<CancelReason, string>> = {
  cancelled: 'Cancelled: by the player, a backend or an operator.',
  expired: 'Ended: it waited for as long as its queue allows.',
  attempts: 'Ended: as many servers failed for it as its queue allows.',
  closed: 'Ended: the program was closed.',
  declined: 'Ended: one of its players declined the match.',
  'not-accepted': 'Ended: one of its players did not accept the match in time.',
  elsewhere: 'Ended: one of its players got a match by another ticket.',
  absent: 'Ended: the client of a player was away for too long.',
  refused: 'Ended: the queue does not take it any more.',
  dissolved: 'Ended: its private match came to nothing.',
  'handed-over': 'Handed over to another process, where it waits on.',
}

const returned: Readonly<Record<ReturnReason, string>> = {
  dissolved: 'another ticket of the match was cancelled',
  'not-accepted': 'others did not accept the match',
  stopped: 'the match was stopped',
  'no-capacity': 'there was no capacity for its server',
  refused: 'the service refused its server',
  unavailable: 'the service could not be reached',
  lost: 'the answer about its server was lost, and no server was found',
  failed: 'its server failed',
  'too-slow': 'its server was not ready in time',
  'not-listening': 'its server was ready but did not listen',
}

const ended: Readonly<Record<StopReason, string>> = {
  ...returned,
  ended: 'it ended by itself',
  crashed: 'it ended in error',
  surplus: 'it was kept warm, and is no longer needed',
  drained: 'it was draining and had no match left',
  over: 'its server said that the match is over',
  left: 'all players have left',
  'max-duration': 'it ran for as long as its queue allows',
  'nobody-joined': 'none of its players came in time',
  closed: 'the program was closed',
  restarted: 'nobody was on it after a restart',
  twin: 'its match had another server',
}

const draining: Readonly<Record<DrainReason, string>> = {
  'own-wish': 'it asked for that itself',
  unhealthy: 'it said three times that it is not healthy',
  refused: 'it refused a match',
  silent: 'it did not answer in time',
  surplus: 'there are enough without it',
  retired: 'it has served as many matches, or as long, as its pool allows',
  update: 'its pool has another version now',
  operator: 'an operator asked for that',
}

/** Returns a sentence about why a match has left its server. */
function freed(reason: FreedReason): string {
  if (reason === 'silent') return 'The server did not answer in time, and the match goes to another one.'
  if (reason === 'refused') return 'The server refused the match, which goes to another one.'
  return `The match left its server: ${isMatchsOwn(reason) ? endedMatch[reason] : ended[reason]}.`
}

/**
 * How `freed` words reasons for the end of a match. The table `ended` words the same reasons for the end of a server.
 */
const endedMatch = {
  over: 'its server said that it is over',
  left: 'all its players have left',
  stopped: 'it was stopped',
} as const
const isMatchsOwn = (reason: FreedReason): reason is keyof typeof endedMatch => reason in endedMatch

const count = (number: number, one: string) => `${number.toLocaleString('en')} ${number === 1 ? one : `${one}s`}`

/** Formats a duration like `12 s`, `3 min 5 s` or `2 h 10 min`. */
export function lasted(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Maximum number of references of one kind in one event: a match may have hundreds of tickets. */
const MOST_REFS = 20
const refs = (kind: StoryKind, ids: readonly string[]): Ref[] => ids.slice(0, MOST_REFS).map((id) => ({ kind, id }))

/** Returns the objects that an event refers to. A deployment that is being created has no id yet, so it is omitted. */
function refsOf(event: RecordedEvent): Ref[] {
  const match = 'matchId' in event && event.what !== 'cancelled' ? matchOf(event) : undefined
  const server = 'requestId' in event ? event.requestId : undefined
  const all = [
    ...refs('match', match === undefined ? [] : [match]),
    ...refs('server', server === undefined ? [] : [server]),
    ...refs('ticket', ticketsOf(event)),
    ...refs('player', 'playerIds' in event ? event.playerIds : []),
  ]
  return event.what === 'returned' ? all.toReversed() : all
}

/** Returns an event of a story: the recorded event as a sentence. */
export const storyEvent = (event: RecordedEvent): StoryEvent => ({
  at: Math.floor(event.at),
  what: whatOf(event),
  text: (texts[event.what] as (event: RecordedEvent) => string)(event),
  refs: refsOf(event),
})

/** Returns the kind of an event, for which a page may choose e.g. a colour. */
const whatOf = (event: RecordedEvent): string => {
  if (event.what !== 'cancelled') return event.what
  return event.reason === 'declined' || event.reason === 'expired' ? event.reason : 'cancelled'
}

type EventNamed<What> = Extract<RecordedEvent, { readonly what: What }>

const texts: { readonly [What in RecordedEvent['what']]: (event: EventNamed<What>) => string } = {
  created: ({ playerIds, queues }) => {
    const players = playerIds.length === 1 ? 'A player' : `A party of ${playerIds.length}`
    return `${players} began to wait in ${queues.length === 1 ? 'queue' : 'queues'} ${queues.join(', ')}.`
  },
  found: ({ ticketIds, queue, expansionMs }) => {
    const limits = expansionMs === 0 ? '' : `, by the limits from ${lasted(expansionMs)} of waiting on`
    return `A match of ${count(ticketIds.length, 'ticket')} was found in ${queue}${limits}.`
  },
  joined: ({ ticketIds }) => `${count(ticketIds.length, 'ticket')} joined the match, which had room for more.`,
  accepted: ({ playerIds }) => `${count(playerIds.length, 'player')} of the ticket accepted the match.`,
  returned: ({ reason }) => `Searches again, its waiting time kept: ${returned[reason]}.`,
  cancelled: ({ reason }) => cancelled[reason],
  deployed: () => 'The service accepted the server.',
  ready: ({ startMs }) => `The server was ready after ${lasted(startMs)}.`,
  assigned: ({ ticketIds, where }) => {
    const place = where === undefined ? '' : ` in ${where}`
    return `Players of ${count(ticketIds.length, 'ticket')} were sent to the server${place}.`
  },
  left: ({ playerIds, remaining }) => {
    const others = remaining === 0 ? 'Nobody is left' : `${count(remaining, 'player')} remain`
    return `${count(playerIds.length, 'player')} left the match. ${others}.`
  },
  failed: ({ reason, detail }) => failureText(reason, detail),
  wrote: ({ logs }) => `The server wrote at its end:\n${logs}`,
  ended: ({ reason }) => `The server was stopped: ${ended[reason]}.`,
  registered: ({ build }) => `The server registered${build === undefined ? '' : ` as build ${build}`}.`,
  taken: ({ warm }) => `A match took the server, which ${warm ? 'was warm' : 'is created for it'}.`,
  freed: ({ reason }) => freed(reason),
  draining: ({ reason }) => `The server takes no more matches: ${draining[reason]}.`,
  silent: ({ silentMs }) => `The server was not heard for ${lasted(silentMs)}.`,
  heard: ({ silentMs }) => `The server was heard again after ${lasted(silentMs)}.`,
  problem: ({ text }) => text,
}

/** The limits of a queue over the waiting time, as `describeQueue` returns them. */
export interface QueueLimits {
  readonly queue: string
  readonly curves: readonly {
    readonly rule: string
    readonly unit: string
    /** True if the limit depends on more than the ticket's own wait, so its times are not known. */
    readonly adapts?: true | undefined
    readonly points: readonly { readonly after: number; readonly limit: number | null }[]
  }[]
}

interface Searching {
  readonly from: number
  /** End of the span; Infinity while the ticket is still searching. */
  readonly to: number
}

/** Returns the time spans in which a ticket searched. */
export function searchingSpans(createdAt: number, events: readonly RecordedEvent[]): Searching[] {
  const spans: Searching[] = []
  let from: number | undefined = createdAt
  for (const { what, at } of events) {
    if (what === 'returned') from ??= at
    if (what !== 'found' && what !== 'joined' && what !== 'cancelled') continue
    if (from !== undefined) spans.push({ from, to: at })
    from = undefined
  }
  return from === undefined ? spans : [...spans, { from, to: Infinity }]
}

/** Returns an event for each time at which a limit relaxed while the ticket searched. */
export function relaxations(
  createdAt: number,
  limits: readonly QueueLimits[],
  spans: readonly Searching[],
  now: number,
): StoryEvent[] {
  return limits.flatMap(({ queue, curves: all }) => {
    const curves = all.filter(({ adapts }) => adapts !== true)
    const steps = [...new Set(curves.flatMap(({ points }) => points.map(({ after }) => after)))]
    return steps
      .filter((after) => {
        const at = createdAt + after
        return after > 0 && at <= now && spans.some(({ from, to }) => at >= from && at < to)
      })
      .toSorted((one, other) => one - other)
      .map((after) => ({
        at: Math.floor(createdAt + after),
        what: 'relaxed',
        text: `After ${lasted(after)} of waiting in ${queue}: ${changesAt(curves, after)}.`,
        refs: [],
      }))
  })
}

const changesAt = (curves: QueueLimits['curves'], after: number): string =>
  curves
    .flatMap(({ rule, unit, points }) => {
      const point = points.find((one) => one.after === after)
      if (point === undefined) return []
      if (point.limit === null) return [`${rule} no longer counts`]
      const limit = point.limit.toLocaleString('en', { maximumFractionDigits: 2 })
      return [`${rule} ${limit}${unit === '' ? '' : ` ${unit}`}`]
    })
    .join(', ')
