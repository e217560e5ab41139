import type { DeploymentListEntry } from '@muster/core/api'
import type { Clock, Random } from '@muster/core/clock'
import { MatchmakerClosed } from '../errors.js'
import type { StopReason } from '../events.js'
import type { Queue } from '../queue.js'
import { matchTag } from '../tags.js'
import type { ReturnReason } from '../tickets/ticket.js'
import type { Sighting, Watcher } from '../watching/watcher.js'
import { readCreateFailure } from './create-failure.js'
import type { DeploymentService } from './deployment-service.js'
import { createFinder } from './finder.js'
import { createGovernor, type SpendBound } from './governor.js'
import type { Intent, Journal, OpenIntent } from './journal.js'
import type { AllocatorListener } from './listener.js'
import { newMatch, type FoundMatch, type Match } from './match.js'
import { createMatches } from './matches.js'
import { createNotes } from './notes.js'
import { deploymentRequest } from './request.js'
import { createStops } from './stops.js'

/** Gets a server for each match, and lets go of none before the service has confirmed its end. */
export interface Allocator {
  /** Takes over what the journal says may still exist, once. False while it cannot be read: then nothing may be allocated. */
  recover(): Promise<boolean>
  /** How many matches may be allocated now. */
  room(now: number): number
  /** Resolves when the intent is written down; what comes of it is told to the listener. */
  allocate(match: FoundMatch, queue: Queue): Promise<void>
  /** The match is not wanted any more; the caller sees to its tickets. */
  drop(match: Match, reason: StopReason): void
  find(matchId: string): Match | undefined
  matches(): Iterable<Match>
  /** Takes what the watcher finds out. */
  sighted(sighting: Sighting): void
  /** Takes a listed deployment that is not followed. */
  listed(entry: DeploymentListEntry): void
  /** Does what is due: stops, looks for lost deployments, time-outs. */
  advance(now: number): void
  /** Resolves when nothing of the match is left. @throws {MatchmakerClosed} */
  whenEnded(match: Match): Promise<void>
  /** From now on, a deployment that several looks did not find is given up. */
  giveUpSooner(): void
  /** Waits for the journal, and lets go of whoever waits for a match to end. */
  close(): Promise<void>
  /** Stops that are not confirmed. */
  readonly stopsPending: number
  /** Epoch milliseconds until which nothing is created, because the service takes nothing. */
  readonly pausedUntil: number
}

export interface AllocatorOptions {
  readonly service: DeploymentService
  readonly journal: Journal
  readonly watcher: Watcher
  readonly clock: Clock
  readonly random: Random
  /** The tag of all deployments of this matchmaker. */
  readonly ownTag: string
  readonly bound: SpendBound
  /** Milliseconds for which the service may not show or know yet what it has created. */
  readonly listLagMs: number
  readonly on: AllocatorListener
}

/** Milliseconds for a create; it may wait in the client's queue for most of them. */
const CREATE_TIMEOUT_MS = 30_000

export function createAllocator(options: AllocatorOptions): Allocator {
  const { service, journal, watcher, clock, random, ownTag, bound, listLagMs, on } = options
  const matches = createMatches()
  const governor = createGovernor(bound, random)
  const notes = createNotes(journal, (error, matchId) => on.problem('journal', error, matches.find(matchId)))
  let recovering: Promise<void> | undefined

  /** Its tickets leave it, once. */
  const fail = (match: Match, reason: ReturnReason, counts: boolean) => {
    if (match.unwanted !== undefined) return
    match.unwanted = reason
    on.failed(match, reason, counts)
  }

  /** Nothing of it is left. */
  const end = (match: Match) => {
    matches.remove(match)
    notes.note({ kind: 'settled', matchId: match.matchId })
    for (const ended of match.ended) ended()
  }

  const stop = (match: Match, requestId: string) => {
    match.phase = 'stopping'
    watcher.forget(requestId)
    const confirmed = () => {
      end(match)
      on.stopped(match, requestId, match.unwanted ?? 'ended')
    }
    stops.order({ requestId, knownAt: match.knownAt, confirmed })
  }

  const stopTwin = (match: Match, requestId: string) => {
    if (match.twins.has(requestId)) return
    match.twins.add(requestId)
    stops.order({ requestId, knownAt: clock.now(), confirmed: () => on.stopped(match, requestId, 'twin') })
  }

  /** Its deployment exists, under this id. */
  const exists = (match: Match, requestId: string) => {
    matches.identify(match, requestId)
    match.knownAt = clock.now()
    notes.note({ kind: 'created', matchId: match.matchId, requestId })
    if (match.unwanted === undefined) {
      match.phase = 'starting'
      watcher.follow(requestId)
    } else {
      stop(match, requestId)
    }
    on.created(match, requestId)
  }

  /** Its deployment may exist, under an id that is not known. */
  const lose = (match: Match) => {
    match.phase = 'finding'
    finder.begin(match)
  }

  const listed = (entry: DeploymentListEntry) => {
    const match = matches.byTags(entry.tags ?? [])
    if (match?.phase === 'finding') {
      finder.end(match)
      exists(match, entry.request_id)
    } else if (match?.requestId !== undefined && match.requestId !== entry.request_id) {
      stopTwin(match, entry.request_id)
    }
  }

  const createFailed = (match: Match, error: unknown) => {
    on.problem('create', error, match)
    const failure = readCreateFailure(error)
    switch (failure.kind) {
      case 'lost':
        governor.failed(clock.now())
        return lose(match)
      case 'unavailable':
        governor.failed(clock.now())
        fail(match, 'unavailable', false)
        return end(match)
      case 'refused':
        fail(match, 'refused', true)
        return end(match)
      case 'no-capacity':
        fail(match, 'no-capacity', true)
        if (failure.requestId === undefined) lose(match)
        else exists(match, failure.requestId)
    }
  }

  const create = async (match: Match, found: FoundMatch, queue: Queue): Promise<void> => {
    if (match.unwanted !== undefined) return end(match)
    let requestId: string
    try {
      const answer = await service.create(deploymentRequest(found, queue, ownTag), { timeoutMs: CREATE_TIMEOUT_MS })
      requestId = answer.request_id
    } catch (error) {
      return createFailed(match, error)
    }
    governor.succeeded()
    exists(match, requestId)
  }

  const recovered = ({ requestId, assigned, ...intent }: OpenIntent) => {
    const match = newMatch(intent, Infinity)
    matches.add(match)
    if (!assigned) match.unwanted = 'restarted'
    if (requestId === undefined) return lose(match)
    exists(match, requestId)
    if (!assigned) return
    match.phase = 'running'
    watcher.settle(requestId)
  }

  const recover = async (): Promise<void> => {
    for (const open of await journal.open()) recovered(open)
  }

  const stops = createStops({
    service,
    clock,
    random,
    listLagMs,
    problem: (requestId, error) => on.problem('stop', error, matches.byRequest(requestId), requestId),
  })
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
    recover: async () => {
      recovering ??= recover()
      try {
        await recovering
        return true
      } catch (error) {
        recovering = undefined
        on.problem('journal', error)
        return false
      }
    },

    room: (now) => governor.room(matches.all(), now),

    allocate: async (found, queue) => {
      const intent: Intent = {
        matchId: found.id,
        queue: queue.name,
        tag: matchTag(found.id),
        ticketIds: found.tickets.map((ticket) => ticket.id),
        at: found.foundAt,
      }
      const match = newMatch(intent, queue.deploy.readyTimeoutMs)
      matches.add(match)
      try {
        await journal.append({ kind: 'intent', ...intent })
      } catch (error) {
        on.problem('journal', error, match)
        governor.failed(clock.now())
        fail(match, 'unavailable', false)
        return end(match)
      }
      void create(match, found, queue)
    },

    drop: (match, reason) => {
      match.unwanted ??= reason
      if (match.requestId !== undefined && match.phase !== 'stopping') stop(match, match.requestId)
    },

    find: (matchId) => matches.find(matchId),
    matches: () => matches.all(),
    listed,

    sighted: (sighting) => {
      const match = matches.byRequest(sighting.requestId)
      if (match === undefined || match.phase === 'stopping') return
      if (sighting.kind !== 'ready') {
        if (match.phase === 'starting') fail(match, 'failed', true)
        else match.unwanted ??= 'ended'
        stop(match, sighting.requestId)
      } else if (match.phase === 'starting') {
        match.phase = 'running'
        match.assignment = sighting.assignment
        watcher.settle(sighting.requestId)
        notes.note({ kind: 'assigned', matchId: match.matchId })
        on.ready(match, sighting.requestId, sighting.assignment)
      }
    },

    advance: (now) => {
      stops.advance(now)
      finder.advance(now)
      for (const match of matches.all()) {
        if (match.phase !== 'starting' || match.requestId === undefined || now - match.knownAt < match.readyTimeoutMs) continue
        fail(match, 'too-slow', true)
        stop(match, match.requestId)
      }
    },

    whenEnded: (match) =>
      new Promise((resolve, reject) => {
        match.ended.push((error) => (error === undefined ? resolve() : reject(error)))
      }),
    giveUpSooner: () => finder.giveUpSooner(),
    close: async () => {
      for (const match of matches.all()) {
        const error = new MatchmakerClosed(`the matchmaker was closed before the end of match ${match.matchId} was confirmed`)
        for (const ended of match.ended.splice(0)) ended(error)
      }
      await notes.written()
    },
    get stopsPending() {
      return stops.pending
    },
    get pausedUntil() {
      return governor.pausedUntil
    },
  }
}
