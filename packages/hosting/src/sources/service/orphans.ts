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
  /** Milliseconds after its reported start until a deployment of an unknown match is stopped. */
  readonly graceMs: number
  /** Milliseconds for which the list may lag behind. */
  readonly listLagMs: number
  readonly reaped: (requestId: string) => void
}

/** Times are epoch milliseconds. */
interface Orphan {
  readonly seenAt: number
  listedAt: number
}

/** Maximum number of remembered orphans, ended matches and stops. A forgotten one is handled later. */
const REMEMBERED = 10_000
/** Milliseconds that a stopped deployment may take to end, including its grace period. Then the stop is repeated. */
const ENDING_MS = 10 * 60_000

/**
 * Stops orphans: deployments with the tag of this matchmaker that belong to none of its matches.
 *
 * A deployment with the tag of an ended match is stopped as soon as it is seen, because its create took effect after
 * Muster gave it up. An unknown deployment may belong to a process that is just ending, so it is stopped only after a
 * grace period. The period begins at the deployment's reported start, so that it ends even if no process runs that
 * long. Without a reported start, it begins when the deployment is first seen.
 */
export function createOrphanCleanup({ stops, clock, graceMs, listLagMs, reaped }: ReaperOptions) {
  const orphans = new LRUCache<string, Orphan>(growingTo(REMEMBERED))
  /** Orphans whose stop is not confirmed. */
  const reaping = new Set<string>()
  /** Epoch milliseconds of each requested stop, and of each match's end. */
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
    /** Called when the list shows a deployment of this matchmaker that belongs to no match. */
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
    /** Records that the server with this id has ended. A deployment that appears later with its tag is an orphan. */
    ended: (id: string) => void endedAt.set(id, clock.now()),
    /** Records that this deployment is being stopped. The list may still show it. */
    stopping: (requestId: string) => void stoppedAt.set(requestId, clock.now()),
    /** Records that a complete list began at this time (epoch milliseconds). */
    swept: (begunAt: number) => {
      // Selected first, because a cache may not change during an iteration.
      const unlisted = [...orphans].filter(([, { listedAt }]) => listedAt < begunAt)
      for (const [requestId] of unlisted) orphans.delete(requestId)
    },
    /** Returns the number of orphans that cost money, as far as the list has shown them. */
    orphans: () => orphans.size + reaping.size,
  }
}
