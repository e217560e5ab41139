import { Forbidden, Unauthorized, type Client } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import type { ReadinessCheck } from './readiness.js'

export interface ServiceCheckOptions {
  readonly client: Client
  readonly clock: Clock
  /** Told of each attempt that failed. */
  readonly onProblem: (error: unknown) => void
}

/** Whether the service takes our token. */
export interface ServiceCheck {
  readonly reason: ReadinessCheck
  readonly close: () => Promise<void>
}

/** Milliseconds until the next look: before the first success, while something is wrong, and else (our choice). */
const FIRST_MS = 500
const SOON_MS = 2000
const LATER_MS = 60_000

/**
 * Asks the service for one deployment of its list, at the start and then every minute. Players are taken once that
 * has worked. A service that is down later is no reason to send players elsewhere; a token that it refuses is one.
 */
export function createServiceCheck({ client, clock, onProblem }: ServiceCheckOptions): ServiceCheck {
  const ending = new AbortController()
  let reason: string | undefined = 'the service has not answered yet'
  let hasWorked = false

  const look = async () => {
    try {
      await client.deployments.list({ limit: 1 }, { signal: ending.signal })
      hasWorked = true
      reason = undefined
    } catch (error) {
      if (ending.signal.aborted) return
      onProblem(error)
      if (error instanceof Unauthorized || error instanceof Forbidden) reason = 'the service refuses the token'
      else if (!hasWorked) reason = 'the service does not answer'
    }
  }
  const keepLooking = async () => {
    while (!ending.signal.aborted) {
      await look()
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
