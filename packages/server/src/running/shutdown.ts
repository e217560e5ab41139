import type { Clock } from '@muster/core/clock'
import { within } from '@muster/core/internal'
import type { LazyMetrics, Listener, LoadGuard } from './http/index.js'
import type { ProblemLog } from '../telemetry/log.js'
import type { ServiceCheck } from './readiness.js'
import type { ReloadingOptions } from './reload/reload.js'

export interface ClosingOptions extends Pick<ReloadingOptions, 'inForce' | 'parts' | 'log'> {
  readonly listener: Listener
  readonly guard: LoadGuard
  readonly check: ServiceCheck
  readonly clockWatch: { close(): void }
  readonly refusals: { close(): void }
  readonly metrics: LazyMetrics | undefined
  readonly problems: ProblemLog
  readonly clock: Clock
}

/** Milliseconds that answers under way get at the end, before their connections are ended (our choice). */
const LAST_ANSWERS_MS = 250
/** Least share of the time for which players are refused, so that a load balancer notices (our choice). */
const SHARE_OF_NOTICE = 0.1
/** Of the time that is left, what the parts may use; the rest is for connections. */
const SHARE_OF_PARTS = 0.9

/**
 * Ends the program. First refuses players, while the matchmaker and the lobbies finish their work in progress and leave
 * the rest to the next process. Then ends waits and streams, so that clients reconnect to another process.
 */
export function createClosing(options: ClosingOptions) {
  const { inForce, parts, listener, guard, check, clockWatch, refusals, metrics, problems, log, clock } = options
  let closed: Promise<boolean> | undefined

  const closeAll = async (withinMs: number): Promise<true> => {
    const deadline = clock.now() + withinMs
    const leftMs = () => Math.max(0, (deadline - clock.now()) * SHARE_OF_PARTS)
    await Promise.all([clock.sleep(withinMs * SHARE_OF_NOTICE), check.close().then(() => parts.close(leftMs))])
    const ended = listener.close()
    await within(ended, Math.min(LAST_ANSWERS_MS, leftMs()), clock)
    listener.destroy()
    await ended
    guard.close()
    clockWatch.close()
    refusals.close()
    await inForce.apis.close()
    await metrics?.close()
    return true
  }
  const close = async (): Promise<boolean> => {
    const { withinMs } = inForce.config.shutdown
    log.info('Shutting down.', { withinMs })
    const isDone = (await within(closeAll(withinMs), withinMs, clock)) ?? false
    // What is left must not keep the process.
    listener.destroy()
    await problems.close()
    if (isDone) log.info('Shutdown complete.')
    else log.warn(`Shutdown timed out after ${withinMs / 1000} s. The next process on this store resumes the rest.`)
    return isDone
  }
  return {
    /** Why no players are taken any more; undefined before `close`. */
    reason: () => (closed === undefined ? undefined : 'the process is shutting down'),
    close: () => (closed ??= close()),
  }
}
