import type { Clock } from '@muster/core/clock'
import type { Allocator, BlockedBy, HostedMatch, Placement } from '@muster/hosting/internal'
import { UnknownTicket } from '../errors.js'
import { PAUSED } from '../queues/index.js'
import { slotIn, NOWHERE, type QueueRuntime, type TicketRecord, type TicketStore } from '../tickets/index.js'
import { type MatchRateCurve, estimateOf } from '../wait-times/index.js'
import type { LearnedWaits, Matchmaker, TakenServer } from './matchmaker.js'

/** Creates `explain`. It returns the reasons of the ticket's queues, or why the ticket is in none of their pools. */
export function createExplaining({
  tickets,
  clock,
  allocator,
}: {
  readonly tickets: Pick<TicketStore, 'find'>
  readonly clock: Clock
  /** `blockedBy` returns why no servers are deployed now; undefined if they are deployed. */
  readonly allocator: Pick<Allocator, 'blockedBy' | 'find'>
}): Matchmaker['explain'] {
  return (ticketId) => {
    const record = tickets.find(ticketId)
    if (record === undefined)
      throw new UnknownTicket(`There is no ticket ${JSON.stringify(ticketId)}. It may have ended and been removed.`)
    const now = clock.now()
    const queues = record.runtimes.flatMap(({ explain, pool, isPaused }, index) => {
      const slot = slotIn(record, index)
      if (slot === NOWHERE) return []
      const explanation = explain(pool, slot, now)
      return isPaused ? { ...explanation, paused: true, summary: PAUSED } : explanation
    })
    const { matchId } = record.seat?.match ?? {}
    const hosted = matchId === undefined ? undefined : allocator.find(matchId)
    const placement = hosted?.placement
    const server = hosted && takenServer(hosted, now)
    const reasons = queues.map(({ queue, summary }) => (queues.length === 1 ? summary : `${queue}: ${summary}`))
    return {
      ticketId,
      summary: [
        whyNoServer(record, now, allocator.blockedBy()) ?? reasons.join(' '),
        record.status === 'MATCH_FOUND' && hosted !== undefined ? serverSentence(server, hosted.server) : '',
        placeSentence(placement),
      ].join(''),
      waitedMs: Math.max(0, Math.round(now - record.createdAt)),
      waitingFor: record.status === 'SEARCHING' ? record.waitingFor : undefined,
      placement,
      server,
      queues,
    }
  }
}

/** Returns the match's server; undefined while the match has none, e.g. because its last server did not answer. */
function takenServer({ server, claim }: HostedMatch, now: number): TakenServer | undefined {
  if (server === undefined) return undefined
  const forMs = claim && Math.max(0, Math.round(now - claim.at))
  // After a restart, only a server of a pool can have run before its match.
  return { warm: claim?.isWarm ?? (server.pool !== undefined && server.registered), forMs }
}

/** Describes how the match gets its server, and since when. */
function serverSentence(server: TakenServer | undefined, host: HostedMatch['server']): string {
  if (server === undefined) return ' It waits for a server.'
  const { warm, forMs } = server
  const seconds = forMs === undefined ? undefined : Math.floor(forMs / 1000)
  // A process may register before its source has given its address.
  if (warm && host?.assignment === undefined) {
    const when = seconds === undefined ? '' : ` ${seconds} s ago`
    return ` A server was taken${when}, but its source has not given its address yet.`
  }
  if (warm) return seconds === undefined ? ' A warm server was taken.' : ` A warm server was taken ${seconds} s ago.`
  return seconds === undefined
    ? ' A server starts for the match.'
    : ` A server starts for the match, since ${seconds} s.`
}

/** Describes where the server was requested. The sentence contains the rule's limit, but no player's latency. */
function placeSentence(placement: Placement | undefined): string {
  if (placement === undefined) return ''
  const { beacon, limitMs } = placement
  const promise = limitMs === undefined ? '' : `, at most ${Math.round(limitMs)} ms from every player`
  return ` Its server is placed at the beacon ${beacon}${promise}.`
}

/** Returns what blocks the ticket apart from missing players; undefined if it only waits for players. */
function whyNoServer(
  { status, waitingFor, restsUntil, runtimes }: TicketRecord,
  now: number,
  blockedBy: BlockedBy | undefined,
): string | undefined {
  switch (status) {
    case 'MATCH_FOUND':
      return 'Its match is found.'
    case 'HOST_ASSIGNED':
      return 'Its match has a server.'
    case 'CANCELLED':
      return 'It was cancelled.'
    case 'SEARCHING':
      if (runtimes.length > 0 && runtimes.every(({ isPaused }) => isPaused)) return PAUSED
  }
  switch (waitingFor) {
    case 'location':
      return 'Its place is being looked up.'
    case 'retry':
      // The cause may be a server, or the deployment service, which did not answer or refused the create.
      return `Its match got no server; it is matched again in ${secondsUntil(restsUntil, now)} s.`
    case 'servers':
      return blockedBy === 'store'
        ? 'Its match is found, but no more servers may be deployed now: the store cannot be written.'
        : blockedBy === 'unstoppable'
          ? 'Its match is found, but no more servers may be deployed now: the service does not list or stop servers.'
          : 'Its match is found, but no more servers may be deployed now.'
    case 'other-ticket':
      return 'A match is found for another ticket of one of its players.'
    case 'players':
      return undefined
  }
}

const secondsUntil = (at: number, now: number) => Math.ceil(Math.max(0, at - now) / 1000)

interface WaitCommands extends Pick<Matchmaker, 'estimateWait' | 'estimateQueueWaits'> {
  /**
   * Returns the learned waits behind `estimateWait` and `estimateQueueWaits`, for processes that do not run the
   * matching.
   */
  learnedWaits(): readonly LearnedWaits[]
}

interface EstimateContext {
  readonly tickets: Pick<TicketStore, 'find'>
  readonly runtimes: () => ReadonlyMap<string, QueueRuntime>
  readonly clock: Pick<Clock, 'now'>
}

/** Commands that estimate how long tickets wait. Each is cheap enough for every request. */
export function createEstimating({ tickets, runtimes, clock }: EstimateContext): WaitCommands {
  return {
    estimateWait: (ticketId) => {
      const record = tickets.find(ticketId)
      if (record?.waits === undefined) return undefined
      const now = clock.now()
      const kind = { place: record.place, players: record.players.length }
      let curves: MatchRateCurve[] | undefined
      for (const { waits } of record.runtimes) {
        const curve = waits.survey(now).ofKind(kind)
        if (curve !== undefined) (curves ??= []).push(curve)
      }
      return curves && estimateOf(curves, now - record.createdAt)
    },

    estimateQueueWaits: (place) => {
      const now = clock.now()
      return Array.from(runtimes(), ([queue, { waits, isPaused: paused }]) => {
        const curve = waits.survey(now).ofPlace(place)
        return { queue, ...waits.count(), paused, estimate: curve && estimateOf([curve], 0) }
      })
    },

    learnedWaits: () =>
      Array.from(runtimes(), ([queue, { waits, isPaused: paused }]) => ({
        queue,
        ...waits.count(),
        paused,
        curves: waits.survey(clock.now()).learned(),
      })),
  }
}
