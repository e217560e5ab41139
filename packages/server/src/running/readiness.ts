import { type Client, Forbidden, RouteMissing, Unauthorized } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import type { ServiceReading } from './service-reads.js'

/** Returns the reason why the program does not accept players now; undefined if the check passes. */
export type ReadinessCheck = () => string | undefined | Promise<string | undefined>

/** Whether the program is ready for players, and the reasons if it is not. */
export interface Ready {
  readonly is: boolean
  readonly why: readonly string[]
  /** True if this process is the leader; undefined if it is the only one. */
  readonly leading?: boolean | undefined
  /** Name of the leader; undefined if it is not known, or if this process is the only one. */
  readonly leader?: string | undefined
}

/** Milliseconds for which a positive result is cached. Anybody may request it, and a check may read every ticket. */
const HOLDS_MS = 500
/** Milliseconds for which a negative result is cached. It is short, so that a load balancer soon notices a change. */
const NOT_READY_HOLDS_MS = 50

/**
 * Runs the checks, and caches the result.
 * @param ending returns the reason why the program ends. From then on the program is not ready, regardless of the
 * cache.
 */
export function createReadiness(
  ending: () => string | undefined,
  checks: readonly ReadinessCheck[],
  clock: Clock,
  membership: () => Pick<Ready, 'leading' | 'leader'> = () => ({}),
): () => Promise<Ready> {
  let latest: { readonly at: number; readonly ready: Promise<Ready> } | undefined
  let holdsMs = HOLDS_MS
  const ask = async (): Promise<Ready> => {
    const why = (await Promise.all(checks.map(reasonOf))).filter((reason) => reason !== undefined)
    holdsMs = why.length === 0 ? HOLDS_MS : NOT_READY_HOLDS_MS
    return { is: why.length === 0, why, ...membership() }
  }
  return async () => {
    const end = ending()
    if (end !== undefined) return { is: false, why: [end], ...membership() }
    if (latest === undefined || clock.now() - latest.at >= holdsMs) latest = { at: clock.now(), ready: ask() }
    return latest.ready
  }
}

async function reasonOf(check: ReadinessCheck): Promise<string | undefined> {
  try {
    return await check()
  } catch {
    return 'a readiness check failed'
  }
}

interface ServiceCheckOptions {
  /** The client; undefined without the deployment service, in which case the check always passes. */
  readonly client: Client | undefined
  readonly clock: Clock
  /** Reads everything that the program needs from the service: see `readService`. */
  readonly readAll: (signal: AbortSignal) => Promise<readonly ServiceReading[]>
  /** Called with the error of each failed check, and with one error for each failed reading. */
  readonly onProblem: (error: unknown) => void
}

/** Checks whether the deployment service accepts the token. */
export type ServiceCheck = ReturnType<typeof createServiceCheck>

/** Milliseconds until the next check (our choice): before the first success, during a fault, and otherwise. */
const FIRST_MS = 500
const SOON_MS = 2000
const LATER_MS = 60_000

/**
 * Requests one entry of the service's list of deployments, at the start and then every minute. The first success makes
 * the program ready. Later the program stays ready during an outage, but not if the service rejects the token or has no
 * such list. After the first success, `readAll` reads everything else once, and failures are reported.
 */
export function createServiceCheck({ client, clock, readAll, onProblem }: ServiceCheckOptions) {
  const ending = new AbortController()
  let reason = client && 'the service has not answered yet'
  let hasWorked = client === undefined
  let hasRead = false

  const check = async () => {
    try {
      await client?.deployments.list({ limit: 1 }, { signal: ending.signal })
      hasWorked = true
      reason = undefined
    } catch (error) {
      if (ending.signal.aborted) return
      onProblem(error)
      if (error instanceof RouteMissing) reason = 'the service has no route that lists servers (404): see service.url'
      else if (error instanceof Unauthorized || error instanceof Forbidden) reason = 'the service refuses the token'
      else if (!hasWorked) reason = 'the service does not answer'
    }
  }
  const readOnce = async () => {
    hasRead = true
    for (const { what, works, says } of await readAll(ending.signal).catch(() => []))
      if (!works) onProblem(new Error(`${what}: ${says}`))
  }
  const keepLooking = async () => {
    while (!ending.signal.aborted) {
      await check()
      if (!hasRead && (hasWorked || reason?.includes('service.url') === true)) await readOnce()
      const againMs = reason === undefined ? LATER_MS : hasWorked ? SOON_MS : FIRST_MS
      await clock.sleep(againMs, ending.signal).catch(() => {})
    }
  }
  const running = keepLooking()
  return {
    reason: () => reason,
    close: async () => {
      ending.abort()
      await running
    },
  }
}
