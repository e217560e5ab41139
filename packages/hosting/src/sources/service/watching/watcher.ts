import type { DeploymentListEntry } from '@muster/core/api'
import { manyWaitOn } from '@muster/core/internal'
import { hasTag } from '../../../records/index.js'
import { priorities } from '../deployment-service.js'
import { createDeployTimes } from './deploy-times.js'
import { createStatusReader, createWatchedSet, type StatusReaderOptions } from './status-reader.js'
import { listPage, PER_PAGE, sweep } from './list-sweep.js'
import { mostWorthListing, newWatched, type Watched } from './read-budget.js'

type OfReads = Pick<StatusReaderOptions, 'service' | 'clock' | 'listLagMs' | 'readsPerSecond' | 'report'>

export interface WatcherOptions extends OfReads {
  /** Tag of all deployments to follow. */
  readonly tag: string
  /** Whether the service tells of changes by webhooks, so that lists need only find what those have missed. */
  readonly pushed: boolean
  /** Called with a listed deployment that has the tag and is not followed. */
  readonly stranger: (entry: DeploymentListEntry) => void
  /** Called when all pages have been listed, one after another since `begunAt`, in epoch milliseconds. */
  readonly swept?: ((begunAt: number) => void) | undefined
  readonly problem: (during: 'list' | 'status', error: unknown, requestId?: string) => void
}

/** Most list requests under way, so that none waits long for the client's rate limit. */
const MOST_LISTS = 2
/**
 * `STEP_MS`: milliseconds between two decisions what to read while a deployment is starting. `LOOK_MS`: milliseconds
 * for which one call of `look` continues.
 */
const STEP_MS = 25
const LOOK_MS = 2000
/**
 * Least milliseconds from one page to the next: of any, which is the documented limit of 10 a second; after a failure;
 * and of a complete sweep, which leaves half of the limit to deployments that start.
 */
const PAGE_GAP_MS = { usual: 100, failed: 1000, complete: 200 }
/**
 * Milliseconds from one complete sweep, which finds ended and unknown deployments, to the next: usually, after a
 * failure, and while deployments run whose end no webhook tells. Up to 1,000 of them, on ten pages of 100, an end is
 * then seen within 5 s: two sweeps of 2 s, and a status read.
 */
const COMPLETE_GAP_MS = { usual: 30_000, failed: 5000, running: 2000 }
/** Most hints that are kept about deployments that are not followed (yet): forged hints must not fill the memory. */
const MOST_HINTS = 1000

/**
 * Follows all deployments together, within the rate limits of the service. The page of the list, or the status, that is
 * expected to reveal most is read next, by the chance of each deployment to be READY by now and the time since it was
 * last seen. From time to time a sweep lists all pages, to find ended and unknown deployments. A deployment listed as
 * READY is confirmed by a status read, which also shows its location; if the read would make players wait, the list's
 * entry is used.
 */
export function createWatcher(options: WatcherOptions) {
  const { service, tag, clock, listLagMs, readsPerSecond, pushed, report, stranger, problem } = options
  const { swept = () => {} } = options
  const closing = manyWaitOn()
  const { signal } = closing
  const times = createDeployTimes()
  const watched = createWatchedSet()
  const { starting } = watched
  const statusReader = createStatusReader({
    service,
    watched,
    times,
    clock,
    listLagMs,
    readsPerSecond,
    signal,
    report,
    problem,
  })
  const hints = new Set<string>()
  let perPage = PER_PAGE
  let lists = 0
  let nextPageAt = 0
  let sweeping = false
  /** Start of the last complete sweep, in epoch milliseconds; -Infinity before the first. */
  let sweptAt = -Infinity
  let mayNotSweepBefore = 0
  let lookingUntil = 0
  let isLooking = false

  const tellListed = (entry: DeploymentListEntry, askedAt: number) => {
    const one = watched.get(entry.request_id)
    if (one === undefined) stranger(entry)
    else statusReader.listed(one, entry, askedAt)
  }

  /** Lists the page that is expected to reveal most, if any page is worth it. */
  const listBest = async (now: number): Promise<void> => {
    const newestFirst = watched.newestPages(perPage)
    const page = mostWorthListing(newestFirst, now, times, perPage)
    if (page === undefined) return
    const covered = newestFirst.slice((page - 1) * perPage, page * perPage)
    for (const one of covered) one.coveredAt = now
    lists += 1
    nextPageAt = now + PAGE_GAP_MS.usual
    try {
      const { data, pagination } = await listPage({ service, tag, signal }, page, priorities.routine)
      // A full page shows how many entries the service returns per page, whatever limit was requested.
      if (pagination?.has_next === true && data.length > 0) perPage = data.length
      for (const entry of data) if (hasTag(entry, tag)) tellListed(entry, now)
    } catch (error) {
      nextPageAt = clock.now() + PAGE_GAP_MS.failed
      if (!signal.aborted) problem('list', error)
    } finally {
      lists -= 1
      for (const one of covered) if (one.coveredAt === now) one.coveredAt = 0
    }
  }

  const lookOn = async (): Promise<void> => {
    isLooking = true
    try {
      while (starting.size > 0 && clock.now() < lookingUntil) {
        const now = clock.now()
        if (now >= nextPageAt && lists < MOST_LISTS) void listBest(now)
        statusReader.readBest(starting.values(), now)
        await clock.sleep(STEP_MS, signal)
      }
    } catch {
      // The watcher was closed.
    } finally {
      isLooking = false
    }
  }

  const sweepAll = async (startedAt: number): Promise<void> => {
    sweeping = true
    const present = watched.all()
    let askedAt = startedAt
    const pause = async () => {
      const gap = askedAt + PAGE_GAP_MS.complete - clock.now()
      if (gap > 0 && (starting.size > 0 || watched.running() > 0)) await clock.sleep(gap, signal)
      askedAt = clock.now()
      nextPageAt = Math.max(nextPageAt, askedAt + PAGE_GAP_MS.usual)
    }
    try {
      const all = await sweep({
        service,
        tag,
        signal,
        priority: priorities.background,
        pause,
        seen: (entry) => tellListed(entry, askedAt),
      })
      sweptAt = startedAt
      if (all) swept(startedAt)
      if (all) for (const one of present) if (one.phase === 'running' && isMissing(one, startedAt)) watched.suspect(one)
    } catch (error) {
      mayNotSweepBefore = clock.now() + COMPLETE_GAP_MS.failed
      if (!signal.aborted) problem('list', error)
    } finally {
      sweeping = false
    }
  }

  /** Whether it ran and is no longer in the list; one that was never there, or read as READY since, is read rarely. */
  const isMissing = (one: Watched, startedAt: number) =>
    one.listedAt < startedAt && (one.listedAt > one.readAt || startedAt - one.readAt >= COMPLETE_GAP_MS.usual)

  const isSweepDue = (now: number) => {
    const gap = watched.running() > 0 && !pushed ? COMPLETE_GAP_MS.running : COMPLETE_GAP_MS.usual
    return !sweeping && now >= Math.max(sweptAt + gap, mayNotSweepBefore)
  }

  return {
    /**
     * Follows a deployment that was just created until it is forgotten.
     * @param kind deployments of the same kind take about the same time to become READY.
     */
    follow: (requestId: string, kind: string) => {
      const now = clock.now()
      const one = newWatched(requestId, kind, now)
      one.suspect = hints.delete(requestId)
      watched.add(one)
      if (one.suspect) statusReader.confirm(one)
    },
    /** Marks a deployment as known to be READY: from now on only its end is watched for. */
    settle: watched.settle,
    forget: watched.remove,
    /** Notes that a deployment may have changed, e.g. because a webhook says so. May be called before `follow`. */
    hint: (requestId: string) => {
      const one = watched.get(requestId)
      if (one === undefined) {
        const [oldest] = hints
        if (hints.size >= MOST_HINTS && oldest !== undefined) hints.delete(oldest)
        hints.add(requestId)
        return
      }
      watched.suspect(one)
      statusReader.confirm(one)
    },
    /** Reads statuses and lists where that is worth it, for the next two seconds; results are reported as they come. */
    look: (now: number) => {
      if (isSweepDue(now)) void sweepAll(now)
      lookingUntil = now + LOOK_MS
      statusReader.readBest(watched.suspects, now)
      if (!isLooking && starting.size > 0) void lookOn()
    },
    /** Aborts all reads and stops the watcher. */
    close: () => closing.abort(),
  }
}
