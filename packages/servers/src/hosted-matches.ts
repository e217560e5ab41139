import type { Coordinates } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import { newId } from '@muster/core/internal'
import type { Allocations, AllocatorListener } from './allocations.js'
import type { DeploymentCreation } from './create-deployment.js'
import { TicketsGone } from './errors.js'
import {
  type DrainReason,
  type FreedReason,
  type GameServers,
  LOST_AFTER_MS,
  OWN_PAUSE_MS,
} from './game-servers/index.js'
import type { Pools, PoolState } from './pools/index.js'
import {
  type Allocation,
  ENROLLED,
  intentEntry,
  newPoolServer,
  resumptionOf,
  type Order,
  type ReturnReason,
  type StopReason,
} from './records/index.js'
import { middleOfMatch } from './retry-placement.js'
import type { ServerLifecycle } from './server-lifecycle.js'
import type { ServerLogWriter } from './store/index.js'

/*
 * A match of a queue with a pool has no deployment of its own. It is a guest on a server of the pool:
 *
 *   intent ──▶ claim ── a warm server fits ──▶ offered ── accepted ──▶ assigned ── over ──▶ the server serves another
 *                │                               │ refused, or silent for 3 s: claims again
 *                └── none ──▶ a server is created for it, and it is offered once that has registered
 *
 * The claim is in the store before the server is told, so after a crash each match is on one server, or on none.
 */
export type HostedMatches = ReturnType<typeof createHostedMatches>

export interface HostedMatchesOptions {
  readonly allocations: Allocations
  readonly writer: Pick<ServerLogWriter, 'append' | 'note'>
  /** See `ServerLog`. */
  readonly resumes: boolean
  readonly gameServers: () => GameServers
  readonly creating: () => Pick<DeploymentCreation, 'begin'>
  readonly lifecycle: () => Pick<ServerLifecycle, 'fail' | 'end' | 'assign'>
  readonly pools: () => Pools
  /** Servers of a pool that may be created now. */
  readonly room: (pool: string, now: number) => number
  readonly clock: Pick<Clock, 'now'>
  readonly random: Random
  readonly on: Pick<AllocatorListener, 'problem' | 'faulty' | 'games' | 'stopped' | 'servers' | 'used'>
}

/** Milliseconds for a server to accept a match that was offered to it (our choice). */
const ANSWER_MS = 3000
/** Servers that a match is offered to before its players search again (our choice). */
const MOST_OFFERS = 4

/** What is known of a match that waits for its server. */
type Offer = ReturnType<typeof newOffer>

/** @param isWritten whether the claim is in the store, so that the server may be told */
const newOffer = (isWritten: boolean, offers: number) => ({
  /** Epoch milliseconds from which the server is expected to answer; Infinity while it has not registered. */
  since: Infinity,
  isWritten,
  hasAccepted: false,
  offers,
  /** Whether no warm server fitted, and no further one may be created now: both are looked for again. */
  isShort: false,
  /** Whether the match has been counted as demand, and what takes that back. */
  isCounted: offers > 0,
  uncount: undefined as (() => void) | undefined,
})

export function createHostedMatches(options: HostedMatchesOptions) {
  const { allocations, writer, resumes, gameServers, creating, lifecycle, pools, room } = options
  const { clock, random, on } = options
  /** The matches that are not assigned yet. */
  const offers = new Map<Allocation, Offer>()
  let lookedAt = clock.now()

  const isOpen = (match: Allocation) => match.unwanted === undefined && allocations.find(match.matchId) === match

  /** A match that ends before its players were sent to the server has not used it. */
  const unused = (host: Allocation) => {
    host.matchesServed = Math.max(0, host.matchesServed - 1)
    if (host.unwanted !== undefined) return
    void writer.note({ kind: 'served', matchId: host.matchId, matches: host.matchesServed })
  }

  const leaveHost = (match: Allocation, reason: FreedReason) => {
    const { host } = match
    match.host = undefined
    match.claim = undefined
    if (host === undefined) return undefined
    host.guests?.delete(match)
    if (match.listensAt === Infinity) unused(host)
    on.servers.freed(match, host, reason)
    pools().ended(host, match)
    gameServers().changed(host)
    return host
  }

  const end = (match: Allocation) => {
    // What ends before it begins is no demand: its players may search again, and are counted then.
    offers.get(match)?.uncount?.()
    offers.delete(match)
    // The end of its players' tickets has ended it already, where `fail` was called.
    if (allocations.find(match.matchId) === match) lifecycle().end(match)
  }

  const giveUp = (match: Allocation, reason: ReturnReason, counts: boolean) => {
    lifecycle().fail(match, reason, counts)
    leaveHost(match, reason)
    end(match)
  }

  const unwritten = (match: Allocation, error: unknown) => {
    if (!(error instanceof TicketsGone)) on.problem('store', error, match)
    giveUp(match, error instanceof TicketsGone ? 'dissolved' : 'unavailable', false)
  }

  /** Tells the server of the match once the store has the claim. */
  const claim = async (match: Allocation, host: Allocation, isWarm: boolean): Promise<void> => {
    const offer = offers.get(match)
    if (offer === undefined) return
    match.host = host
    match.claim = { at: clock.now(), isWarm }
    ;(host.guests ??= new Set()).add(match)
    host.matchesServed += 1
    pools().began(host)
    on.servers.taken(match, host, isWarm)
    offer.since = Infinity
    offer.isWritten = false
    offer.hasAccepted = false
    offer.offers += 1
    try {
      await writer.append({ kind: 'claimed', matchId: match.matchId, hostId: host.matchId })
    } catch (error) {
      if (match.host === host) unwritten(match, error)
      return
    }
    void writer.note({ kind: 'served', matchId: host.matchId, matches: host.matchesServed })
    if (match.host !== host || !isOpen(match)) return
    offer.isWritten = true
    offer.since = gameServers().find(host.matchId) === undefined ? Infinity : clock.now()
    gameServers().changed(host)
  }

  /** Creates a server of the pool for a match, at the places that the match's rules choose. */
  const createFor = async (
    match: Allocation,
    order: Order,
    pool: PoolState,
    near: Coordinates | undefined,
  ): Promise<void> => {
    const { name: queue, source } = pool.definition
    const host = newPoolServer(
      { matchId: newId(random), queue, at: clock.now(), source },
      pool.orderFor(order.tickets, order.placements),
    )
    host.causedBy = match.playerIds
    host.near = near
    pools().created(host, near)
    const claiming = claim(match, host, false)
    await creating().begin(host)
    await claiming
  }

  const findServer = async (match: Allocation): Promise<void> => {
    const { order } = match
    const pool = order?.pool === undefined ? undefined : pools().find(order.pool)
    if (order === undefined || pool === undefined) return giveUp(match, 'refused', true)
    const placements = await order.placements?.()
    if (!isOpen(match)) return end(match)
    const needs = { middle: middleOfMatch(order), placements }
    const warm = pools().warmFor(pool, needs)
    const near = placements?.[0]?.coordinates ?? needs.middle
    const offer = offers.get(match)
    if (offer === undefined || match.host !== undefined) return
    if (!offer.isCounted) offer.uncount = pools().asked(pool, warm, needs)
    offer.isCounted = true
    offer.isShort = warm === undefined && room(pool.definition.name, clock.now()) <= 0
    // Nothing comes for it: its players search until a server has a place.
    if (offer.isShort && pool.definition.source === ENROLLED) return giveUp(match, 'no-capacity', false)
    if (offer.isShort) return
    if (warm !== undefined) return claim(match, warm, true)
    return createFor(match, order, pool, near)
  }

  const claimAgain = (match: Allocation, reason: DrainReason & FreedReason) => {
    const host = leaveHost(match, reason)
    if (host !== undefined) gameServers().drain(host, reason)
    const offer = offers.get(match)
    if (offer === undefined || offer.offers >= MOST_OFFERS) return giveUp(match, 'not-listening', true)
    offer.since = Infinity
    void findServer(match)
  }

  /** The number of matches without a server, by pool. */
  const searching = (): ReadonlyMap<string, number> => {
    const counts = new Map<string, number>()
    for (const { host, order } of offers.keys())
      if (host === undefined && order?.pool !== undefined) counts.set(order.pool, (counts.get(order.pool) ?? 0) + 1)
    return counts
  }

  /** Sends the players of a match to its server once both are ready. */
  const assignIfReady = (match: Allocation) => {
    const { host } = match
    if (offers.get(match)?.hasAccepted !== true || host?.assignment === undefined || host.phase !== 'running') return
    offers.delete(match)
    if (host.causedBy === undefined) on.used((host.causedBy = match.playerIds))
    match.requestId = host.requestId
    match.assignment = host.assignment
    match.startedAfter = clock.now()
    allocations.enter(match, 'warming')
    lifecycle().assign(match)
  }

  return {
    /** Begins a match whose order names a pool. Resolves once the store holds the intent. */
    begin: async (match: Allocation) => {
      allocations.add(match)
      offers.set(match, newOffer(false, 0))
      try {
        // So that a later process goes on with it in place of letting its players search again.
        await writer.append(resumes ? { ...intentEntry(match), resumption: resumptionOf(match) } : intentEntry(match))
      } catch (error) {
        return unwritten(match, error)
      }
      if (isOpen(match)) await findServer(match)
      else end(match)
    },

    /** The matches that a server serves or is to serve, as far as it may be told of them. */
    matchesOn: ({ guests }: Allocation): readonly Allocation[] =>
      guests === undefined
        ? []
        : [...guests].filter((match) => isOpen(match) && offers.get(match)?.isWritten !== false),

    /** The number of its matches with those whose claim is still being written. */
    claimsOn: ({ guests }: Allocation) => (guests === undefined ? 0 : [...guests].filter(isOpen).length),

    /** The server says that players may come. */
    accepted: (match: Allocation) => {
      const offer = offers.get(match)
      if (offer === undefined) return
      offer.hasAccepted = true
      offer.since = Infinity
      assignIfReady(match)
    },
    /** The server cannot serve the match: it goes to another one. */
    refused: (match: Allocation) => {
      if (offers.has(match)) claimAgain(match, 'refused')
    },

    serverUp: (server: Allocation) => {
      for (const match of server.guests ?? []) assignIfReady(match)
    },

    serverEnded: (
      server: Allocation,
      reason: ReturnReason | StopReason,
      counts: boolean | readonly string[] = false,
    ) => {
      for (const match of server.guests ?? []) {
        if (offers.has(match)) {
          lifecycle().fail(match, isReturn(reason) ? reason : 'failed', counts)
        } else {
          match.unwanted ??= reason
          on.stopped(match, server.requestId ?? '', match.unwanted)
        }
        leaveHost(match, reason)
        end(match)
      }
    },

    /** The match needs its server no more: see `MatchHosting`. */
    release: (match: Allocation) => {
      leaveHost(match, match.unwanted ?? 'stopped')
      end(match)
    },

    /** Takes over a match of an earlier process: its `host` is the server that was claimed for it, if that exists. */
    adopt: (match: Allocation) => {
      const { host } = match
      // Its players were sent to a server that is gone.
      if (match.assignment !== undefined && match.phase !== 'running') on.games.ended(match, match.unwanted ?? 'lost')
      if (match.unwanted !== undefined) return end(match)
      if (host === undefined) {
        // Players who know where to connect have lost their server; others get another one.
        if (match.assignment !== undefined) {
          lifecycle().fail(match, 'lost', false)
          return end(match)
        }
        offers.set(match, newOffer(true, 0))
        return void findServer(match)
      }
      ;(host.guests ??= new Set()).add(match)
      pools().began(host)
      if (match.phase === 'running') return
      const offer = newOffer(true, 1)
      // The server registers again, and says then whether it has the match. One that boots has a time limit of its own.
      if (host.phase === 'running') offer.since = clock.now() + LOST_AFTER_MS - ANSWER_MS
      offers.set(match, offer)
    },

    /** The server has registered: it is expected to answer for the matches that wait for it. */
    registered: (server: Allocation) => {
      for (const match of server.guests ?? []) {
        const offer = offers.get(match)
        if (offer?.isWritten === true && !offer.hasAccepted) offer.since = Math.min(offer.since, clock.now())
      }
    },

    /** Matches that the warm servers of a pool could take now, besides those that look for one already. */
    freePlaces: (pool: string) => Math.max(0, pools().freePlaces(pool) - (searching().get(pool) ?? 0)),
    /** Matches that look for a server, and will need a new one. */
    needingServers: () => {
      let sum = 0
      for (const [pool, count] of searching()) sum += Math.max(0, count - pools().freePlaces(pool))
      return sum
    },

    /** Takes back matches from servers that do not answer. */
    advance: (now: number) => {
      // While this process was held up no server could answer.
      const isPause = now - lookedAt > OWN_PAUSE_MS
      lookedAt = now
      for (const [match, offer] of offers) {
        if (offer.isShort) {
          offer.isShort = false
          void findServer(match)
        } else if (isPause && offer.since < Infinity) offer.since = now
        else if (now - offer.since >= ANSWER_MS) claimAgain(match, 'silent')
      }
    },
  }
}

const RETURNS: ReadonlySet<string> = new Set<ReturnReason>([
  'no-capacity',
  'refused',
  'unavailable',
  'lost',
  'failed',
  'too-slow',
  'not-listening',
])
const isReturn = (reason: ReturnReason | StopReason): reason is ReturnReason => RETURNS.has(reason)
