import type { Clock } from '@muster/core/clock'
import { within } from '@muster/core/internal'
import type { LazyMetrics, ListeningServer, LoadGuard } from './http/index.js'
import type { ProblemLog } from '../telemetry/log.js'
import type { ServiceCheck } from './readiness.js'
import type { ReloadingOptions } from './reload/reload.js'

export interface ShutdownOptions extends Pick<ReloadingOptions, 'inForce' | 'parts' | 'log'> {
  readonly listener: ListeningServer
  readonly guard: LoadGuard
  readonly check: ServiceCheck
  readonly clockWatch: { close(): void }
  readonly refusals: { close(): void }
  readonly metrics: LazyMetrics | undefined
  readonly problems: ProblemLog
  readonly clock: Clock
}

/** Milliseconds that running responses get at the end, before their connections are closed (our choice). */
const LAST_ANSWERS_MS = 250
/** Minimum share of the shutdown time for which players are refused, so that a load balancer notices (our choice). */
const SHARE_OF_NOTICE = 0.1
/** Share of the remaining time that the parts may use. The rest is for closing connections. */
const SHARE_OF_PARTS = 0.9

/**
 * Ends the program. First it refuses players, while the matchmaker and the lobbies finish running work and leave the
 * rest to the next process. Then it ends long polls and streams, so that clients reconnect to another process.
 */
export function createShutdown(options: ShutdownOptions) {
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
    // Closes all connections, because unfinished work would otherwise keep the process alive.
    listener.destroy()
    await problems.close()
    if (isDone) log.info('Shutdown complete.')
    else log.warn(`Shutdown timed out after ${withinMs / 1000} s. The next process on this store resumes the rest.`)
    return isDone
  }
  return {
    /** Returns why players are not accepted any more; undefined before `close` is called. */
    reason: () => (closed === undefined ? undefined : 'the process is shutting down'),
    close: () => (closed ??= close()),
  }
}
