import { scrub, newId } from '@muster/core/internal'
import type { Clock, Random } from '@muster/core/clock'
import {
  type Allocator,
  type AllocatorListener,
  type Assignment,
  type EndedMatches,
  type HostedMatch,
  type Server,
  type StopReason,
} from '@muster/hosting/internal'
import type { Events } from '../events.js'
import {
  type Cooldowns,
  type Match,
  ticketOf,
  type TicketRecord,
  type CancelReason,
  type MatchEnd,
  type TicketStore,
  filled,
} from '../tickets/index.js'
import type { Backfills } from './backfills.js'
import { type FindPlacements, orderOf, placedOf, teamsOf } from './match-order.js'
import {
  createAcceptances,
  createLeaving,
  createReplacing,
  type EndOfMatch,
  isSeated,
  newMatch,
  placed,
  playersOf,
  waitingFor,
} from './match.js'
import type { Group } from './rounds.js'

/*
 * The phases of a match (`MatchPhase`):
 *
 *   found ─┬─ acceptance ──▶ asking ── all have accepted ──▶ due ── a server may be created ─┐
 *          └─ no acceptance ─────────────────────────────────────────────────────────────────┤
 *                                                                                            ▼
 *   over ◀── stopped, ended, or all have left ── running ◀── its server listens ── deploying
 *
 * From asking, due and deploying a match goes over as well: declined, cancelled, or its deployment failed. Its tickets
 * search again then, with their waiting time kept.
 */

/** Leads each match from found to over, as far as its tickets are concerned. Its server is the allocator's part. */
export interface MatchLifecycle {
  find(matchId: string): Match | undefined
  all(): Iterable<Match>
  /**
   * How many more matches may be made now. Matches that await acceptance count as made.
   * @param pool whose warm servers count too.
   */
  room(now: number, pool?: string): number
  /** Deploys servers for matches that are due, and removes tickets that did not accept in time. */
  advance(now: number): void
  /** Makes a match; resolves when its intent is stored. Undefined, and nothing is done, if a ticket waits no more. */
  begin(group: Group, now: number): Promise<void> | undefined
  /** Adds tickets to a match by its backfill; does nothing if that or one of the tickets has changed meanwhile. */
  join(group: Group, now: number): void
  /** Players accept the match that was found for their ticket. */
  accept(record: TicketRecord, playerIds: readonly string[], now: number): void
  /** Removes a ticket that has no server yet from its match. */
  leave(record: TicketRecord, reason: CancelReason, now: number): void
  /** The server of the match listens: players may connect. */
  ready(matchId: string, requestId: string, assignment: Assignment, now: number): void
  /** Players have left. Before the server runs, their tickets are cancelled. */
  desert(match: Match, playerIds: readonly string[], now: number): void
  /** Ends a match: its server is stopped, and tickets without a server search again. */
  dissolve(match: Match, why: EndOfMatch, now: number): void
  /** Ends a match as the matchmaker closes: its tickets are cancelled. */
  close(match: Match, now: number): void
  /** Takes over a match of an earlier process, whose server is being deployed or runs. */
  adopt(match: Match): void
  /** Ids of the tickets of a match whose players get the address as soon as its server listens. */
  expected(matchId: string): readonly string[]
}

interface MatchLifecycleOptions {
  readonly tickets: TicketStore
  readonly backfills: Backfills
  readonly allocator: Pick<Allocator, 'room' | 'allocate' | 'find' | 'drop' | 'setPlayers'>
  readonly ended: Pick<EndedMatches, 'add'>
  readonly events: Events
  readonly cooldowns: Pick<Cooldowns, 'count'>
  readonly random: Random
  /** Where the server of a match goes by its rules. */
  readonly placing: (match: Match) => FindPlacements | undefined
}

export function createMatchLifecycle({
  tickets,
  backfills,
  allocator,
  ended,
  events,
  cooldowns,
  random,
  placing,
}: MatchLifecycleOptions): MatchLifecycle {
  const matches = new Map<string, Match>()
  /** Matches in phase `asking` or `due`. Of thousands of matches, only these are checked each tick. */
  const early = new Set<Match>()
  const acceptances = createAcceptances(tickets)
  const replacing = createReplacing(backfills, allocator)

  const named = ({ matchId, queue }: Match) => ({ matchId, queue: queue.name })

  const seat = (match: Match, { runtime, records, teams }: Group, now: number): boolean => {
    if (!tickets.claim(records, runtime, match, teams, now)) return false
    match.seated = match.seated.length === 0 ? records : [...match.seated, ...records]
    match.placed = match.placed.length === 0 ? placed(records) : [...match.placed, ...placed(records)]
    if (match.queue.acceptance !== undefined) for (const record of records) acceptances.expect(record)
    return true
  }

  /** @param teamOf for each seated ticket the index of its team. */
  const deploy = (match: Match, teamOf: readonly number[]): Promise<void> => {
    const { matchId, queue, seated, foundAt } = match
    match.phase = 'deploying'
    if (queue.acceptance !== undefined) {
      early.delete(match)
      for (const record of seated) tickets.setAcceptance(record, undefined)
    }
    const order = orderOf(match, teamOf, placing(match))
    return allocator.allocate({ matchId, queue: queue.name, at: foundAt }, order)
  }

  /** Makes the match due for a server once nobody is missing and all have accepted. */
  const proceed = (match: Match, now: number) => {
    if (match.phase !== 'asking' || match.backfill !== undefined) return
    if (match.seated.some(acceptances.isPending)) return
    match.phase = 'due'
    serve(now)
  }

  const serve = (now: number) => {
    if (early.size === 0) return
    for (const match of early) {
      if (match.phase !== 'due' || allocator.room(now, match.queue.pool) <= 0) continue
      void deploy(match, teamsOf(match.seated))
    }
  }

  /** Assigns tickets to the running server. */
  const arrive = (match: Match, records: readonly TicketRecord[], now: number) => {
    const { requestId, assignment } = match
    if (requestId === undefined || assignment === undefined || records.length === 0) return
    match.seated = match.seated.filter((record) => !records.includes(record))
    for (const record of records) {
      tickets.setAcceptance(record, undefined)
      tickets.assign(record, now)
    }
    events.emit('serverAssigned', { ...named(match), requestId, assignment, tickets: records.map(ticketOf) })
  }

  const over = (match: Match, stop: StopReason, now: number) => {
    match.phase = 'over'
    matches.delete(match.matchId)
    ended.add(match.matchId)
    early.delete(match)
    if (match.backfill !== undefined) backfills.cancel(match.backfill)
    for (const record of match.seated) acceptances.forget(record)
    tickets.matchOver(match, matchEndOf(stop), now)
  }

  /** The match ends before its tickets return, so that a listener finds it gone. */
  const dissolve: MatchLifecycle['dissolve'] = (match, { reason, counts = false, stop = reason }, now) => {
    if (match.phase === 'over') return
    over(match, stop, now)
    drop(match, stop)
    const isAttempt = ({ id }: TicketRecord) => (typeof counts === 'boolean' ? counts : counts.includes(id))
    for (const record of waitingFor(match)) tickets.requeue(record, reason, isAttempt(record), now)
  }

  const leaving = createLeaving({ tickets, acceptances, replacing, dissolve })

  /** The tickets that wait only for the server. */
  const expected = (match: Match): readonly TicketRecord[] =>
    waitingFor(match).filter((record) => !acceptances.isPending(record))

  const drop = ({ matchId }: Match, reason: StopReason) => {
    const hosted = allocator.find(matchId)
    if (hosted !== undefined) allocator.drop(hosted, reason)
  }

  return {
    find: (matchId) => matches.get(matchId),
    all: () => matches.values(),

    room: (now, pool) => allocator.room(now, pool) - early.size,

    advance: (now) => {
      serve(now)
      const late = acceptances.overdue(now)
      for (const match of new Set(late.map((record) => record.seat?.match))) {
        if (match === undefined) continue
        const unanswered = late.filter((record) => isSeated(record, match))
        cooldowns.count(match.queue, unanswered.flatMap(silentIn), 'not-accepted', now)
        leaving.together(match, unanswered, 'not-accepted', now)
      }
      for (const match of early) if (match.fullBy <= now) dissolve(match, { reason: 'not-accepted' }, now)
    },

    begin: (group, now) => {
      const { queue: itself, compiled } = group.runtime
      const { queue = itself } = group
      const needsAcceptance = queue.acceptance !== undefined
      const match = newMatch(newId(random), queue, compiled.model.teams, now)
      match.expansionMs = group.expansionMs
      if (needsAcceptance) match.phase = 'asking'
      if (!seat(match, group, now)) return undefined
      matches.set(match.matchId, match)
      if (needsAcceptance) early.add(match)
      const begun = needsAcceptance ? Promise.resolve() : deploy(match, group.teams)
      // Emitted last, so that a listener may cancel the tickets or stop the match.
      if (events.isHeard('matchFound')) {
        const { matchId, expansionMs } = match
        events.emit('matchFound', { matchId, queue: queue.name, tickets: group.records.map(ticketOf), expansionMs })
      }
      return begun
    },

    join: (group, now) => {
      const { backfill, records } = group
      if (backfill?.record.status !== 'OPEN' || backfill.record.version !== backfill.version) return
      const { match } = backfill.record
      // Where players may wait while they play, this may be the match that they play in.
      if (match.queue.playersMayWaitWhilePlaying && records.some((record) => isSharing(record, match))) return
      if (!seat(match, group, now)) return
      const ids = records.map(({ id }) => id)
      replacing.refresh(backfill.record, filled(backfill.record, placed(records)), ids)
      if (match.backfill === undefined) match.fullBy = Infinity
      replacing.setPlayers(match, (all) => [...all, ...playersOf(records)])
      events.emit('backfillJoined', { ...named(match), backfillId: backfill.record.id, tickets: records.map(ticketOf) })
      if (match.phase === 'running')
        arrive(
          match,
          records.filter((record) => isSeated(record, match) && !acceptances.isPending(record)),
          now,
        )
      else proceed(match, now)
    },

    accept: (record, playerIds, now) => {
      const match = record.seat?.match
      const accepted = acceptances.accept(record, playerIds)
      if (match === undefined || accepted.length === 0) return
      events.emit('matchAccepted', { ...named(match), ticket: ticketOf(record), playerIds: accepted })
      if (!isSeated(record, match) || acceptances.isPending(record)) return
      if (match.phase === 'running') arrive(match, [record], now)
      else if (match.phase === 'deploying') tickets.setAcceptance(record, undefined)
      else proceed(match, now)
    },

    leave: (record, reason, now) => {
      const match = record.seat?.match
      if (match !== undefined) leaving.together(match, [record], reason, now)
    },

    ready: (matchId, requestId, assignment, now) => {
      const match = matches.get(matchId)
      if (match === undefined) return
      match.phase = 'running'
      match.requestId = requestId
      match.assignment = assignment
      arrive(match, expected(match), now)
    },

    desert: leaving.players,

    dissolve,
    close: (match, now) => {
      if (match.phase === 'over') return
      over(match, 'closed', now)
      drop(match, 'closed')
      for (const record of waitingFor(match)) tickets.cancel(record, 'closed', now)
    },
    adopt: (match) => {
      matches.set(match.matchId, match)
      for (const record of waitingFor(match)) if (isAsked(record)) acceptances.expect(record)
    },
    expected: (matchId) => {
      const match = matches.get(matchId)
      return match === undefined ? [] : expected(match).map(({ id }) => id)
    },
  }
}

const matchEndOf = (stop: StopReason): MatchEnd => {
  if (stop === 'crashed') return 'server-lost'
  return stop === 'nobody-joined' ? stop : 'match-over'
}

/** Whether the ticket's match awaits acceptance, and its players have not all answered. */
const isAsked = ({ seat, players }: TicketRecord): boolean =>
  seat?.acceptance !== undefined && seat.acceptance.accepted.length < players.length

/** The players of the ticket who have not accepted. */
const silentIn = ({ seat, players }: TicketRecord): readonly string[] =>
  players.flatMap(({ id }) => (seat?.acceptance?.accepted.includes(id) === true ? [] : [id]))

/** Whether a player of the ticket is in the match already. */
const isSharing = ({ players }: TicketRecord, { placed: there }: Match): boolean =>
  players.some(({ id }) => there.some(({ ticket }) => ticket.players.some((player) => player.id === id)))

interface HostingOutcomesOptions {
  readonly lifecycle: () => Pick<MatchLifecycle, 'find' | 'ready' | 'dissolve'>
  /** A server was created for these players. */
  readonly served: (playerIds: readonly string[]) => void
  readonly games: AllocatorListener['games']
  readonly servers: AllocatorListener['servers']
  readonly events: Events
  readonly clock: Pick<Clock, 'now'>
}

/** Creates the listener by which the outcomes of hosting reach matches, limits and events. */
export function createHostingOutcomes({
  lifecycle,
  served,
  games,
  servers,
  events,
  clock,
}: HostingOutcomesOptions): AllocatorListener {
  const named = ({ id: matchId, queue, pool }: Server) =>
    pool === undefined ? { matchId, queue } : { matchId, queue, pool }
  const end = ({ id }: HostedMatch, why: EndOfMatch) => {
    const match = lifecycle().find(id)
    if (match !== undefined) lifecycle().dissolve(match, why, clock.now())
  }
  return {
    games,
    servers,
    created: (server, requestId) => {
      const { order, charged, causedBy, bornFor } = server
      // Creates repeated elsewhere for lack of capacity are not the players' doing, so only the first counts against
      // their limits. Servers created by an earlier process were counted there.
      if (order !== undefined && !charged) served(causedBy ?? bornFor?.playerIds ?? [])
      events.emit('deploymentCreated', { ...named(server), requestId })
    },
    used: served,
    up: (server, requestId, unseenMs) =>
      events.emit('deploymentReady', {
        ...named(server),
        requestId,
        startMs: clock.now() - server.knownAt,
        unseenMs,
        placed: placedOf(server),
      }),
    ready: ({ id }, requestId, assignment) => lifecycle().ready(id, requestId, assignment, clock.now()),
    failed: (match, reason, counts) => end(match, { reason, counts }),
    faulty: (server, requestId, reason, detail) =>
      events.emit('deploymentFailed', { ...named(server), requestId, reason, detail: shortOf(detail) }),
    logs: (server, requestId, reason, logs) => events.emit('serverLogs', { ...named(server), requestId, reason, logs }),
    over: (match, stop) => end(match, { reason: 'stopped', stop }),
    stopped: (server, requestId, reason) => events.emit('deploymentStopped', { ...named(server), requestId, reason }),
    reaped: (requestId) => events.emit('orphanStopped', { requestId }),
    problem: (during, error, about, requestId) =>
      events.emit('problem', { during, error, matchId: about?.id, requestId }),
  }
}

const LONGEST_DETAIL = 300

/** What the service says may hold anything. */
const shortOf = (detail: string | undefined) => detail && scrub(detail).replaceAll(/\s+/g, ' ').slice(0, LONGEST_DETAIL)
