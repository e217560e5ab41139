import { limits } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import type { DeploymentService } from '@muster/matchmaker'
import { createStubService } from '@muster/matchmaker/internal'
import { pooledServerOf } from './game-server.js'
import type { RequestUse, ServerUse } from './outcome.js'

/** The operations that follow from matches, and the documented limits of requests. */
const LIMITS = {
  create: limits.createDeployment,
  stop: undefined,
} as const

type MeteredOperation = keyof typeof LIMITS

interface Gauge {
  total: number
  busiest: number
  /** Times of the requests within the last window, the oldest first. */
  readonly recent: number[]
}

/** Counts requests by operation in a sliding window, the strictest way in which a service may count. */
function createRequestMeter() {
  const gauge = (): Gauge => ({ total: 0, busiest: 0, recent: [] })
  const gauges: Readonly<Record<MeteredOperation, Gauge>> = { create: gauge(), stop: gauge() }
  return {
    /** @param now milliseconds, never less than in an earlier call. */
    sent: (operation: MeteredOperation, now: number) => {
      const counted = gauges[operation]
      counted.total += 1
      const limit = LIMITS[operation]
      if (limit === undefined) return
      const { recent } = counted
      recent.push(now)
      while ((recent[0] as number) <= now - limit.windowMs) recent.shift()
      counted.busiest = Math.max(counted.busiest, recent.length)
    },
    uses: (): Record<string, RequestUse> => ({
      create: { ...usesOf(gauges.create), limit: LIMITS.create.limit, windowMs: LIMITS.create.windowMs },
      stop: usesOf(gauges.stop),
    }),
  }
}

const usesOf = ({ total, busiest }: Gauge) => ({ total, busiest })

/** A service in memory, without limits and with room for all servers, that counts what is asked of it. */
export interface MeteredService {
  readonly service: DeploymentService
  /** Number of servers that were asked for and not stopped. */
  running(): number
  /** All servers; and those of each pool, by its name. Idle are those of pools alone. */
  servers(): Omit<ServerUse, 'idleSeconds'>
  pools(): ReadonlyMap<string, Omit<ServerUse, 'idleSeconds'>>
  requests(): Record<string, RequestUse>
}

/** Counts servers from when they are asked for until they are stopped. */
function createServerMeter() {
  let created = 0
  let running = 0
  let most = 0
  let milliseconds = 0
  let bootMs = 0
  return {
    asked: () => {
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
    use: () => ({ created, most, seconds: milliseconds / 1000, bootSeconds: bootMs / 1000 }),
  }
}

/** A server that is READY. */
interface Ready {
  readonly requestId: string
  /** Of the server of a pool; undefined for that of one match. */
  readonly token: string | undefined
}

/**
 * A create is answered when its server is READY, after the call of its webhook. So a matchmaker reads one status for
 * each server, at that moment. To look for READY servers, as without a webhook, would take it longer than all else in a
 * run, and would only show that it makes as many reads and lists as their limits leave: so these are not counted. Lists
 * are not answered: they are for servers that were lost or have ended by themselves, and there are none.
 * @param startMs milliseconds from create to READY.
 * @param ready the webhook, and the start of the server's process.
 */
export function createMeteredService(clock: Clock, startMs: number, ready: (server: Ready) => void): MeteredService {
  const stub = createStubService(clock, 0)
  const meter = createRequestMeter()
  const all = createServerMeter()
  const ofPools = new Map<string, ReturnType<typeof createServerMeter>>()
  /** When each server was asked for, and the meters that count it. */
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
      meter.sent('create', askedAt)
      for (const one of meters) one.asked()
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
      meter.sent('stop', clock.now())
      const { askedAt, meters } = standing.get(input.request_id) ?? { askedAt: clock.now(), meters: [] }
      for (const one of meters) one.stopped(clock.now() - askedAt)
      standing.delete(input.request_id)
      return answer
    },
  }
  return {
    service,
    running: all.running,
    servers: all.use,
    pools: () => new Map(Array.from(ofPools, ([pool, { use }]) => [pool, use()])),
    requests: meter.uses,
  }
}
