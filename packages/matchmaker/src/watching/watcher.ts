import { setMaxListeners } from 'node:events'
import { deploymentPhase, NotFound } from '@muster/core'
import type { Deployment, DeploymentListEntry } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { assignmentOf, type Assignment } from '../allocation/assignment.js'
import { priorities, type DeploymentService } from '../allocation/deployment-service.js'
import { mostWorthReading, type Watched } from './due.js'
import { sweep } from './sweep.js'

/** What the watcher finds out about a deployment that it follows. */
export type Sighting =
  | { readonly kind: 'ready'; readonly requestId: string; readonly assignment: Assignment }
  /** It is in error. */
  | { readonly kind: 'failed'; readonly requestId: string }
  /** It has ended, or the service does not know it (any more). */
  | { readonly kind: 'gone'; readonly requestId: string }

export interface Watcher {
  /** Follows a deployment until it is forgotten. */
  follow(requestId: string): void
  /** It is READY and known to be: from now on only its end is of interest. */
  settle(requestId: string): void
  forget(requestId: string): void
  /** Something may have happened to it, e.g. a webhook says so. May come before `follow`. */
  hint(requestId: string): void
  /** Starts the reads that are due; their results are reported later. */
  look(now: number): void
  /** Ends all reads. */
  close(): void
}

export interface WatcherOptions {
  readonly service: DeploymentService
  /** Tag of all deployments to follow. */
  readonly tag: string
  readonly clock: Clock
  /** Milliseconds for which the service may not know yet what it has created. */
  readonly listLagMs: number
  /** Status reads begun per look at most, apart from confirmations. */
  readonly readsPerLook: number
  readonly report: (sighting: Sighting) => void
  /** A deployment with the tag that is not followed. */
  readonly stranger: (entry: DeploymentListEntry) => void
  readonly problem: (during: 'list' | 'status', error: unknown, requestId?: string) => void
}

/** Status reads under way at most: half a second of the documented limit, so that none waits longer. */
const MOST_READS = 10
const READ_TIMEOUT_MS = 10_000
/** Milliseconds from one sweep to the next: at least; after a failure; and of all pages, for those that run. */
const SWEEP_GAP_MS = { usual: 200, failed: 1000, complete: 30_000 }
/** Milliseconds between two reads of one deployment that a hint may cause at once. */
const HINT_GAP_MS = 200
/** Hints about deployments that nobody follows (yet) are kept for so many; they may be forged. */
const MOST_HINTS = 1000

/**
 * Follows all deployments together, within the limits of the service: pages of the list, the newest first,
 * as far as there is one that starts; and single reads for those the list tells least about. One that is
 * listed as ready is confirmed by a read, which also tells its location; if too many are read already, or
 * its status cannot be read, the list has to do.
 */
export function createWatcher(options: WatcherOptions): Watcher {
  const { service, tag, clock, listLagMs, readsPerLook, report, stranger, problem } = options
  /** In the order in which they were created. */
  const watched = new Map<string, Watched>()
  const hints = new Set<string>()
  const closing = new AbortController()
  // Every read under way listens to it.
  setMaxListeners(0, closing.signal)
  let reads = 0
  let sweeping = false
  let nextSweepAt = 0
  let nextCompleteAt = clock.now() + SWEEP_GAP_MS.complete

  const tellStatus = ({ requestId, phase }: Watched, deployment: Deployment) => {
    const state = deploymentPhase(deployment)
    if (state === 'failed') return report({ kind: 'failed', requestId })
    if (state === 'terminated') return report({ kind: 'gone', requestId })
    const assignment = state === 'ready' && phase === 'starting' ? assignmentOf(deployment) : undefined
    if (assignment !== undefined) report({ kind: 'ready', requestId, assignment })
  }

  const read = async (one: Watched, priority: number): Promise<void> => {
    const { requestId } = one
    const isFollowed = () => watched.get(requestId) === one && !closing.signal.aborted
    one.reading = true
    one.suspect = false
    reads += 1
    try {
      const deployment = await service.get(
        { request_id: requestId },
        { signal: closing.signal, timeoutMs: READ_TIMEOUT_MS, priority },
      )
      one.unreadable = false
      if (isFollowed()) tellStatus(one, deployment)
    } catch (error) {
      one.unreadable = true
      if (!isFollowed()) return
      if (!(error instanceof NotFound)) problem('status', error, requestId)
      else if (clock.now() - one.since >= listLagMs) report({ kind: 'gone', requestId })
    } finally {
      reads -= 1
      one.reading = false
      one.readAt = clock.now()
    }
  }

  const tellListed = (entry: DeploymentListEntry) => {
    const one = watched.get(entry.request_id)
    if (one === undefined) return stranger(entry)
    one.listedAt = clock.now()
    if (one.phase === 'running' && entry.ready === false) one.suspect = true
    if (one.phase !== 'starting' || entry.ready !== true) return
    if (!one.reading && !one.unreadable && reads < MOST_READS) return void read(one, priorities.confirm)
    const assignment = one.reading && !one.unreadable ? undefined : assignmentOf(entry)
    if (assignment !== undefined) report({ kind: 'ready', requestId: one.requestId, assignment })
  }

  /** Lists as many pages as it takes to see all that start, or, if `complete`, all. */
  const sweepOnce = async (startedAt: number, complete: boolean): Promise<void> => {
    sweeping = true
    const order = [...watched.values()]
    const oldest = order.findIndex((one) => one.phase === 'starting')
    const recent = oldest === -1 ? 0 : order.length - oldest
    const wantsMore = (pages: number, perPage: number) =>
      complete ||
      (pages <= Math.ceil(recent / perPage) && order.some((one) => one.phase === 'starting' && one.listedAt < startedAt))
    try {
      const all = await sweep({ service, tag, wantsMore, seen: tellListed, signal: closing.signal })
      nextSweepAt = startedAt + SWEEP_GAP_MS.usual
      if (all || complete) nextCompleteAt = startedAt + SWEEP_GAP_MS.complete
      if (!all) return
      for (const one of order) if (one.phase === 'running' && one.listedAt < startedAt) one.suspect = true
    } catch (error) {
      nextSweepAt = clock.now() + SWEEP_GAP_MS.failed
      if (!closing.signal.aborted) problem('list', error)
    } finally {
      sweeping = false
    }
  }

  return {
    follow: (requestId) => {
      const since = clock.now()
      const suspect = hints.delete(requestId)
      const one: Watched = {
        requestId,
        since,
        phase: 'starting',
        readAt: 0,
        listedAt: 0,
        reading: false,
        suspect,
        unreadable: false,
      }
      watched.set(requestId, one)
    },
    settle: (requestId) => {
      const one = watched.get(requestId)
      if (one !== undefined) one.phase = 'running'
    },
    forget: (requestId) => void watched.delete(requestId),
    hint: (requestId) => {
      const one = watched.get(requestId)
      if (one === undefined) {
        const [oldest] = hints
        if (hints.size >= MOST_HINTS && oldest !== undefined) hints.delete(oldest)
        hints.add(requestId)
      } else {
        one.suspect = true
        if (!one.reading && clock.now() - one.readAt >= HINT_GAP_MS) void read(one, priorities.confirm)
      }
    },
    look: (now) => {
      const complete = now >= nextCompleteAt && watched.size > 0
      const starts = complete || Array.from(watched.values()).some((one) => one.phase === 'starting')
      if (!sweeping && starts && now >= nextSweepAt) void sweepOnce(now, complete)
      for (const one of mostWorthReading(watched.values(), now, Math.min(readsPerLook, MOST_READS - reads))) {
        void read(one, one.suspect ? priorities.confirm : priorities.routine)
      }
    },
    close: () => closing.abort(),
  }
}
