import type { DeploymentListEntry } from '@muster/core/api'
import { type Clock, dateOf } from '@muster/core/clock'
import { growingTo } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'
import { serverIdsOf } from '../../records/index.js'
import { ageOf } from './deployment-service.js'
import type { Stops } from '../stops.js'

export interface ReaperOptions {
  readonly stops: Pick<Stops, 'order'>
  readonly clock: Clock
  /** Milliseconds since its start after which an unknown deployment is stopped. */
  readonly graceMs: number
  /** Milliseconds for which the list may show an outdated state. */
  readonly listLagMs: number
  readonly reaped: (requestId: string) => void
}

/** A deployment that belongs to no server. Times are epoch milliseconds. */
interface Orphan {
  readonly seenAt: number
  listedAt: number
}

/** Maximum number of remembered orphans, ended servers and stops. A forgotten orphan is stopped later. */
const REMEMBERED = 10_000
/** Milliseconds after which a stopped deployment that is still listed is stopped again. */
const ENDING_MS = 10 * 60_000

/**
 * Stops orphans: deployments with the tag of this matchmaker that belong to none of its servers.
 *
 * A deployment of an ended server is stopped at once, because its create took effect after Muster had given it up. Any
 * other deployment may belong to a process that is just ending, so it is stopped only after a grace period. The period
 * begins at the deployment's start, so that it passes even while no process runs. If the start is not reported, the
 * period begins when the deployment is first seen.
 */
export function createOrphanCleanup({ stops, clock, graceMs, listLagMs, reaped }: ReaperOptions) {
  const orphans = new LRUCache<string, Orphan>(growingTo(REMEMBERED))
  /** Ids of orphans whose stop is not confirmed yet. */
  const reaping = new Set<string>()
  /** Epoch milliseconds of the stop of each deployment, and of the end of each server. */
  const stoppedAt = new LRUCache<string, number>(growingTo(REMEMBERED))
  const endedAt = new LRUCache<string, number>(growingTo(REMEMBERED))

  const seen = (requestId: string, now: number): Orphan => {
    const known = orphans.peek(requestId)
    const orphan = known ?? { seenAt: now, listedAt: now }
    orphan.listedAt = now
    if (known === undefined) orphans.set(requestId, orphan)
    return orphan
  }

  const isDue = (entry: DeploymentListEntry, now: number): boolean => {
    const stopped = stoppedAt.peek(entry.request_id)
    if (stopped !== undefined) return now >= stopped + listLagMs + ENDING_MS
    const { seenAt } = seen(entry.request_id, now)
    return (
      serverIdsOf(entry.tags).some((id) => endedAt.has(id)) ||
      Math.max(now - seenAt, ageOf(entry, dateOf(clock)) ?? 0) >= graceMs
    )
  }

  return {
    /** Called when the list shows a deployment that belongs to no server. */
    orphan: (entry: DeploymentListEntry) => {
      const now = clock.now()
      const { request_id: requestId } = entry
      if (!isDue(entry, now)) return
      orphans.delete(requestId)
      reaping.add(requestId)
      stoppedAt.set(requestId, now)
      stops.order({
        handle: requestId,
        knownAt: now - listLagMs,
        by: reaping,
        confirmed: () => {
          reaping.delete(requestId)
          reaped(requestId)
        },
      })
    },
    /** Records that the server with this credential has ended. Deployments with its tag are orphans from now on. */
    ended: (id: string) => void endedAt.set(id, clock.now()),
    /** Records that this deployment is being stopped, because the list may still show it. */
    stopping: (requestId: string) => void stoppedAt.set(requestId, clock.now()),
    /** Called when the whole list was read. @param begunAt epoch milliseconds at which the read began */
    swept: (begunAt: number) => {
      // Select first, because the cache must not change during the iteration.
      const unlisted = [...orphans].filter(([, { listedAt }]) => listedAt < begunAt)
      for (const [requestId] of unlisted) orphans.delete(requestId)
    },
    /** Returns the number of orphans that may still run. */
    orphans: () => orphans.size + reaping.size,
  }
}
