import type { Coordinates } from '@muster/core'
import type { CreateDeployment } from '@muster/core/api'
import type { Clock, Random } from '@muster/core/clock'
import { newId } from '../ids.js'
import { matchTag } from '../tags.js'
import { backoffMs } from './backoff.js'
import { readCreateFailure } from './create-failure.js'
import { placesWithCapacity, type DeploymentService, type LocationService } from './deployment-service.js'
import { foundMatch } from './found-match.js'
import type { Governor } from './governor.js'
import type { Journal } from './journal.js'
import type { Life } from './life.js'
import type { AllocatorListener } from './listener.js'
import { intentEntry, type Match, type Order } from './match.js'
import type { Matches } from './matches.js'
import { deploymentRequest } from './request.js'
import { checkSize, MatchTooLarge } from './request-size.js'
import { firstTry, middleOfMatch, nextTry } from './tries.js'
import { createTurns } from './turns.js'

/** Asks for deployments, each written down in the journal before. */
export interface Creating {
  /** Resolves when the intent is written down; what comes of it is told to the listener. */
  begin(match: Match): Promise<void>
  /** What its last try had created is gone. */
  again(match: Match): Promise<void>
  /** It is not wanted any more: if its create was not sent yet, it never will be, and nothing of it is left. */
  forget(match: Match): void
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
  readonly maxCreatesInFlight: number
  readonly ownTag: string
  readonly webhookUrlOf: (match: Match) => string | undefined
  readonly on: AllocatorListener
}

/** Milliseconds for a create; it may wait in the client's queue for most of them. */
const CREATE_TIMEOUT_MS = 30_000
const WRITTEN = Promise.resolve()
/** The first try, with or without cached locations only; shared by all matches. */
const FIRST = [firstTry(false)]
const FIRST_CACHED = [firstTry(true)]
/** Between two tries of one match. */
const RETRY = { baseMs: 250, capMs: 2000 }

export function createCreating(options: CreatingOptions): Creating {
  const { service, locations, journal, governor, matches, life, clock, random, ownTag, webhookUrlOf, on } = options
  /** Matches that try again, and when: epoch milliseconds. */
  const waiting = new Map<Match, number>()

  /** @throws {MatchTooLarge} */
  const requestOf = (match: Match, order: Order): CreateDeployment => {
    const current = match.tries.at(-1) ?? firstTry(order.deploy.requireCachedLocations)
    order.secret ??= newId(random)
    const wanted = { found: foundMatch(match, order), deploy: order.deploy, secret: order.secret }
    const request = deploymentRequest(wanted, current, { matchmaker: ownTag, match: match.tag }, webhookUrlOf(match))
    checkSize(request)
    return request
  }

  /** Its create was not sent. */
  const end = (match: Match): void => {
    governor.forgone(match)
    life.end(match)
  }

  const failed = (match: Match, error: unknown): void => {
    on.problem('create', error, match)
    if (error instanceof MatchTooLarge) {
      life.fail(match, 'refused', false)
      return end(match)
    }
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

  const send = async (match: Match): Promise<void> => {
    const { order } = match
    if (order === undefined) return
    let requestId: string
    try {
      // Made only now, because it is large, and there may be many who wait.
      const request = requestOf(match, order)
      governor.sent(match, clock.now())
      const answer = await service.create(request, { timeoutMs: CREATE_TIMEOUT_MS })
      requestId = answer.request_id
    } catch (error) {
      return failed(match, error)
    }
    governor.succeeded()
    life.exists(match, requestId)
  }
  const turns = createTurns(options.maxCreatesInFlight, send)

  const ask = (match: Match): void => {
    if (match.unwanted === undefined) turns.add(match)
    else end(match)
  }

  const unwritten = (match: Match, error: unknown): void => {
    on.problem('journal', error, match)
    governor.failed(clock.now())
    life.fail(match, 'unavailable', false)
    end(match)
  }

  /** Resolves when its intent is in the journal, and it goes on; or could not be written, and it is over. */
  const writeDown = (match: Match, goOn: (match: Match) => void): Promise<void> => {
    let appended: void | Promise<void>
    try {
      appended = journal.append(intentEntry(match))
    } catch (error) {
      appended = Promise.reject(error as Error)
    }
    if (appended !== undefined) return appended.then(() => goOn(match), (error: unknown) => unwritten(match, error))
    goOn(match)
    return WRITTEN
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
    begin: (match) => {
      match.tries = match.order?.deploy.requireCachedLocations === true ? FIRST_CACHED : FIRST
      matches.add(match)
      governor.planned(match)
      return writeDown(match, ask)
    },

    again: async (match) => {
      const { order, matchId } = match
      const places = order === undefined ? [] : await placesFor(match, order)
      const next = order && nextTry(match.tries, places, middleOfMatch(order))
      if (next === undefined) life.fail(match, 'no-capacity', true)
      if (next === undefined || match.unwanted !== undefined) return life.end(match)
      match.tries = [...match.tries, next]
      matches.enter(match, 'creating')
      match.tag = matchTag(matchId, match.tries.length)
      await writeDown(match, () => {
        waiting.set(match, clock.now() + backoffMs(match.tries.length - 1, random(), RETRY))
      })
    },

    forget: (match) => {
      if (turns.remove(match)) end(match)
    },

    advance: (now) => {
      for (const [match, at] of waiting) {
        if (match.unwanted === undefined && (at > now || !governor.mayCreate(now))) continue
        waiting.delete(match)
        governor.planned(match)
        ask(match)
      }
    },
  }
}
