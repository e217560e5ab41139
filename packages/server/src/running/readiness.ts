import { type Client, Forbidden, RouteMissing, Unauthorized } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import type { ServiceReading } from './service-reads.js'

/** Says in words why the program does not take players now; undefined if that is no reason. */
export type ReadinessCheck = () => string | undefined | Promise<string | undefined>

/** Whether the program takes players, and if not, why. */
export interface Ready {
  readonly is: boolean
  readonly why: readonly string[]
  /** Whether this process matches; undefined where it is alone. */
  readonly leading?: boolean | undefined
  /** How people know the process that matches; undefined where it is not known, or this one is alone. */
  readonly leader?: string | undefined
}

/** Milliseconds for which an answer holds: anybody may ask, and a check may look at every ticket. */
const HOLDS_MS = 500
/** The same for an answer that the program is not ready: its load balancer should notice a change soon. */
const NOT_READY_HOLDS_MS = 50

/**
 * Combines the checks, and runs them rarely.
 * @param ending says that the program ends: from then on it is not ready, whatever the last answer.
 */
export function createReadiness(
  ending: () => string | undefined,
  checks: readonly ReadinessCheck[],
  clock: Clock,
  membership: () => Pick<Ready, 'leading' | 'leader'> = () => ({}),
): () => Promise<Ready> {
  let asked: { readonly at: number; readonly ready: Promise<Ready> } | undefined
  let holdsMs = HOLDS_MS
  const ask = async (): Promise<Ready> => {
    const why = (await Promise.all(checks.map(reasonOf))).filter((reason) => reason !== undefined)
    holdsMs = why.length === 0 ? HOLDS_MS : NOT_READY_HOLDS_MS
    return { is: why.length === 0, why, ...membership() }
  }
  return async () => {
    const end = ending()
    if (end !== undefined) return { is: false, why: [end], ...membership() }
    if (asked === undefined || clock.now() - asked.at >= holdsMs) asked = { at: clock.now(), ready: ask() }
    return asked.ready
  }
}

async function reasonOf(check: ReadinessCheck): Promise<string | undefined> {
  try {
    return await check()
  } catch {
    return 'a check failed'
  }
}

interface ServiceCheckOptions {
  /** Undefined without the deployment service: nothing keeps the program from taking players. */
  readonly client: Client | undefined
  readonly clock: Clock
  /** Reads all that the program needs of the service: see `readService`. */
  readonly readAll: (signal: AbortSignal) => Promise<readonly ServiceReading[]>
  /** Called with each attempt that failed, and with each reading that did not work. */
  readonly onProblem: (error: unknown) => void
}

/** Whether the service takes our token. */
export type ServiceCheck = ReturnType<typeof createServiceCheck>

/** Milliseconds until the next look: before the first success, while something is wrong, and else (our choice). */
const FIRST_MS = 500
const SOON_MS = 2000
const LATER_MS = 60_000

/**
 * Asks the service for one deployment of its list, at the start and then every minute. Players are taken once that
 * has worked. A service that is down later is no reason to send players elsewhere; a token that it refuses is one, and
 * so is an address at which it does not list. Once it has answered, all that the program needs of it is read, and what
 * does not work is reported.
 */
export function createServiceCheck({ client, clock, readAll, onProblem }: ServiceCheckOptions) {
  const ending = new AbortController()
  let reason = client && 'the service has not answered yet'
  let hasWorked = client === undefined
  let hasRead = false

  const look = async () => {
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
      await look()
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
