import type { Deployment } from '../api/deployment.js'
import type { Clock, Random } from '../time.js'
import { deploymentPhase } from '../deployment-status.js'
import { scrub } from '../redact.js'
import { type CallOptions, checkCallOptions } from './call.js'
import {
  AlreadyTerminated,
  ConnectionLost,
  DeploymentFailed,
  InvalidInput,
  NotFound,
  ServerError,
  TimedOut,
  UnexpectedResponse,
} from './errors.js'

export interface WaitOptions extends CallOptions {
  /** Milliseconds for the whole wait. Default 600,000. */
  readonly timeoutMs?: number | undefined
  /** Milliseconds before the second read. Each further wait is 1.5 times as long, up to `maxPollMs`. Default 500. */
  readonly pollMs?: number | undefined
  /** Maximum milliseconds between two reads. Default 5,000. */
  readonly maxPollMs?: number | undefined
}

/** Milliseconds for which the status operation may not know a new deployment. */
const SETTLING_MS = 5000
/** Maximum length of the service's texts that an error repeats. */
const LONGEST_SHOWN = 500
/** Maximum number of unreadable responses in a row. A single unreadable response may come from a proxy. */
const MOST_UNREADABLE = 5

type ReadStatus = (input: { readonly request_id: string }, options: CallOptions) => Promise<Deployment>

/** Creates `deployments.waitUntilReady`; see `DeploymentWaits`. */
export function createWaitUntilReady(
  read: ReadStatus,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
) {
  return async (requestId: string, options: WaitOptions = {}): Promise<Deployment> => {
    checkWaitOptions(options)
    const { signal, priority, timeoutMs = 600_000, pollMs = 500, maxPollMs = 5000 } = options
    const facts = { operation: 'deployments.waitUntilReady', requestId }
    const began = clock.now()
    let lastError: unknown
    let lastStatus = 'unknown'
    let unreadable = 0

    for (let wait = pollMs; ; wait = Math.min(maxPollMs, wait * 1.5)) {
      const leftMs = began + timeoutMs - clock.now()
      const tell = `deployments.waitUntilReady: deployment ${requestId}`
      if (leftMs <= 0) {
        throw new TimedOut(`${tell} was not ready after ${timeoutMs} ms, its status was ${lastStatus}`, {
          ...facts,
          sent: true,
          timeoutMs,
          cause: lastError,
        })
      }
      try {
        const deployment = await read({ request_id: requestId }, { signal, priority, timeoutMs: leftMs })
        lastStatus = scrub(deployment.current_status.slice(0, LONGEST_SHOWN))
        unreadable = 0
        switch (deploymentPhase(deployment)) {
          case 'ready':
            return deployment
          case 'failed': {
            const detail = scrub((deployment.error_detail ?? '').slice(0, LONGEST_SHOWN))
            throw new DeploymentFailed(`${tell} failed${detail === '' ? '' : `: ${detail}`}`, { ...facts, detail })
          }
          case 'terminated':
            throw new AlreadyTerminated(`${tell} ended before it was ready (${lastStatus})`, facts)
          case 'starting':
        }
      } catch (error) {
        if (error instanceof UnexpectedResponse) unreadable += 1
        const passes =
          isTransient(error) ||
          (error instanceof UnexpectedResponse && unreadable < MOST_UNREADABLE) ||
          (error instanceof NotFound && clock.now() - began < SETTLING_MS)
        if (!passes) throw error
        lastError = error
      }
      // Half of the wait is random, so that callers who started together do not all read at the same time.
      await clock.sleep(Math.min(wait * (0.5 + 0.5 * random()), Math.max(0, began + timeoutMs - clock.now())), signal)
    }
  }
}

/** True if a later read may succeed although this one failed after its own retries. */
const isTransient = (error: unknown) =>
  error instanceof ConnectionLost || error instanceof ServerError || error instanceof TimedOut

function checkWaitOptions(options: WaitOptions): void {
  checkCallOptions('deployments.get', options)
  for (const option of ['pollMs', 'maxPollMs'] as const) {
    const value = options[option]
    if (value !== undefined && !(Number.isFinite(value) && value > 0)) {
      throw new InvalidInput(
        `deployments.waitUntilReady: option ${option} must be a positive number of milliseconds, got ${String(value)}`,
        {
          operation: 'deployments.waitUntilReady',
          field: option,
        },
      )
    }
  }
}
