import { sameStatus, type DeploymentHint } from '@muster/core'
import type { DeploymentListEntry } from '@muster/core/api'
import type { Clock, Random } from '@muster/core/clock'
import type { Listening } from '../probe/listening.js'
import type { ReturnReason } from '../tickets/ticket.js'
import type { Sighting } from '../watching/sightings.js'
import type { Watcher } from '../watching/watcher.js'
import type { DeploymentService } from './deployment-service.js'
import { createFinder } from './finder.js'
import type { AllocatorListener } from './listener.js'
import { NOBODY, type Match, type MatchPhase } from './match.js'
import type { Matches } from './matches.js'
import type { Notes } from './notes.js'
import { createOverdue } from './overdue.js'
import { createReaper } from './reaper.js'
import { createStops } from './stops.js'

/** What a match goes through once its create was sent: to its server, to its end, or to another try. */
export interface Life {
  /** Its tickets leave it, once. */
  fail(match: Match, reason: ReturnReason, counts: boolean): void
  /** Nothing of it is left. */
  end(match: Match): void
  /** Its deployment exists, under this id. */
  exists(match: Match, requestId: string): void
  /** Its deployment may exist, under an id that is not known. */
  lose(match: Match): void
  /** Its deployment is of no use, and to be gone before another one is asked for. */
  retry(match: Match, requestId: string): void
  stop(match: Match, requestId: string): void
  /** Takes what the watcher finds out. */
  sighted(sighting: Sighting): void
  /** Players may come, or the server does not listen. */
  listened(match: Match, listens: boolean): void
  /** Takes a listed deployment that is not followed. */
  listed(entry: DeploymentListEntry): void
  /** Something may have happened to the deployment of this match. @param hint what its webhook says, if anything. */
  hinted(match: Match, hint: DeploymentHint | undefined): void
  /** Does what is due: stops, looks for lost deployments, time-outs. */
  advance(now: number): void
  giveUpSooner(): void
  stopsPending(): number
}

export interface LifeOptions {
  readonly service: DeploymentService
  readonly matches: Matches
  readonly notes: Notes
  readonly watcher: Pick<Watcher, 'follow' | 'settle' | 'forget' | 'hint'>
  readonly listening: Pick<Listening, 'begin' | 'forget'>
  readonly clock: Clock
  readonly random: Random
  /** Milliseconds for which the service may not show or know yet what it has created. */
  readonly listLagMs: number
  readonly reapAfterMs: number
  /** What it had is gone: it may try again. */
  readonly again: (match: Match) => void
  readonly on: AllocatorListener
}

export function createLife(options: LifeOptions): Life {
  const { service, matches, notes, watcher, listening, clock, random, listLagMs, reapAfterMs, again, on } = options

  const fail: Life['fail'] = (match, reason, counts) => {
    if (match.unwanted !== undefined) return
    match.unwanted = reason
    on.failed(match, reason, counts)
  }

  const end = (match: Match) => {
    matches.remove(match)
    reaper.ended(match.tag)
    notes.note({ kind: 'settled', matchId: match.matchId })
    const { ended } = match
    match.ended = NOBODY
    for (const tell of ended) tell()
  }

  const discard = (match: Match, requestId: string, confirmed: () => void) => {
    watcher.forget(requestId)
    listening.forget(match)
    reaper.stopping(requestId)
    stops.order({ requestId, knownAt: match.knownAt, confirmed })
  }

  const stop = (match: Match, requestId: string) => {
    // A restart in between must not take it for one on which people play.
    if (match.phase === 'running' || match.endsAt < Infinity) notes.note({ kind: 'dropped', matchId: match.matchId })
    matches.enter(match, 'stopping')
    discard(match, requestId, () => {
      end(match)
      on.stopped(match, requestId, match.unwanted ?? 'ended')
    })
  }

  const stopTwin = (match: Match, requestId: string) => {
    const twins = (match.twins ??= new Set())
    if (twins.has(requestId)) return
    twins.add(requestId)
    reaper.stopping(requestId)
    stops.order({ requestId, knownAt: clock.now(), confirmed: () => on.stopped(match, requestId, 'twin') })
  }

  const known = (match: Match, requestId: string) => {
    matches.identify(match, requestId)
    match.knownAt = clock.now()
    notes.note({ kind: 'created', matchId: match.matchId, requestId })
  }

  const exists = (match: Match, requestId: string) => {
    known(match, requestId)
    if (match.unwanted === undefined) {
      matches.enter(match, 'starting')
      watcher.follow(requestId, kindOf(match))
    } else {
      stop(match, requestId)
    }
    on.created(match, requestId)
  }

  const arrived = (match: Match, requestId: string, assignment: NonNullable<Match['assignment']>) => {
    matches.enter(match, 'running')
    on.ready(match, requestId, assignment)
  }

  /** The journal first: after a crash, a server that players know of must not be taken for one that nobody needs. */
  const assign = (match: Match) => {
    const { matchId, requestId, assignment, order } = match
    if (requestId === undefined || assignment === undefined) return
    match.endsAt = clock.now() + (order?.deploy.maxDurationMs ?? Infinity)
    const noted = notes.note({ kind: 'assigned', matchId, endsAt: match.endsAt, assignment })
    if (noted === undefined) return arrived(match, requestId, assignment)
    void noted.then(() => {
      if (match.phase === 'warming') arrived(match, requestId, assignment)
    })
  }

  const listed = (entry: DeploymentListEntry) => {
    const match = matches.byTags(entry.tags ?? [])
    if (match === undefined) {
      reaper.stray(entry)
    } else if (match.phase === 'finding') {
      finder.end(match)
      exists(match, entry.request_id)
    } else if (match.requestId !== undefined && match.requestId !== entry.request_id) {
      stopTwin(match, entry.request_id)
    }
  }

  const endOverdue = createOverdue({ matches, fail, stop })
  const stops = createStops({
    service,
    clock,
    random,
    listLagMs,
    problem: (requestId, error) => on.problem('stop', error, matches.byRequest(requestId), requestId),
  })
  const reaper = createReaper({ stops, clock, graceMs: reapAfterMs, listLagMs, reaped: on.reaped })
  const finder = createFinder({
    service,
    clock,
    listLagMs,
    found: listed,
    late: (match) => fail(match, 'lost', false),
    absent: end,
    problem: (error, match) => on.problem('find', error, match),
  })

  return {
    fail,
    end,
    exists,
    stop,
    listed,
    lose: (match) => {
      matches.enter(match, 'finding')
      finder.begin(match)
    },

    retry: (match, requestId) => {
      known(match, requestId)
      matches.enter(match, 'retrying')
      discard(match, requestId, () => {
        // First, so that the match is not taken for stopped.
        matches.release(match)
        on.stopped(match, requestId, 'no-capacity')
        if (match.unwanted === undefined) again(match)
        else end(match)
      })
      on.created(match, requestId)
    },

    sighted: (sighting) => {
      const { requestId } = sighting
      const match = matches.byRequest(requestId)
      if (match === undefined || match.phase === 'stopping' || match.phase === 'retrying') return
      if (sighting.kind !== 'ready') {
        if (match.phase === 'running') match.unwanted ??= 'ended'
        else fail(match, 'failed', true)
        stop(match, requestId)
      } else if (match.phase === 'starting') {
        matches.enter(match, 'warming')
        match.assignment = sighting.assignment
        watcher.settle(requestId)
        on.up(match, requestId, sighting.unseenMs)
        // A listener may have dropped it.
        if ((match.phase as MatchPhase) === 'warming') listening.begin(match, sighting.assignment)
      }
    },

    listened: (match, listens) => {
      if (match.phase !== 'warming' || match.requestId === undefined) return
      if (listens) return assign(match)
      fail(match, 'not-listening', true)
      stop(match, match.requestId)
    },

    hinted: (match, hint) => {
      const { phase, requestId } = match
      if (phase === 'finding') finder.hint(match)
      // It may come before the create is answered.
      else if (phase === 'creating' && hint !== undefined) watcher.hint(hint.request_id)
      // That it is READY is known by then, and to read it again would cost others their time.
      else if (requestId !== undefined && (phase === 'starting' || !saysReady(hint))) watcher.hint(requestId)
    },

    advance: (now) => {
      stops.advance(now)
      finder.advance(now)
      endOverdue(now)
    },

    giveUpSooner: () => finder.giveUpSooner(),
    stopsPending: stops.pending,
  }
}

const saysReady = (hint: DeploymentHint | undefined) =>
  hint?.current_status !== undefined && sameStatus(hint.current_status, 'READY')

/** Deployments of one kind take about as long as one another. */
const kindOf = ({ order, queue }: Match) =>
  order === undefined ? queue : `${order.deploy.application}/${order.deploy.version}`
