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
  /** Milliseconds after which an unknown stray is stopped: since its start, as the service reports it. */
  readonly graceMs: number
  /** Milliseconds for which the list may lag behind. */
  readonly listLagMs: number
  readonly reaped: (requestId: string) => void
}

/** Times are epoch milliseconds. */
interface Stray {
  readonly seenAt: number
  listedAt: number
}

/** Most strays, ended matches and stops that are remembered. A forgotten one is handled later. */
const REMEMBERED = 10_000
/** Milliseconds that a stopped deployment may take to end, its grace period included; then the stop is repeated. */
const ENDING_MS = 10 * 60_000

/**
 * Stops orphans: deployments with the tag of this matchmaker that belong to none of its matches.
 *
 * A deployment with the tag of an ended match is stopped as soon as it is seen: its create took effect after Muster
 * gave it up. An unknown deployment may belong to a process that is just ending, so it is stopped only after a grace
 * period. The period counts from the deployment's start as the service reports it, so that it also ends if no process
 * runs that long; without a reported start, from the first time that it was seen.
 */
export function createReaper({ stops, clock, graceMs, listLagMs, reaped }: ReaperOptions) {
  const strays = new LRUCache<string, Stray>(growingTo(REMEMBERED))
  /** Strays whose stop is not confirmed. */
  const reaping = new Set<string>()
  /** Epoch milliseconds at which each stop was ordered, and each match ended. */
  const stoppedAt = new LRUCache<string, number>(growingTo(REMEMBERED))
  const endedAt = new LRUCache<string, number>(growingTo(REMEMBERED))

  const seen = (requestId: string, now: number): Stray => {
    const known = strays.peek(requestId)
    const stray = known ?? { seenAt: now, listedAt: now }
    stray.listedAt = now
    if (known === undefined) strays.set(requestId, stray)
    return stray
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
    /** The list shows a deployment of this matchmaker that no match owns. */
    stray: (entry: DeploymentListEntry) => {
      const now = clock.now()
      const { request_id: requestId } = entry
      if (!isDue(entry, now)) return
      strays.delete(requestId)
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
    /** Notes that the server of this id has ended: a deployment that appears with its tag later is a stray. */
    ended: (id: string) => void endedAt.set(id, clock.now()),
    /** Notes that this deployment is being stopped; the list may still show it. */
    stopping: (requestId: string) => void stoppedAt.set(requestId, clock.now()),
    /** Notes that a complete list began at this time (epoch milliseconds). */
    swept: (begunAt: number) => {
      // Chosen first: a cache may not change while it is read.
      const unlisted = [...strays].filter(([, { listedAt }]) => listedAt < begunAt)
      for (const [requestId] of unlisted) strays.delete(requestId)
    },
    /** Number of strays that cost money, as far as the list has shown them. */
    strays: () => strays.size + reaping.size,
  }
}
