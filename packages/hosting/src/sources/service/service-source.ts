import { AlreadyTerminated, NotFound } from '@muster/core'
import type { DeploymentListEntry } from '@muster/core/api'
import { type Clock, dateOf, type Random } from '@muster/core/clock'
import { assignmentOf, serverIdsOf } from '../../records/index.js'
import type { CreateOutcome, OpenSource, ServerSource, SourceListener } from '../source.js'
import { createStops } from '../stops.js'
import { createFailure } from '../create-failure.js'
import { deploymentRequest } from './create-request.js'
import {
  ageOf,
  type DeploymentService,
  type LocationService,
  placesWithCapacity,
  priorities,
} from './deployment-service.js'
import { createFinder } from './lost-creates.js'
import { createReaper } from './strays.js'
import { createContainerLogReader, createWatcher } from './watching/index.js'
import { webhookUrlOf } from '../webhooks.js'

export interface ServiceSourceOptions {
  readonly service: DeploymentService
  /** Tells where there is capacity. Without it, a match that found no capacity is not tried elsewhere. */
  readonly locations?: LocationService | undefined
  readonly clock: Clock
  readonly random: Random
  /** Tag of all deployments of this matchmaker. */
  readonly ownTag: string
  /** Status reads per second at most. */
  readonly readsPerSecond: number
  /** Milliseconds for which the service's list may not show a new deployment. */
  readonly listLagMs: number
  /** Milliseconds after which a deployment with our tag and without a match is stopped; Infinity for never. */
  readonly orphanGraceMs: number
  /** Public URL of the webhooks; undefined for none. */
  readonly webhookUrl?: string | undefined
}

/** Milliseconds for a create, most of which it may spend in the client's queue. */
const CREATE_TIMEOUT_MS = 30_000
const LOOK_TIMEOUT_MS = 10_000
const STOP_TIMEOUT_MS = 20_000

/**
 * Servers that the deployment service creates, each with two tags: one for all of this matchmaker, one for itself. It
 * has no key of idempotence, its list lags, and answers get lost: a create without an answer is looked for by its tag.
 */
export function createServiceSource(options: ServiceSourceOptions): OpenSource {
  return (listener) => openServiceSource(options, listener)
}

function openServiceSource(options: ServiceSourceOptions, on: SourceListener): ServerSource {
  const { locations, clock, random, ownTag, listLagMs, webhookUrl } = options
  const service = notingAnswers(options.service, on)

  /** A listed deployment that is not followed. */
  const listed = (entry: DeploymentListEntry) => {
    if (!on.seen(serverIdsOf(entry.tags), entry.request_id)) reaper.stray(entry)
  }
  const watcher = createWatcher({
    service,
    tag: ownTag,
    clock,
    listLagMs,
    readsPerSecond: options.readsPerSecond,
    pushed: webhookUrl !== undefined,
    report: on.changed,
    stranger: listed,
    swept: (begunAt) => reaper.swept(begunAt),
    problem: (during, error, handle) => on.problem(during, error, { handle }),
  })
  /**
   * The news that a deployment has ended or is unknown confirms a stop, as an answer of success does (200 or 202, which
   * the service keeps when the deployment is READY or ERROR). Of a deployment as new as `listLagMs` 'unknown' is not
   * believed: the service may not have written it down yet.
   */
  const isStopConfirmedBy = (error: unknown, knownAt: number) =>
    error instanceof AlreadyTerminated || (error instanceof NotFound && clock.now() - knownAt >= listLagMs)
  const stops = createStops({
    request: (handle) => service.stop({ request_id: handle }, { timeoutMs: STOP_TIMEOUT_MS }),
    isConfirmedBy: isStopConfirmedBy,
    clock,
    random,
    problem: (handle, error) => on.problem('stop', error, { handle }),
  })
  const reaper = createReaper({ stops, clock, graceMs: options.orphanGraceMs, listLagMs, reaped: on.reaped })
  const finder = createFinder({
    service,
    clock,
    ownTag,
    listLagMs,
    found: listed,
    late: on.late,
    absent: on.absent,
    problem: (error, id) => on.problem('find', error, { id }),
  })

  return {
    prepare: (order) => {
      const webhook = webhookUrl === undefined ? undefined : webhookUrlOf(webhookUrl, order.token)
      const request = deploymentRequest(order, { tag: ownTag, webhook })
      return async (mayWrite): Promise<CreateOutcome> => {
        try {
          const { request_id: handle } = await service.create(request, { timeoutMs: CREATE_TIMEOUT_MS, mayWrite })
          return { kind: 'created', handle }
        } catch (error) {
          return createFailure(error)
        }
      }
    },
    stop: (order) => {
      watcher.forget(order.handle)
      reaper.stopping(order.handle)
      stops.order(order)
    },
    stopsPending: stops.pending,
    oldestStopMs: stops.oldestMs,
    find: finder.begin,
    found: finder.end,
    claimed: finder.claimed,
    giveUpSooner: finder.giveUpSooner,
    ended: reaper.ended,
    strays: reaper.strays,
    follow: watcher.follow,
    settle: watcher.settle,
    hint: ({ id, handle }) => {
      if (handle !== undefined) watcher.hint(handle)
      else if (id !== undefined) finder.hint(id)
    },
    look: async (handle) => {
      try {
        const asked = { timeoutMs: LOOK_TIMEOUT_MS, priority: priorities.routine }
        const deployment = await service.get({ request_id: handle }, asked)
        return { ageMs: ageOf(deployment, dateOf(clock)), location: assignmentOf(deployment)?.location }
      } catch (error) {
        if (error instanceof NotFound) return undefined
        throw error
      }
    },
    logs: createContainerLogReader(service, clock),
    capacity: locations && ((deploy) => placesWithCapacity(locations, deploy)),
    watch: watcher.look,
    advance: (now) => {
      stops.advance(now)
      finder.advance(now)
    },
    close: () => {
      watcher.close()
      finder.close()
    },
  }
}

/** Whether the service answered, although it knows no such deployment any more. */
const isAnswer = (error: unknown) => error instanceof NotFound || error instanceof AlreadyTerminated

/** The service, with its answers to reads and stops told. */
function notingAnswers(service: DeploymentService, on: SourceListener): DeploymentService {
  const noting = <Answer>(call: Promise<Answer>, done: () => void, failed: (error: unknown) => void) => {
    call.then(done, (error: unknown) => (isAnswer(error) ? done() : failed(error)))
    return call
  }
  const { logs } = service
  return {
    create: (input, options) => service.create(input, options),
    ...(logs && { logs: logs.bind(service) }),
    get: (input, options) => noting(service.get(input, options), on.answered, on.unanswered),
    list: (input, options) => noting(service.list(input, options), on.answered, on.unanswered),
    stop: (input, options) =>
      noting(
        service.stop(input, options),
        () => on.stopped(input.request_id),
        (error) => on.unstopped(input.request_id, error),
      ),
  }
}
