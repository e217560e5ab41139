import type { Coordinates } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import { newId } from '@muster/core/internal'
import type { DeploymentCreation } from './create-deployment.js'
import { TicketsGone } from '../errors.js'
import type { AllocatorListener, Fleet, MatchHosting } from './fleet.js'
import {
  type DrainReason,
  type FreedReason,
  type GameServers,
  LOST_AFTER_MS,
  OWN_PAUSE_MS,
} from '../game-servers/index.js'
import type { Pools, PoolState } from '../pools/index.js'
import {
  type Assignment,
  ENROLLED,
  type HostedMatch,
  matchIntent,
  newPoolServer,
  newServerFor,
  overEntries,
  type Order,
  type ReturnReason,
  type Server,
  type StopReason,
} from '../records/index.js'
import { middleOfMatch } from './retry-placement.js'
import { ENDS_GAP_MS, STORE_PATIENCE_MS } from './server-deadlines.js'
import type { HostingEntry, ServerLogWriter } from '../store/index.js'

/*
 * Every match is a guest on a server. That of a queue with a pool is one of the pool:
 *
 *   intent ──▶ claim ── a warm server fits ──▶ offered ── accepted ──▶ assigned ── over ──▶ the server serves another
 *                │                               │ refused, or silent for 3 s: claims again
 *                └── none ──▶ a server is created for it, and it is offered once that has registered
 *
 * The claim is in the store before the server is told, so after a crash each match is on one server, or on none.
 *
 * Without a pool, a server is created for the match alone. It begins once that listens, and lasts as long as that.
 */
export type HostedMatches = ReturnType<typeof createHostedMatches>

export interface HostedMatchesOptions {
  readonly fleet: Fleet
  readonly writer: Pick<ServerLogWriter, 'append' | 'note'>
  /** See `ServerLog`. */
  readonly resumes: boolean
  readonly gameServers: () => GameServers
  readonly creating: () => Pick<DeploymentCreation, 'begin'>
  readonly pools: () => Pools
  /** Servers of a pool that may be created now. */
  readonly room: (pool: string, now: number) => number
  /** Stops a server that is not wanted any more. */
  readonly dropServer: (server: Server, reason: StopReason) => void
  readonly clock: Pick<Clock, 'now'>
  readonly random: Random
  readonly on: Pick<AllocatorListener, 'failed' | 'games' | 'over' | 'problem' | 'ready' | 'servers' | 'used'>
}

/** Milliseconds for a server to accept a match that was offered to it (our choice). */
const ANSWER_MS = 3000
/** Servers that a match is offered to before its players search again (our choice). */
const MOST_OFFERS = 4

/** What an earlier process knew of a match on a server of a pool. */
interface Taken {
  /** The server that was claimed for it; undefined: none was, or it is wanted no more. */
  readonly server: Server | undefined
  /** Where its players were sent; undefined: nowhere yet, or it is not known. */
  readonly assignment: Assignment | undefined
  /** When they were sent there, in epoch milliseconds; undefined: not yet. */
  readonly playingSince: number | undefined
  /** Milliseconds from then after which it has lasted too long; undefined: never. */
  readonly lastsMs?: number | undefined
}

const servedOf = ({ id: serverId, matchesServed: matches }: Server): HostingEntry => ({
  kind: 'served',
  serverId,
  matches,
})

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
  const { fleet, writer, resumes, gameServers, creating, pools, room, dropServer } = options
  const { clock, random, on } = options
  /** The matches that wait for a server of a pool, or for its answer. */
  const offers = new Map<HostedMatch, Offer>()
  let lookedAt = clock.now()
  let nextEndsAt = 0

  const isOpen = (match: HostedMatch) => match.unwanted === undefined && fleet.match(match.id) === match

  /** A match that ends before its players were sent to the server has not used it. */
  const unused = (server: Server): readonly HostingEntry[] => {
    server.matchesServed = Math.max(0, server.matchesServed - 1)
    return server.unwanted === undefined ? [servedOf(server)] : []
  }

  /** @returns what has to be written with the end of the match, or of its claim */
  const leaveServer = (match: HostedMatch, reason: FreedReason): readonly HostingEntry[] => {
    const { server } = match
    match.server = undefined
    match.claim = undefined
    if (server === undefined) return []
    server.guests.delete(match)
    const entries = match.readyAt === Infinity ? unused(server) : []
    on.servers.freed(match, server, reason)
    pools().ended(server, match)
    gameServers().changed(server)
    return entries
  }

  /** Its tickets go back to the queue; called once. */
  const fail = (match: HostedMatch, reason: ReturnReason, counts: boolean | readonly string[]) => {
    if (match.unwanted !== undefined) return
    match.unwanted = reason
    on.failed(match, reason, counts)
  }

  /** A match that was played is over: its result is kept before its end is. */
  const conclude = (match: HostedMatch, reason: StopReason = 'ended') => {
    if (match.hasBegun) on.games.ended(match, match.unwanted ?? reason)
  }

  /** Nothing of a match without a server is left. @param left what leaving its server has changed */
  const end = (match: HostedMatch, left: readonly HostingEntry[] = []) => {
    // What ends before it begins is no demand: its players may search again, and are counted then.
    offers.get(match)?.uncount?.()
    offers.delete(match)
    // The end of its players' tickets has ended it already, where `fail` was called.
    const isKnown = fleet.match(match.id) === match
    if (isKnown) conclude(match)
    if (isKnown) fleet.removeMatch(match)
    const entries = [...left, ...(isKnown ? overEntries([match]) : [])]
    if (entries.length > 0) void writer.note(...entries)
  }

  const giveUp = (match: HostedMatch, reason: ReturnReason, counts: boolean) => {
    fail(match, reason, counts)
    end(match, leaveServer(match, reason))
  }

  const drop = (match: HostedMatch, reason: StopReason) => {
    match.unwanted ??= reason
    if (match.ownServer !== undefined) return dropServer(match.ownServer, reason)
    end(match, leaveServer(match, match.unwanted))
  }

  const unwritten = (match: HostedMatch, error: unknown) => {
    if (!(error instanceof TicketsGone)) on.problem('store', error, match)
    giveUp(match, error instanceof TicketsGone ? 'dissolved' : 'unavailable', false)
  }

  /**
   * The match is to be served by this server.
   * @returns what has to be written before the server is told
   */
  const take = (match: HostedMatch, offer: Offer, server: Server, isWarm: boolean): readonly HostingEntry[] => {
    match.server = server
    match.claim = { at: clock.now(), isWarm }
    server.guests.add(match)
    server.matchesServed += 1
    pools().began(server)
    on.servers.taken(match, server, isWarm)
    offer.since = Infinity
    offer.isWritten = false
    offer.hasAccepted = false
    offer.offers += 1
    return [{ kind: 'claimed', matchId: match.id, serverId: server.id }, servedOf(server)]
  }

  /** The store has the claim: the server is told. */
  const tell = (match: HostedMatch, offer: Offer, server: Server) => {
    if (match.server !== server || !isOpen(match)) return
    offer.isWritten = true
    offer.since = gameServers().find(server.id) === undefined ? Infinity : clock.now()
    gameServers().changed(server)
  }

  const claim = async (match: HostedMatch, offer: Offer, server: Server): Promise<void> => {
    try {
      await writer.append(...take(match, offer, server, true))
    } catch (error) {
      if (match.server === server) unwritten(match, error)
      return
    }
    tell(match, offer, server)
  }

  /** Creates a server of the pool for a match, at the places that the match's rules choose. */
  const createFor = async (
    match: HostedMatch,
    offer: Offer,
    order: Order,
    { definition: { name, source }, orderFor }: PoolState,
    near: Coordinates | undefined,
  ): Promise<void> => {
    const wanted = orderFor(order.tickets, order.placements)
    const server = newPoolServer({ id: newId(random), pool: name, at: clock.now(), source }, wanted)
    server.causedBy = match.playerIds
    server.near = near
    pools().created(server, near)
    await creating().begin(server, take(match, offer, server, false))
    tell(match, offer, server)
  }

  const findServer = async (match: HostedMatch): Promise<void> => {
    const { order } = match
    const pool = order?.pool === undefined ? undefined : pools().find(order.pool)
    if (order === undefined || pool === undefined) return giveUp(match, 'refused', true)
    const placements = await order.placements?.()
    if (!isOpen(match)) return end(match)
    const needs = { middle: middleOfMatch(order), placements }
    const warm = pools().warmFor(pool, needs)
    const near = placements?.[0]?.coordinates ?? needs.middle
    const offer = offers.get(match)
    if (offer === undefined || match.server !== undefined) return
    if (!offer.isCounted) offer.uncount = pools().asked(pool, warm, needs)
    offer.isCounted = true
    offer.isShort = warm === undefined && room(pool.definition.name, clock.now()) <= 0
    // Nothing comes for it: its players search until a server has a place.
    if (offer.isShort && pool.definition.source === ENROLLED) return giveUp(match, 'no-capacity', false)
    if (offer.isShort) return
    return warm === undefined ? createFor(match, offer, order, pool, near) : claim(match, offer, warm)
  }

  const claimAgain = (match: HostedMatch, reason: DrainReason & FreedReason) => {
    const { server } = match
    // Together, or a later process would give the match to a server that does not count it.
    void writer.note({ kind: 'claimed', matchId: match.id, serverId: undefined }, ...leaveServer(match, reason))
    if (server !== undefined) gameServers().drain(server, reason)
    const offer = offers.get(match)
    if (offer === undefined || offer.offers >= MOST_OFFERS) return giveUp(match, 'not-listening', true)
    offer.since = Infinity
    void findServer(match)
  }

  /** The number of matches without a server, by pool. */
  const searching = (): ReadonlyMap<string, number> => {
    const counts = new Map<string, number>()
    for (const { server, order } of offers.keys())
      if (server === undefined && order?.pool !== undefined) counts.set(order.pool, (counts.get(order.pool) ?? 0) + 1)
    return counts
  }

  /** Its players may come: told once that is stored, together with where they connect. */
  const begin = (match: HostedMatch, requestId: string) => {
    const { assignment, order } = match
    if (assignment === undefined || !isOpen(match)) return
    fleet.enterMatch(match, 'running')
    match.joinBy = clock.now() + (order?.deploy.joinWithinMs ?? Infinity)
    on.ready(match, requestId, assignment)
  }

  /** Sends the players of a match to its server of a pool once both are ready. */
  const assignIfReady = (match: HostedMatch) => {
    const { server, order } = match
    if (offers.get(match)?.hasAccepted !== true || server === undefined) return
    const { requestId, assignment } = server
    if (requestId === undefined || assignment === undefined || server.phase !== 'running') return
    offers.delete(match)
    if (server.causedBy === undefined) on.used((server.causedBy = match.playerIds))
    match.placeAt(server, requestId, assignment)
    match.readyAt = clock.now()
    const lastsMs = order?.deploy.maxDurationMs
    match.endsAt = clock.now() + (lastsMs ?? Infinity)
    fleet.enterMatch(match, 'warming')
    const noted = writer.note({ kind: 'playing', matchId: match.id, at: match.readyAt, lastsMs })
    if (noted === undefined) begin(match, requestId)
    else void noted.then(() => begin(match, requestId))
  }

  /** A match that its server cannot serve any more: played so far, it is over; otherwise its players search again. */
  const lose = (match: HostedMatch, reason: ReturnReason | StopReason, counts: boolean | readonly string[]) => {
    if (match.isPlaced) {
      match.unwanted ??= reason
      on.over(match, match.unwanted)
    } else fail(match, isReturn(reason) ? reason : 'failed', counts)
    // It lasts as long as its own server.
    if (match.ownServer !== undefined) return
    end(match, leaveServer(match, reason))
  }

  /** Ends matches to which nobody came, and those that last too long. */
  const endOverdue = (now: number) => {
    for (const match of fleet.playing()) {
      const { phase, readyAt, endsAt, joinBy } = match
      if (phase === 'warming' && now - readyAt >= STORE_PATIENCE_MS) {
        giveUp(match, 'unavailable', false)
      } else if (phase === 'running' && now >= Math.min(endsAt, joinBy)) {
        drop(match, now < endsAt ? 'nobody-joined' : 'max-duration')
      }
    }
  }

  const hosting: MatchHosting = {
    serverUp: (server) => {
      for (const match of server.guests) {
        if (match !== server.bornFor) assignIfReady(match)
        else if (server.requestId !== undefined) begin(match, server.requestId)
      }
    },
    serverEnding: (server, reason) => {
      for (const match of server.guests) conclude(match, reason)
    },
    serverEnded: (server, reason, counts = false) => {
      for (const match of server.guests) lose(match, reason, counts)
    },
  }

  return {
    ...hosting,
    /** Begins a match. Resolves once the store holds the intent. */
    begin: async (match: HostedMatch, order: Order) => {
      if (order.pool === undefined) return creating().begin(newServerFor(match, order))
      fleet.addMatch(match)
      offers.set(match, newOffer(false, 0))
      try {
        // So that a later process goes on with it in place of letting its players search again.
        await writer.append(matchIntent(match, resumes))
      } catch (error) {
        return unwritten(match, error)
      }
      if (isOpen(match)) await findServer(match)
      else end(match)
    },
    /** The match is not wanted any more; the caller handles its tickets. Its own server is stopped. */
    drop,

    /** The matches that a server serves or is to serve, as far as it may be told of them. */
    matchesOn: ({ guests }: Server): readonly HostedMatch[] =>
      [...guests].filter((match) => isOpen(match) && offers.get(match)?.isWritten !== false),
    /** The number of its matches with those whose claim is still being written. */
    claimsOn: ({ guests }: Server) => {
      let count = 0
      for (const match of guests) if (isOpen(match)) count += 1
      return count
    },

    /** The server says that players may come. */
    accepted: (match: HostedMatch) => {
      const offer = offers.get(match)
      if (offer === undefined) return
      offer.hasAccepted = true
      offer.since = Infinity
      assignIfReady(match)
    },
    /** The server cannot serve the match: it goes to another one. Returns false if it has begun. */
    refused: (match: HostedMatch): boolean => {
      if (match.phase === 'running') return false
      if (offers.has(match)) claimAgain(match, 'refused')
      return true
    },

    /** Takes over a match of an earlier process that had no server of its own. */
    adopt: (match: HostedMatch, { server, assignment, playingSince, lastsMs = Infinity }: Taken) => {
      const { order } = match
      fleet.addMatch(match)
      if (order === undefined && (server === undefined || playingSince === undefined)) match.unwanted = 'restarted'
      const isPlayed = match.unwanted === undefined && playingSince !== undefined
      const playsOn = isPlayed ? server?.requestId : undefined
      // Its players were sent to a server that is gone.
      if (playingSince !== undefined && playsOn === undefined) on.games.ended(match, match.unwanted ?? 'lost')
      if (match.unwanted !== undefined)
        return end(match, server !== undefined && playingSince === undefined ? unused(server) : [])
      if (server === undefined) {
        // Players who know where to connect have lost their server; others get another one.
        if (isPlayed) {
          fail(match, 'lost', false)
          return end(match)
        }
        offers.set(match, newOffer(true, 0))
        return void findServer(match)
      }
      match.server = server
      server.guests.add(match)
      // Earlier versions wrote the claim before the count.
      server.matchesServed = Math.max(server.matchesServed, server.guests.size)
      pools().began(server)
      if (playsOn !== undefined && assignment !== undefined) {
        match.placeAt(server, playsOn, assignment)
        // A clock that was set back must not prolong the match.
        match.readyAt = Math.min(playingSince ?? match.at, clock.now())
        match.endsAt = match.readyAt + lastsMs
        fleet.enterMatch(match, 'running')
        if (order !== undefined) on.ready(match, playsOn, assignment)
        return fleet.rememberPlayers(match)
      }
      const offer = newOffer(true, 1)
      // The server registers again, and says then whether it has the match. One that boots has a time limit of its own.
      if (server.phase === 'running') offer.since = clock.now() + LOST_AFTER_MS - ANSWER_MS
      offers.set(match, offer)
    },

    /** A match of an earlier process is being played on its own server, as far as this process knows its tickets. */
    goesOn: (match: HostedMatch) => {
      const { requestId, assignment, order } = match
      fleet.enterMatch(match, 'running')
      if (order !== undefined && requestId !== undefined && assignment !== undefined)
        on.ready(match, requestId, assignment)
      fleet.rememberPlayers(match)
    },

    /** The server has registered: it is expected to answer for the matches that wait for it. */
    registered: (server: Server) => {
      for (const match of server.guests) {
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

    /** Takes back matches from servers that do not answer, and ends those whose time is over. */
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
      if (now < nextEndsAt) return
      nextEndsAt = now + ENDS_GAP_MS
      endOverdue(now)
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
