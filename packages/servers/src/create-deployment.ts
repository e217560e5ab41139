import {
  ClientClosed,
  Conflict,
  ConnectionLost,
  DependencyFailed,
  Forbidden,
  InvalidInput,
  MusterError,
  NoCapacity,
  NotFound,
  RateLimited,
  RouteMissing,
  TimedOut,
  Unauthorized,
  SendAborted,
} from '@muster/core'
import type { CreateDeployment, DeploymentCreated } from '@muster/core/api'
import type { AllocatorListener } from './allocations.js'
import { checkSize, deploymentRequest, foundMatch, MatchTooLarge } from './deploy-request.js'
import { TicketsGone } from './errors.js'
import { type ServerEntry, type ServerLogWriter, WRITTEN } from './store/index.js'
import {
  type Allocation,
  intentEntry,
  type Order,
  resumptionOf,
  credentialOf,
  type DeploymentService,
} from './records/index.js'
import { createFurtherAttempts, firstAttempt, type FurtherAttemptsOptions } from './retry-placement.js'
import type { ServerLifecycle } from './server-lifecycle.js'
import { createConcurrencyLimit } from './server-limits.js'
import type { ServerKeys } from './game-servers/index.js'

type CreateFailure =
  /** The deployment may have been created: it is looked for by its tag. */
  | { readonly kind: 'lost' }
  /** Nothing was created, and the match is not at fault: a later create may succeed. */
  | { readonly kind: 'unavailable' }
  /** Nothing was created, and repeating the create would not help. */
  | { readonly kind: 'refused' }
  /** No capacity. A deployment that was created all the same must be stopped; without an id, it is looked for first. */
  | { readonly kind: 'no-capacity'; readonly requestId: string | undefined }

const refusals = [InvalidInput, NotFound, Conflict, DependencyFailed]
const unavailabilities = [Unauthorized, Forbidden, RateLimited, RouteMissing, ClientClosed]

/** A failure that does not prove that nothing was created counts as lost. */
export function readCreateFailure(error: unknown): CreateFailure {
  if (error instanceof NoCapacity) return { kind: 'no-capacity', requestId: error.requestId }
  // An error that names a deployment proves that it exists, whatever else the error says.
  if (error instanceof MusterError && error.requestId !== undefined)
    return { kind: 'no-capacity', requestId: error.requestId }
  if (error instanceof ConnectionLost || error instanceof TimedOut || error instanceof SendAborted)
    return { kind: error.sent ? 'lost' : 'unavailable' }
  if (unavailabilities.some((kind) => error instanceof kind)) return { kind: 'unavailable' }
  if (refusals.some((kind) => error instanceof kind)) return { kind: 'refused' }
  return { kind: 'lost' }
}

/** Sends create requests, each after the log holds its intent. */
export type DeploymentCreation = ReturnType<typeof createDeploymentCreation>

type OfFurtherAttempts = Pick<FurtherAttemptsOptions, 'locations' | 'allocations' | 'governor' | 'clock' | 'random'>

interface DeploymentCreationOptions extends OfFurtherAttempts {
  readonly service: DeploymentService
  readonly writer: Pick<ServerLogWriter, 'append' | 'areKept'>
  /** See `ServerLog`. */
  readonly resumes: boolean
  readonly lifecycle: ServerLifecycle
  readonly keys: Pick<ServerKeys, 'tokenOf'>
  readonly maxCreatesInFlight: number
  readonly ownTag: string
  readonly webhookUrlOf: (allocation: Allocation) => string | undefined
  readonly apiUrl: string | undefined
  /** Whether players were promised this server: what fails before it is created is repeated. */
  readonly isPromised: (allocation: Allocation) => boolean
  readonly on: AllocatorListener
}

/** Milliseconds for a create, most of which it may spend in the client's queue. */
const CREATE_TIMEOUT_MS = 30_000
/** The first attempt, with or without cached locations only; one object shared by all matches. */
const FIRST = [firstAttempt(false)]
const FIRST_CACHED = [firstAttempt(true)]

export function createDeploymentCreation(options: DeploymentCreationOptions) {
  const { service, writer, resumes, governor, allocations, lifecycle, clock, keys, on } = options
  const { ownTag, webhookUrlOf, apiUrl, isPromised } = options

  /** @throws {MatchTooLarge} */
  const requestOf = (allocation: Allocation, order: Order): CreateDeployment => {
    const current = allocation.tries.at(-1) ?? firstAttempt(order.deploy.requireCachedLocations)
    const wanted = {
      found: foundMatch(allocation, order, current.placement),
      deploy: order.deploy,
      token: keys.tokenOf(credentialOf(allocation.tag)),
      near: order.near ?? order.tickets,
      pool: allocation.pool,
    }
    const request = deploymentRequest(
      wanted,
      current,
      { matchmaker: ownTag, match: allocation.tag },
      { webhook: webhookUrlOf(allocation), api: apiUrl },
    )
    checkSize(request, wanted.found)
    return request
  }

  const withResumption = <Entry extends ServerEntry>(entry: Entry, allocation: Allocation): Entry =>
    resumes ? { ...entry, resumption: resumptionOf(allocation) } : entry

  /** Ends an allocation whose create was not sent. */
  const end = (allocation: Allocation): void => {
    governor.forgone(allocation)
    lifecycle.end(allocation)
  }

  /** Ends an allocation whose environment variables are too large. */
  const refused = (allocation: Allocation, error: unknown): void => {
    on.problem('create', error, allocation)
    lifecycle.fail(allocation, 'refused', error instanceof MatchTooLarge ? error.ticketIds : false)
    end(allocation)
  }

  /** @param sentAt epoch milliseconds. */
  const failed = (allocation: Allocation, error: unknown, sentAt: number): void => {
    on.problem('create', error, allocation)
    const failure = readCreateFailure(error)
    switch (failure.kind) {
      case 'lost':
        governor.failed(sentAt, clock.now())
        return lifecycle.lose(allocation)
      case 'unavailable':
        governor.failed(sentAt, clock.now())
        if (isPromised(allocation)) return further.repeat(allocation)
        lifecycle.fail(allocation, 'unavailable', false)
        return lifecycle.end(allocation)
      case 'refused':
        governor.answered(clock.now())
        lifecycle.fail(allocation, 'refused', true)
        return lifecycle.end(allocation)
      case 'no-capacity':
        governor.answered(clock.now())
        if (failure.requestId !== undefined && allocation.unwanted === undefined && further.arePossible(allocation)) {
          return lifecycle.retry(allocation, failure.requestId)
        }
        lifecycle.fail(allocation, 'no-capacity', true)
        if (failure.requestId === undefined) lifecycle.lose(allocation)
        else lifecycle.exists(allocation, failure.requestId)
    }
  }

  const send = async (allocation: Allocation): Promise<void> => {
    const { order } = allocation
    if (order === undefined) return
    if (order.placements !== undefined && allocation.placements === undefined) {
      const placements = order.placements()
      allocation.placements = placements instanceof Promise ? await placements : placements
      if (allocation.unwanted !== undefined) return end(allocation)
      allocation.tries = [firstAttempt(order.deploy.requireCachedLocations, allocation.placements)]
    }
    let request: CreateDeployment
    try {
      // The request is made only when its turn comes, because it is large and many may wait.
      request = requestOf(allocation, order)
    } catch (error) {
      return refused(allocation, error)
    }
    // After a crash, only creates that were sent have to be looked for.
    const noted = writer.append(
      withResumption({ kind: 'sent', matchId: allocation.matchId, at: clock.now() }, allocation),
    )
    if (noted !== undefined) {
      try {
        await noted
      } catch (error) {
        if (!isPromised(allocation)) return unwritten(allocation, error)
        on.problem('store', error, allocation)
        governor.failed(clock.now(), clock.now())
        governor.forgone(allocation)
        return further.repeat(allocation)
      }
      if (allocation.unwanted !== undefined) return end(allocation)
    }
    const sentAt = clock.now()
    governor.sent(allocation, sentAt)
    let answer: DeploymentCreated
    try {
      answer = await service.create(request, { timeoutMs: CREATE_TIMEOUT_MS })
    } catch (error) {
      return failed(allocation, error, sentAt)
    }
    governor.answered(clock.now())
    lifecycle.exists(allocation, answer.request_id)
  }
  const limit = createConcurrencyLimit(options.maxCreatesInFlight, send)

  const ask = (allocation: Allocation): void => {
    if (allocation.unwanted === undefined) limit.add(allocation)
    else end(allocation)
  }

  const unwritten = (allocation: Allocation, error: unknown): void => {
    if (error instanceof TicketsGone) {
      lifecycle.fail(allocation, 'dissolved', false)
    } else {
      on.problem('store', error, allocation)
      governor.failed(clock.now(), clock.now())
      lifecycle.fail(allocation, 'unavailable', false)
    }
    end(allocation)
  }

  /** Resolves when the intent is stored and the attempt goes on, or the write failed and the allocation has ended. */
  const writeDown = (allocation: Allocation, goOn: (allocation: Allocation) => void): Promise<void> => {
    const appended = writer.areKept ? writer.append(withResumption(intentEntry(allocation), allocation)) : undefined
    if (appended !== undefined)
      return appended.then(
        () => goOn(allocation),
        (error: unknown) => unwritten(allocation, error),
      )
    goOn(allocation)
    return WRITTEN
  }

  const further = createFurtherAttempts({
    locations: options.locations,
    allocations,
    governor,
    lifecycle,
    clock,
    random: options.random,
    writeDown,
    ask,
    problem: on.problem,
  })

  return {
    /** Begins the first attempt. Resolves once the log holds the intent. Reports the outcome to `AllocatorListener`. */
    begin: (allocation: Allocation) => {
      allocation.tries = allocation.order?.deploy.requireCachedLocations === true ? FIRST_CACHED : FIRST
      allocations.add(allocation)
      governor.planned(allocation, clock.now())
      return writeDown(allocation, ask)
    },

    /** Sends the create of a match whose intent an earlier process wrote, and which was never sent. */
    resume: (allocation: Allocation) => {
      governor.planned(allocation, clock.now())
      ask(allocation)
    },
    /** Schedules the next placement attempt. Call once the previous deployment is gone. */
    retry: further.plan,

    /** Cancels a create that was not sent: nothing of it is left. Returns false if it is under way, or was sent. */
    forget: (allocation: Allocation) => {
      const isWaiting = limit.remove(allocation)
      if (isWaiting) end(allocation)
      return isWaiting
    },

    /** Begins the attempts that are due. */
    advance: further.advance,
    /** Stops sending creates. Logged intents stay; the next process takes them over. */
    sendNoMore: limit.stop,
    /** Number of creates that were sent and are not answered yet. */
    inFlight: limit.underWay,
    /** Number of creates that wait for their turn. */
    waiting: limit.waiting,
  }
}
