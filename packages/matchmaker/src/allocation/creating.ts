import type { Coordinates } from '@muster/core'
import type { CreateDeployment } from '@muster/core/api'
import type { Clock, Random } from '@muster/core/clock'
import { matchTag } from '../tags.js'
import { backoffMs } from './backoff.js'
import { readCreateFailure } from './create-failure.js'
import { placesWithCapacity, type DeploymentService, type LocationService } from './deployment-service.js'
import type { Governor } from './governor.js'
import type { Journal } from './journal.js'
import type { Life } from './life.js'
import type { AllocatorListener } from './listener.js'
import { intentOf, type Match, type Order } from './match.js'
import type { Matches } from './matches.js'
import { deploymentRequest } from './request.js'
import { checkSize } from './request-size.js'
import { firstTry, middleOfMatch, nextTry } from './tries.js'

/** Asks for deployments, each written down in the journal before. */
export interface Creating {
  /** Resolves when the intent is written down; what comes of it is told to the listener. */
  begin(match: Match): Promise<void>
  /** What its last try had created is gone. */
  again(match: Match): Promise<void>
  /** Begins the tries that are due. */
  advance(now: number): void
}

export interface CreatingOptions {
  readonly service: DeploymentService
  /** Tells where there is capacity; without it, a match tries no other place. */
  readonly locations: LocationService | undefined
  readonly journal: Journal
  readonly governor: Governor
  readonly matches: Matches
  readonly life: Life
  readonly clock: Clock
  readonly random: Random
  readonly ownTag: string
  readonly webhookUrlOf: (match: Match) => string | undefined
  readonly on: AllocatorListener
}

/** Milliseconds for a create; it may wait in the client's queue for most of them. */
const CREATE_TIMEOUT_MS = 30_000
/** Between two tries of one match. */
const RETRY = { baseMs: 250, capMs: 2000 }

export function createCreating(options: CreatingOptions): Creating {
  const { service, locations, journal, governor, matches, life, clock, random, ownTag, webhookUrlOf, on } = options
  /** Matches that try again, and when: epoch milliseconds. */
  const waiting = new Map<Match, number>()

  const requestOf = (match: Match, order: Order): CreateDeployment => {
    const current = match.tries.at(-1) ?? firstTry(order.deploy.requireCachedLocations)
    return deploymentRequest(order, current, { matchmaker: ownTag, match: match.tag }, webhookUrlOf(match))
  }

  const failed = (match: Match, error: unknown): void => {
    on.problem('create', error, match)
    const failure = readCreateFailure(error)
    switch (failure.kind) {
      case 'lost':
        governor.failed(clock.now())
        return life.lose(match)
      case 'unavailable':
        governor.failed(clock.now())
        life.fail(match, 'unavailable', false)
        return life.end(match)
      case 'refused':
        life.fail(match, 'refused', true)
        return life.end(match)
      case 'no-capacity':
        if (failure.requestId !== undefined && match.unwanted === undefined && mayTryElsewhere(match)) {
          return life.retry(match, failure.requestId)
        }
        life.fail(match, 'no-capacity', true)
        if (failure.requestId === undefined) life.lose(match)
        else life.exists(match, failure.requestId)
    }
  }

  const mayTryElsewhere = (match: Match): boolean =>
    locations !== undefined || nextTry(match.tries, [], undefined) !== undefined

  const send = async (match: Match, request: CreateDeployment): Promise<void> => {
    if (match.unwanted !== undefined) return life.end(match)
    let requestId: string
    try {
      const answer = await service.create(request, { timeoutMs: CREATE_TIMEOUT_MS })
      requestId = answer.request_id
    } catch (error) {
      return failed(match, error)
    }
    governor.succeeded()
    life.exists(match, requestId)
  }

  /** False, and the match is over, if it cannot be written down. */
  const writeDown = async (match: Match): Promise<boolean> => {
    try {
      await journal.append({ kind: 'intent', ...intentOf(match) })
      return true
    } catch (error) {
      on.problem('journal', error, match)
      governor.failed(clock.now())
      life.fail(match, 'unavailable', false)
      life.end(match)
      return false
    }
  }

  const placesFor = async (match: Match, { deploy }: Order): Promise<readonly Coordinates[]> => {
    if (locations === undefined) return []
    try {
      return await placesWithCapacity(locations, deploy)
    } catch (error) {
      on.problem('list', error, match)
      return []
    }
  }

  return {
    begin: async (match) => {
      const { order } = match
      if (order === undefined) return
      match.tries.push(firstTry(order.deploy.requireCachedLocations))
      const request = requestOf(match, order)
      try {
        checkSize(request)
      } catch (error) {
        on.problem('create', error, match)
        return life.fail(match, 'refused', false)
      }
      matches.add(match)
      governor.sending(clock.now())
      if (await writeDown(match)) void send(match, request)
    },

    again: async (match) => {
      const { order, matchId } = match
      const places = order === undefined ? [] : await placesFor(match, order)
      const next = order && nextTry(match.tries, places, middleOfMatch(order.found))
      if (next === undefined) life.fail(match, 'no-capacity', true)
      if (next === undefined || match.unwanted !== undefined) return life.end(match)
      match.tries.push(next)
      matches.enter(match, 'creating')
      matches.retag(match, `${matchTag(matchId)}-${match.tries.length}`)
      governor.sending(clock.now())
      if (!(await writeDown(match))) return
      waiting.set(match, clock.now() + backoffMs(match.tries.length - 1, random(), RETRY))
    },

    advance: (now) => {
      for (const [match, at] of waiting) {
        if (match.order === undefined || (at > now && match.unwanted === undefined)) continue
        waiting.delete(match)
        void send(match, requestOf(match, match.order))
      }
    },
  }
}
