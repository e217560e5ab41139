import type { DeploymentListEntry } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import type { Stops } from './stops.js'

/** Stops deployments with the tag of this matchmaker that belong to none of its matches. */
export interface Reaper {
  /** The list shows a deployment of this matchmaker that no match owns. */
  stray(entry: DeploymentListEntry): void
  /** A match with this tag has ended: whatever shows up with it now is nobody's. */
  ended(tag: string): void
  /** This deployment is being stopped; the list may go on showing it for a while. */
  stopping(requestId: string): void
}

export interface ReaperOptions {
  readonly stops: Pick<Stops, 'order'>
  readonly clock: Clock
  /** Milliseconds since it was first seen after which a stray is stopped that this process knows nothing about. */
  readonly graceMs: number
  /** Milliseconds for which the list may lag behind. */
  readonly listLagMs: number
  readonly reaped: (requestId: string) => void
}

/** Of strays, ended matches and stops so many are remembered; one that is forgotten is only dealt with later. */
const REMEMBERED = 10_000
/** Milliseconds that a deployment which is stopped may take to end, its grace period included; then it is stopped once more. */
const ENDING_MS = 10 * 60_000

/**
 * What has the tag of a match that has ended is stopped as soon as it is seen: its create took effect after it had
 * been given up. What this process knows nothing about may belong to one that is just ending, so it gets a grace.
 */
export function createReaper({ stops, clock, graceMs, listLagMs, reaped }: ReaperOptions): Reaper {
  /** Since when each stray is known, and each stop was ordered: epoch milliseconds. */
  const seenAt = new Map<string, number>()
  const stoppedAt = new Map<string, number>()
  const endedAt = new Map<string, number>()

  const remember = (times: Map<string, number>, key: string, now: number) => {
    const [oldest] = times.keys()
    if (times.size >= REMEMBERED && oldest !== undefined) times.delete(oldest)
    times.set(key, now)
  }

  const dueAt = ({ request_id, tags = [] }: DeploymentListEntry, now: number): number => {
    const stopped = stoppedAt.get(request_id)
    if (stopped !== undefined) return stopped + listLagMs + ENDING_MS
    if (tags?.some((tag) => endedAt.has(tag))) return now
    const seen = seenAt.get(request_id)
    if (seen === undefined) remember(seenAt, request_id, now)
    return (seen ?? now) + graceMs
  }

  return {
    stray: (entry) => {
      const now = clock.now()
      const { request_id: requestId } = entry
      if (dueAt(entry, now) > now) return
      seenAt.delete(requestId)
      remember(stoppedAt, requestId, now)
      stops.order({ requestId, knownAt: now - listLagMs, confirmed: () => reaped(requestId) })
    },
    ended: (tag) => remember(endedAt, tag, clock.now()),
    stopping: (requestId) => remember(stoppedAt, requestId, clock.now()),
  }
}
