import { TimedOut } from './errors.js'
import { timeSpent, type TimeSpent } from './progress.js'
import { factsOf, type Request } from './request.js'

/**
 * The error for a caller whose time is up; it tells how the time was spent.
 * @param before time the request had spent when this caller joined it; undefined for the caller who began it.
 */
export function timedOut(request: Request, timeoutMs: number, before: TimeSpent | undefined, now: number): TimedOut {
  const { id, progress } = request
  const spent = timeSpent(progress, now)
  const queuedMs = Math.round(spent.queued - (before?.queued ?? 0))
  const retryWaitMs = Math.round(spent.retryWait - (before?.retryWait ?? 0))
  const inFlightMs = Math.round(spent.inFlight - (before?.inFlight ?? 0))
  const where = `queued ${queuedMs} ms, waiting to retry ${retryWaitMs} ms, in flight ${inFlightMs} ms`
  const sent = progress.written || progress.doubtful
  // A caller that waited in a queue may have been held up by its limiter, or by the refusal of another call.
  const cause = progress.lastError ?? progress.holdUp?.obstacle() ?? progress.holdUp?.refusal
  const facts = { ...factsOf(request), timeoutMs, queuedMs, retryWaitMs, inFlightMs, sent, cause }
  return new TimedOut(`${id}: timed out after ${timeoutMs} ms (${where})`, facts)
}
