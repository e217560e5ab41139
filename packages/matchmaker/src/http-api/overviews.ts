import type { Clock } from '@muster/core/clock'
import { type Awaitable, whenKnown } from '@muster/core/internal'
import type { Inspection, FoundPlayer, LongestWaiting, QueueWait, TicketExplanation } from '../matches/index.js'
import { forgottenAt, offencesLeft, type Explanation, PAUSED, relaxationSentence } from '../queues/index.js'
import type { Cooldown } from '../tickets/index.js'
import type { ResultSetAside, SeatGrant } from '@muster/hosting/internal'
import { type Locate, placeOf } from '../locate/index.js'
import { regionIn } from '../wait-times/index.js'
import type { LobbyOfPlayer, TicketApiOptions } from './api-options.js'
import { isBackend, type TicketCaller } from './callers.js'
import type { PresenceReporter } from './follow-ticket.js'
import type { Groups } from './groups.js'
import type { Beacons } from './latencies.js'
import type {
  CooldownView,
  ExplanationView,
  MemberView,
  MonitorView,
  PlayerInMatchView,
  PlayerView,
  PoolsView,
  QueueWaitView,
  ResultsView,
  RunningMatchView,
  TicketView,
} from './schemas.js'
import type { TicketService } from '../commands.js'
import {
  assignmentView,
  type Estimating,
  inSnakeCase,
  isoTime,
  orNull,
  partyViews,
  queueWaitView,
  seatId,
  type Dates,
  seatView,
  ticketView,
  timeBy,
} from './ticket-views.js'

/**
 * Players see numbers of waiting players rounded down to one of these steps, so that nobody sees a single player come
 * or go.
 */
const STEPS = [0, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const

const stepOf = (count: number): number => STEPS.findLast((step) => step <= count) ?? 0
/** The smallest number above 0 that players see. */
const FIRST_STEP = STEPS[1]

/** Milliseconds for which an answer is cached for all callers of a region. */
const GOOD_MS = 1000

interface QueueOverviewOptions {
  readonly service: Pick<TicketService, 'estimateQueueWaits'>
  readonly locate: Locate | undefined
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Creates the function that describes all queues. A player's answer is for the region of their address, with rounded
 * numbers. A backend's answer is for all regions, with exact numbers.
 */
export function createQueueOverview({
  service,
  locate,
  clock,
}: QueueOverviewOptions): (caller: TicketCaller, ip: string | undefined) => Awaitable<{ queues: QueueWaitView[] }> {
  /** There are few regions, so the cache is small. */
  const waitsAt = createShared<number, readonly QueueWait[]>(clock)
  return (caller, address) => {
    const backend = isBackend(caller)
    const shown = backend ? (count: number) => count : stepOf
    return whenKnown(placeOf(backend ? undefined : address, locate), (place) =>
      whenKnown(
        waitsAt(regionIn(place), () => service.estimateQueueWaits(place)),
        (waits) => ({ queues: waits.map((one) => queueWaitView(one, shown)) }),
      ),
    )
  }
}

/**
 * Creates a function that returns the same answer for `GOOD_MS` to all callers with the same key. Failures are not
 * cached.
 */
function createShared<Key, Answer>(clock: Pick<Clock, 'now'>) {
  const answers = new Map<Key, { readonly at: number; readonly answer: Awaitable<Answer> }>()
  return (key: Key, make: () => Awaitable<Answer>): Awaitable<Answer> => {
    const now = clock.now()
    const last = answers.get(key)
    if (last !== undefined && now - last.at < GOOD_MS) return last.answer
    const made = { at: now, answer: make() }
    answers.set(key, made)
    if (made.answer instanceof Promise)
      made.answer.catch(() => {
        if (answers.get(key) === made) answers.delete(key)
      })
    return made.answer
  }
}

/** Returns the matchmaker's full explanation, for backends. */
export const explanationView = (explanation: TicketExplanation): ExplanationView => inSnakeCase(explanation)

/**
 * Returns the explanation for players. It describes the queue's rules and the player's own waiting. Of other players,
 * it gives only a rounded number. With more details, somebody with a few accounts could find out where another player
 * is.
 */
export function ownExplanationView(explanation: TicketExplanation): ExplanationView {
  const { summary, waitingFor } = explanation
  const queues = explanation.queues.map(ownView)
  const reasons = queues.map((one) => (queues.length === 1 ? one.summary : `${one.queue}: ${one.summary}`))
  const fromQueues = waitingFor === 'players' && queues.length > 0 ? reasons.join(' ') : summary
  const own = summary !== PAUSED && waitingFor === 'servers' ? NO_SERVERS : fromQueues
  return inSnakeCase({ ...explanation, placement: undefined, summary: own, queues })
}

const NO_SERVERS = 'Its match is found, but no more servers may be deployed now.'

function ownView({ queue, paused, waitedMs, waiting, next }: Explanation) {
  const atLeast = stepOf(waiting)
  const others = atLeast === 0 ? `Fewer than ${FIRST_STEP} others wait` : `At least ${atLeast} others wait`
  const summary = paused === true ? PAUSED : `${others}.${relaxationSentence(next)}`
  return { queue, paused, summary, waitedMs, waiting: atLeast, others: atLeast, next }
}

export const ticketsInspected = (
  { total, tickets }: LongestWaiting,
  { queues }: Pick<Inspection, 'queues'>,
  dates: Dates,
) => ({
  queues: inSnakeCase(queues),
  total,
  tickets: tickets.flatMap((ticket) => partyViews(ticket, dates)),
})

export const inspectMatches = ({ matches }: Inspection, dates: Dates) =>
  matches.map((match) => ({
    match_id: match.matchId,
    queue: match.queue,
    tag: match.tag,
    phase: match.phase,
    stop_reason: match.stopReason ?? null,
    pool: match.pool ?? null,
    found_at: isoTime(dates.dateOf(match.at)),
    ticket_ids: [...match.ticketIds],
    player_ids: [...match.playerIds],
    request_id: match.requestId ?? null,
    assignment: match.assignment === undefined ? null : assignmentView(match.assignment),
    server_id: match.hosted?.serverId ?? null,
  }))

export const inspectServers = ({ servers }: Pick<Inspection, 'servers'>, dates: Dates) =>
  servers.map((server) => ({
    id: server.id,
    state: server.state,
    matches: [...server.matches],
    ...orNull(server, 'pool', 'place', 'build', 'seats', 'draining'),
    request_id: server.requestId ?? null,
    source: server.source ?? null,
    enrolment_key: server.enrolmentKey ?? null,
    matches_at_once: server.matchesAtOnce,
    matches_served: server.matchesServed,
    players_in: server.playersIn,
    registered_at: isoTime(dates.dateOf(server.registeredAt)),
    silent_seconds: Math.max(0, Math.round((dates.dateOf() - dates.dateOf(server.seenAt)) / 1000)),
  }))

export const poolsView = ({ pools }: Pick<Inspection, 'pools'>): PoolsView => ({
  pools: pools.map((one) => ({ ...inSnakeCase(one), expected_hit: one.expectedHit ?? null })),
})

export const resultsView = (
  { resultsAside }: Pick<Inspection, 'resultsAside'>,
  those: readonly ResultSetAside[],
): ResultsView => ({
  // The cached total may be a second old, so it can be smaller than the length of the list.
  total: Math.max(resultsAside, those.length),
  results: those.map(({ matchId, queue, playerIds, endedAt, setAsideAt, reason }) => ({
    match_id: matchId,
    profile: queue,
    player_ids: [...playerIds],
    ended_at: isoTime(endedAt),
    set_aside_at: isoTime(setAsideAt),
    reason,
  })),
})

/** Returns the matchmaker's state, at most a second old. Failures are not cached. */
export function createInspect(service: Pick<TicketService, 'inspect'>, clock: Clock): () => Awaitable<Inspection> {
  const shared = createShared<'state', Inspection>(clock)
  return () => shared('state', () => service.inspect())
}

export function cooldownView(cooldown: Cooldown, dates: Dates): CooldownView {
  const now = timeBy(dates)
  return {
    name: cooldown.name,
    offences: offencesLeft(cooldown, now),
    until: cooldown.until > now ? isoTime(dates.dateOf(cooldown.until)) : null,
    forgotten_at: isoTime(dates.dateOf(forgottenAt(cooldown))),
  }
}

interface PlayerParts {
  readonly found: FoundPlayer
  readonly estimating: Estimating & Dates
  readonly groups: MemberView[]
  readonly lobbies: readonly LobbyOfPlayer[] | undefined
  readonly seats: readonly SeatGrant[] | undefined
}

/** Returns the view for the player. Of each ticket, it shows only the player's own seat. */
function playerView(playerId: string, { found, estimating, groups, lobbies, seats }: PlayerParts): PlayerView {
  const tickets = found.tickets.flatMap((ticket) => {
    const index = ticket.players.findIndex(({ id }) => id === playerId)
    return index === -1 ? [] : ticketView({ ticket, index }, estimating, estimating)
  })
  return {
    player_id: playerId,
    tickets,
    groups,
    matches: [...tickets.flatMap(matchOfTicket), ...matchWithoutTicket(found)],
    seats: seats?.map((seat) => seatView(seat, estimating)),
    lobbies: lobbies === undefined ? null : lobbies.map(({ lobbyId, phase }) => ({ lobby_id: lobbyId, phase })),
  }
}

const matchOfTicket = ({ status, ended, ...ticket }: TicketView): RunningMatchView[] => {
  const { match_id, profile, team_id, id, assignment } = ticket
  const isRunning = status === 'HOST_ASSIGNED' && ended === undefined
  return isRunning && match_id !== null ? [{ match_id, profile, team_id, ticket_id: id, assignment }] : []
}

const matchWithoutTicket = ({ match }: FoundPlayer): RunningMatchView[] =>
  match === undefined
    ? []
    : [
        {
          match_id: match.matchId,
          profile: match.queue,
          team_id: null,
          ticket_id: null,
          assignment: match.assignment === undefined ? null : assignmentView(match.assignment),
        },
      ]

export function playerInMatch(playerId: string, matchId: string, found: FoundPlayer): PlayerInMatchView {
  for (const ticket of found.tickets) {
    const index = ticket.players.findIndex(({ id }) => id === playerId)
    if (ticket.matchId !== matchId || ticket.ended !== undefined || index === -1) continue
    const ticket_id = seatId({ ticket, index })
    return { player_id: playerId, is_expected: true, team_id: ticket.team ?? null, ticket_id }
  }
  return { player_id: playerId, is_expected: found.match?.matchId === matchId, team_id: null, ticket_id: null }
}

interface PlayerOverviewOptions {
  readonly service: Pick<TicketService, 'findPlayer' | 'estimateWait' | 'joinToken' | 'seatsOf' | 'dateOf'>
  readonly groups: Pick<Groups, 'ofPlayer'>
  readonly presence: Pick<PresenceReporter, 'noteRead'>
  readonly lobbies: TicketApiOptions['lobbies']
  readonly onError: (error: unknown) => void
}

/**
 * Returns the player's tickets, groups, matches and lobbies.
 * @param asking the caller, if the request comes from the player's own client.
 */
type PlayerOverview = (playerId: string, asking?: TicketCaller) => Promise<PlayerView>

export function createPlayerOverview({
  service,
  groups,
  presence,
  lobbies,
  onError,
}: PlayerOverviewOptions): PlayerOverview {
  /** Returns undefined if reading fails, because a failure must not keep a player from their match. */
  const ifReadable = async <Result>(read: () => Awaitable<Result>): Promise<Result | undefined> => {
    try {
      return await read()
    } catch (error) {
      onError(error)
      return undefined
    }
  }
  return async (playerId, asking) => {
    const inLobbies = ifReadable(() => lobbies?.(playerId) ?? [])
    const onServers = ifReadable(() => service.seatsOf(playerId))
    const found = await service.findPlayer(playerId)
    if (asking !== undefined) for (const ticket of found.tickets) presence.noteRead(ticket, asking)
    return playerView(playerId, {
      found,
      estimating: service,
      groups: await groups.ofPlayer(playerId, found.tickets),
      lobbies: await inLobbies,
      seats: await onServers,
    })
  }
}

/**
 * Returns the answer to the monitor route.
 * @param inspection undefined while the matchmaker cannot be read.
 * @param now the time by the matchmaker's clock, in epoch milliseconds.
 */
export function monitorView(
  inspection: Inspection | undefined,
  beacons: Pick<Beacons, 'failing'> | undefined,
  now: number,
): MonitorView {
  const components: readonly (readonly [name: string, healthy: boolean])[] = [
    ['matchmaker', inspection !== undefined],
    // `unstoppable`: a new server might be impossible to stop, so at most one server may exist.
    ['deployments', (inspection?.pausedUntil ?? now) <= now && inspection?.blockedBy !== 'unstoppable'],
    ...(beacons === undefined ? [] : [['beacons', !beacons.failing()] as const]),
  ]
  const unhealthy = components.flatMap(([name, healthy]) => (healthy ? [] : [name]))
  return {
    status: unhealthy.length === 0 ? 'healthy' : 'unhealthy',
    healthy_components: components.length - unhealthy.length,
    unhealthy_components: unhealthy.length,
    message: unhealthy.length === 0 ? 'all is well' : `unhealthy: ${unhealthy.join(', ')}`,
  }
}
