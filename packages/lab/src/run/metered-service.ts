import { limits } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import type { DeploymentService } from '@muster/matchmaker'
import { createStubService } from '@muster/matchmaker/internal'
import { pooledServerOf } from './game-server.js'
import type { RequestUse, ServerUse } from './outcome.js'

/**
 * Counts creates in a sliding window, which is the strictest way in which a service may count. Stops are not counted,
 * because no limit of theirs is documented.
 */
function createRequestMeter() {
  const { limit, windowMs } = limits.createDeployment
  const create = { total: 0, busiest: 0, limit, windowMs }
  const stop = { total: 0, busiest: 0 }
  /** Times of the creates within the last window, in milliseconds, the oldest first. */
  const recent: number[] = []
  return {
    /** Counts a create. @param now milliseconds, never less than in an earlier call. */
    created: (now: number) => {
      create.total += 1
      recent.push(now)
      while ((recent[0] as number) <= now - windowMs) recent.shift()
      create.busiest = Math.max(create.busiest, recent.length)
    },
    stopped: () => {
      stop.total += 1
    },
    uses: (): Record<string, RequestUse> => ({ create, stop }),
  }
}

/** Counts servers from their create until they are stopped. */
function createServerMeter() {
  let created = 0
  let running = 0
  let most = 0
  let milliseconds = 0
  let bootMs = 0
  return {
    created: () => {
      created += 1
      running += 1
      most = Math.max(most, running)
    },
    booted: (ms: number) => {
      bootMs += ms
    },
    stopped: (ms: number) => {
      running -= 1
      milliseconds += ms
    },
    running: () => running,
    /** Returns the use of servers, without idle time: only servers of pools can be idle. */
    use: (): Omit<ServerUse, 'idleSeconds'> => {
      return { created, most, seconds: milliseconds / 1000, bootSeconds: bootMs / 1000 }
    },
  }
}

export type MeteredService = ReturnType<typeof createMeteredService>

/**
 * Simulates the deployment service in memory, without limits and with capacity for all servers, and counts its
 * requests.
 *
 * A create is answered when its server is READY, after its webhook. So a matchmaker reads the status of each server
 * once, at that moment. Status reads are not counted. Polling without a webhook would dominate the time of a run, and
 * would only show that the matchmaker uses its limits fully. Lists are not supported, because no server is lost or ends
 * by itself.
 * @param startMs milliseconds from create to READY.
 * @param ready called when a server is READY: the webhook, and the start of the server's process. The token is that of
 * a pool's server.
 */
export function createMeteredService(
  clock: Clock,
  startMs: number,
  ready: (server: { readonly requestId: string; readonly token: string | undefined }) => void,
) {
  const stub = createStubService(clock, 0)
  const meter = createRequestMeter()
  const all = createServerMeter()
  const ofPools = new Map<string, ReturnType<typeof createServerMeter>>()
  /** For each server that was created and not stopped: the time of its create, and the meters that count it. */
  const standing = new Map<string, { readonly askedAt: number; readonly meters: readonly (typeof all)[] }>()
  const metersOf = (pool: string | undefined) => {
    if (pool === undefined) return [all]
    const ofPool = ofPools.get(pool) ?? createServerMeter()
    ofPools.set(pool, ofPool)
    return [all, ofPool]
  }

  const service: DeploymentService = {
    create: async (input) => {
      const askedAt = clock.now()
      const { pool, token } = pooledServerOf(input) ?? {}
      const meters = metersOf(pool)
      meter.created(askedAt)
      for (const one of meters) one.created()
      await clock.sleep(startMs)
      const answer = await stub.create(input)
      for (const one of meters) one.booted(startMs)
      standing.set(answer.request_id, { askedAt, meters })
      ready({ requestId: answer.request_id, token })
      return answer
    },
    get: stub.get,
    list: () => new Promise(() => {}),
    stop: async (input) => {
      const answer = await stub.stop(input)
      meter.stopped()
      const { askedAt, meters } = standing.get(input.request_id) ?? { askedAt: clock.now(), meters: [] }
      for (const one of meters) one.stopped(clock.now() - askedAt)
      standing.delete(input.request_id)
      return answer
    },
  }
  return {
    service,
    /** Number of servers that were created and not stopped. */
    running: all.running,
    servers: all.use,
    /** Returns the use of servers by each pool, by the pool's name. */
    pools: () => new Map(Array.from(ofPools, ([pool, { use }]) => [pool, use()])),
    requests: meter.uses,
  }
}
