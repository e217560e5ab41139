import { AlreadyTerminated, NotFound, RouteMissing } from '@muster/core'
import type { DeploymentListEntry } from '@muster/core/api'
import { type Clock, dateOf, type Random } from '@muster/core/clock'
import { assignmentOf, serverIdsOf } from '../../records/index.js'
import type { OpenSource, ServerSource, SourceListener } from '../source.js'
import { createStops, type FailedStop } from '../stops.js'
import { createOutcome } from '../create-failure.js'
import { deploymentRequest } from './create-request.js'
import {
  ageOf,
  createCapacityReader,
  type DeploymentService,
  type LocationService,
  priorities,
} from './deployment-service.js'
import { createLostCreateSearch } from './lost-creates.js'
import { createOrphanCleanup } from './orphans.js'
import { createContainerLogReader, Watcher } from './watching/index.js'
import { webhookUrlOf } from './webhooks.js'

export interface ServiceSourceOptions {
  readonly service: DeploymentService
  /** Lists locations with capacity. Without it, a create without capacity is not repeated at other locations. */
  readonly locations?: LocationService | undefined
  readonly clock: Clock
  readonly random: Random
  /** Tag that all deployments of this matchmaker have. */
  readonly ownTag: string
  readonly readsPerSecond: number
  /** Milliseconds for which the service's list may not show a new deployment. */
  readonly listLagMs: number
  /** Milliseconds since its start after which a deployment without a server is stopped. Infinity: never. */
  readonly orphanGraceMs: number
  /** Public URL to which the service sends webhooks. Undefined: none. */
  readonly webhookUrl?: string | undefined
}

/** Timeout of a create in milliseconds, including its wait in the client's queue. */
const CREATE_TIMEOUT_MS = 30_000
const LOOK_TIMEOUT_MS = 10_000
const STOP_TIMEOUT_MS = 20_000

/**
 * The source of servers that the deployment service creates. A deployment has two tags: that of the matchmaker and its
 * own. The service has no idempotency key, and its list lags. So a create that was not answered is looked for by its
 * tag.
 */
export function createServiceSource(options: ServiceSourceOptions): OpenSource {
  return (listener) => openServiceSource(options, listener)
}

function openServiceSource(options: ServiceSourceOptions, on: SourceListener): ServerSource {
  const { locations, clock, random, ownTag, listLagMs, webhookUrl } = options
  const service = notingAnswers(options.service, on)

  /** Called for a listed deployment that the watcher does not follow. */
  const listed = (entry: DeploymentListEntry) => {
    stops.listed(entry.request_id)
    if (!on.seen(serverIdsOf(entry.tags), entry.request_id)) reaper.orphan(entry)
  }
  /** Epoch milliseconds at which the last read of the whole list began. */
  let sweptFrom = -Infinity
  const watcher = new Watcher({
    service,
    tag: ownTag,
    clock,
    listLagMs,
    readsPerSecond: options.readsPerSecond,
    pushed: webhookUrl !== undefined,
    report: on.changed,
    stranger: listed,
    swept: (begunAt) => {
      sweptFrom = begunAt
      reaper.swept(begunAt)
    },
    problem: (during, error, handle) => on.problem(during, error, { handle }),
  })
  /**
   * True if the error of a stop proves that the deployment has ended: it has, or the service does not know it. A
   * deployment that was younger than `listLagMs` when the stop was requested may be unknown only because it was not
   * stored yet.
   *
   * A 404 without a message may come from the service or from something in front of it. It counts if the last read of
   * the whole list did not show the deployment. Otherwise a single deployment that the service has forgotten would
   * block all creates.
   */
  const isStopConfirmedBy = (error: unknown, { ageMs, orderedAt, listedAt }: FailedStop) =>
    error instanceof AlreadyTerminated ||
    (error instanceof NotFound && ageMs >= listLagMs) ||
    (error instanceof RouteMissing && sweptFrom > Math.max(listedAt, orderedAt + listLagMs))
  const stops = createStops({
    request: (handle) => service.stop({ request_id: handle }, { timeoutMs: STOP_TIMEOUT_MS }),
    isConfirmedBy: isStopConfirmedBy,
    clock,
    random,
    on,
  })
  const reaper = createOrphanCleanup({ stops, clock, graceMs: options.orphanGraceMs, listLagMs, reaped: on.reaped })
  const finder = createLostCreateSearch({
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
      return (mayWrite) =>
        createOutcome(async () => {
          const { request_id: handle } = await service.create(request, { timeoutMs: CREATE_TIMEOUT_MS, mayWrite })
          return handle
        })
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
    orphans: reaper.orphans,
    follow: (handle, kind) => watcher.follow(handle, kind),
    settle: (handle) => watcher.settle(handle),
    hint: ({ id, handle }) => {
      if (handle !== undefined) watcher.hint(handle)
      else if (id !== undefined) finder.hint(id)
    },
    inspect: async (handle) => {
      try {
        const callOptions = { timeoutMs: LOOK_TIMEOUT_MS, priority: priorities.routine }
        const deployment = await service.get({ request_id: handle }, callOptions)
        return { ageMs: ageOf(deployment, dateOf(clock)), location: assignmentOf(deployment)?.location }
      } catch (error) {
        if (error instanceof NotFound) return undefined
        throw error
      }
    },
    logs: createContainerLogReader(service, clock),
    capacity: locations && createCapacityReader(locations, clock),
    watch: (now) => watcher.readDue(now),
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

/** True if the error is an answer of the service about the deployment. */
const isAnswer = (error: unknown) => error instanceof NotFound || error instanceof AlreadyTerminated

/** Wraps the service, and reports whether reads are answered. */
function notingAnswers(service: DeploymentService, on: SourceListener): DeploymentService {
  const noting = <Answer>(call: Promise<Answer>) => {
    call.then(on.answered, (error: unknown) => (isAnswer(error) ? on.answered() : on.unanswered(error)))
    return call
  }
  const { logs } = service
  return {
    create: (input, options) => service.create(input, options),
    ...(logs && { logs: logs.bind(service) }),
    get: (input, options) => noting(service.get(input, options)),
    list: (input, options) => noting(service.list(input, options)),
    stop: (input, options) => service.stop(input, options),
  }
}
