import { NotFound, RouteMissing, UnexpectedResponse } from '@muster/core'
import { deploymentPhase } from '@muster/core/internal'
import type { Deployment, DeploymentListEntry } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { type Assignment, assignmentOf } from '../../../records/index.js'
import type { ServerChange } from '../../source.js'
import { type DeploymentService, priorities } from '../deployment-service.js'
import type { DeployTimes } from './deploy-times.js'
import { createAllowance, mostWorthReading, type Watched } from './read-budget.js'

/** The followed deployments. Muster reads their status until they have ended. */
type WatchedSet = ReturnType<typeof createWatchedSet>

export function createWatchedSet() {
  const watched = new Map<string, Watched>()
  const starting = new Map<string, Watched>()
  const suspects = new Set<Watched>()
  const suspect = (one: Watched) => {
    // A list may report a deployment that is no longer followed.
    if (watched.get(one.requestId) !== one) return
    one.suspect = true
    if (one.phase === 'running') suspects.add(one)
  }
  return {
    add: (one: Watched) => {
      watched.set(one.requestId, one)
      starting.set(one.requestId, one)
    },
    get: (requestId: string): Watched | undefined => watched.get(requestId),
    /** True if the deployment is still followed. */
    has: (one: Watched) => watched.get(one.requestId) === one,
    /** Records that a deployment is READY. */
    settle: (requestId: string) => {
      starting.delete(requestId)
      const one = watched.get(requestId)
      if (one === undefined) return
      one.phase = 'running'
      if (one.suspect) suspect(one)
    },
    remove: (requestId: string) => {
      const one = watched.get(requestId)
      if (one !== undefined) suspects.delete(one)
      watched.delete(requestId)
      starting.delete(requestId)
    },
    /** Records that a deployment has probably changed. Has no effect if it is no longer followed. */
    suspect,
    /** Called when the deployment's status is being read. */
    clear: (one: Watched) => {
      one.suspect = false
      suspects.delete(one)
    },
    /** Returns all deployments, in order of creation. */
    all: (): Watched[] => [...watched.values()],
    /** Returns the newest deployments, up to the oldest that is starting, filled up to whole pages. */
    newestPages: (perPage: number): Watched[] => {
      const newest: Watched[] = []
      let left = starting.size
      for (const one of [...watched.values()].toReversed()) {
        if (left === 0 && newest.length % perPage === 0) break
        newest.push(one)
        if (one.phase === 'starting') left -= 1
      }
      return newest
    },
    starting,
    running: () => watched.size - starting.size,
    /** Running deployments that have probably changed, e.g. by a webhook. */
    suspects,
  }
}

export interface StatusReaderOptions {
  readonly service: DeploymentService
  readonly watched: WatchedSet
  readonly times: DeployTimes
  readonly clock: Clock
  /** Milliseconds for which the service may not show a new deployment. */
  readonly listLagMs: number
  readonly readsPerSecond: number
  readonly signal: AbortSignal
  readonly report: (change: ServerChange) => void
  readonly problem: (during: 'status', error: unknown, requestId: string) => void
}

/** Maximum number of concurrent status reads, so that none waits long for the client's rate limit. */
const MOST_READS = 10
const TIMEOUT_MS = 10_000
/** Minimum milliseconds between two reads of a deployment because of hints. */
const HINT_GAP_MS = 200

/** Reads the status of deployments, and reports changes that a read or the list shows. */
export function createStatusReader(options: StatusReaderOptions) {
  const { service, watched, times, clock, listLagMs, readsPerSecond, signal, report, problem } = options
  const allowance = createAllowance(readsPerSecond, clock.now())
  /** Deployments that the list shows as READY while their status is being read, with the address in the list. */
  const listedReady = new Map<Watched, Assignment>()
  /** Deployments with a hint that came while too many reads were in flight. */
  const hinted = new Set<Watched>()
  let reads = 0

  const ready = (one: Watched, assignment: Assignment) => {
    const now = clock.now()
    const unseenSince = Math.max(one.seenAt, one.since)
    // The deployment became READY between its last sighting and now, so the middle is recorded.
    times.took(one.kind, (unseenSince + now) / 2 - one.since)
    report({ kind: 'ready', handle: one.requestId, assignment, unseenMs: now - unseenSince })
  }

  const tell = (one: Watched, deployment: Deployment, askedAt: number) => {
    const { requestId, phase } = one
    const state = deploymentPhase(deployment)
    if (state === 'failed')
      return report({ kind: 'failed', handle: requestId, detail: deployment.error_detail ?? undefined })
    if (state === 'terminated') return report({ kind: 'gone', handle: requestId })
    if (state === 'starting') one.seenAt = Math.max(one.seenAt, askedAt)
    const assignment = state === 'ready' && phase === 'starting' ? assignmentOf(deployment) : undefined
    if (assignment !== undefined) ready(one, assignment)
  }

  const read = async (one: Watched, priority: number): Promise<void> => {
    const { requestId } = one
    const isFollowed = () => watched.has(one) && !signal.aborted
    const askedAt = clock.now()
    allowance.use(askedAt)
    one.reading = true
    watched.clear(one)
    hinted.delete(one)
    reads += 1
    try {
      const deployment = await service.get({ request_id: requestId }, { signal, timeoutMs: TIMEOUT_MS, priority })
      one.unreadable = false
      if (isFollowed()) tell(one, deployment, askedAt)
    } catch (error) {
      one.unreadable = true
      if (!isFollowed()) return
      // A 404 without a message may not come from the service, and an unreadable answer may be the null that a public
      // deployment describes. Both count if the list does not show the deployment.
      const isVague = error instanceof RouteMissing || error instanceof UnexpectedResponse
      const isUnknown = error instanceof NotFound || (isVague && one.isUnlisted)
      if (!isUnknown) problem('status', error, requestId)
      // The answer may arrive late, so the age at the request counts.
      else if (askedAt - one.since >= listLagMs) report({ kind: 'gone', handle: requestId })
    } finally {
      reads -= 1
      one.reading = false
      one.readAt = clock.now()
      const assignment = listedReady.get(one)
      listedReady.delete(one)
      if (assignment !== undefined && isFollowed() && one.phase === 'starting') ready(one, assignment)
      confirmNext()
    }
  }

  const confirm = (one: Watched) => {
    const now = clock.now()
    if (one.reading || now - one.readAt < HINT_GAP_MS || !allowance.isAmple(now)) return
    if (reads >= MOST_READS) hinted.add(one)
    else void read(one, priorities.confirm)
  }

  const confirmNext = () => {
    for (const one of hinted) {
      if (reads >= MOST_READS || signal.aborted) return
      hinted.delete(one)
      if (watched.has(one)) confirm(one)
    }
  }

  return {
    /**
     * Reads the status of a deployment, at once or when another read ends. Does nothing if its status is being read or
     * was read within `HINT_GAP_MS`, or if too few tokens are left. A later read or list then shows the change.
     */
    confirm,

    /** Reads the statuses that are most worth reading. Only reads because of a hint may use the last tokens. */
    readBest: (among: Iterable<Watched>, now: number) => {
      for (const one of mostWorthReading(among, now, times, Math.min(allowance.left(now), MOST_READS - reads))) {
        if (one.suspect && one.phase === 'starting') void read(one, priorities.confirm)
        else if (allowance.isAmple(now)) void read(one, priorities.routine)
      }
    },

    /**
     * Applies an entry of the list.
     * @param askedAt when the list was requested, in epoch milliseconds
     */
    listed: (one: Watched, entry: DeploymentListEntry, askedAt: number) => {
      one.listedAt = clock.now()
      one.isUnlisted = false
      if (one.phase === 'running' && entry.ready === false) watched.suspect(one)
      if (one.phase !== 'starting') return
      if (entry.ready !== true) {
        one.seenAt = Math.max(one.seenAt, askedAt)
        return
      }
      const assignment = assignmentOf(entry)
      const mayRead = !one.reading && !one.unreadable && reads < MOST_READS
      if (assignment === undefined) {
        if (mayRead) void read(one, priorities.confirm)
      } else if (one.reading) {
        listedReady.set(one, assignment)
      } else if (mayRead && allowance.isAmple(clock.now())) {
        // If the read fails, the address in the list is used.
        listedReady.set(one, assignment)
        void read(one, priorities.confirm)
      } else {
        ready(one, assignment)
      }
    },
  }
}
