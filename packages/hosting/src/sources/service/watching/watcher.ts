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
  /** Tag of the deployments to follow. */
  readonly tag: string
  /** True if the service sends webhooks, so that lists only need to find changes that no webhook has reported. */
  readonly pushed: boolean
  /** Called with a listed deployment that has the tag and is not followed. */
  readonly stranger: (entry: DeploymentListEntry) => void
  /** Called when the whole list was read. @param begunAt epoch milliseconds at which the read began */
  readonly swept?: ((begunAt: number) => void) | undefined
  readonly problem: (during: 'list' | 'status', error: unknown, requestId?: string) => void
}

/** Maximum number of concurrent list requests, so that none waits long for the client's rate limit. */
const MOST_LISTS = 2
/** Milliseconds between two decisions what to read, and duration of a call of `readDue`. */
const STEP_MS = 25
const LOOK_MS = 2000
/**
 * Minimum milliseconds between two pages. `usual`: the documented limit of 10 a second. `failed`: after a failure.
 * `complete`: during a sweep, so that half of the limit is left for starting deployments.
 */
const PAGE_GAP_MS = { usual: 100, failed: 1000, complete: 200 }
/**
 * Milliseconds between two sweeps (reads of the whole list). `usual`; `failed`: after a failure; `running`: while
 * deployments run whose end no webhook reports. With up to 1,000 deployments, an end is then noticed within 5 s: after
 * two sweeps of 2 s and a status read.
 */
const COMPLETE_GAP_MS = { usual: 30_000, failed: 5000, running: 2000 }
/** Maximum number of hints about deployments that are not followed. Forged webhooks must not fill the memory. */
const MOST_HINTS = 1000

/**
 * Follows all deployments within the rate limits of the service. The next request is the one that is expected to
 * reveal most: a page of the list, or a status. That depends on the probability that deployments are READY by now, and
 * on the time since they were last seen. Regular sweeps read the whole list to find deployments that have ended or are
 * unknown. A deployment listed as READY is confirmed by a status read, which also shows its location. If no read is
 * possible at once, the list's entry is used.
 */
export class Watcher {
  readonly #options: WatcherOptions
  readonly #closing = manyWaitOn()
  readonly #times = createDeployTimes()
  readonly #watched = createWatchedSet()
  readonly #statusReader: ReturnType<typeof createStatusReader>
  readonly #hints = new Set<string>()
  #perPage = PER_PAGE
  #lists = 0
  #nextPageAt = 0
  #sweeping = false
  /** Epoch milliseconds at which the last sweep began. -Infinity before the first. */
  #sweptAt = -Infinity
  #mayNotSweepBefore = 0
  #lookingUntil = 0
  #isLooking = false

  constructor(options: WatcherOptions) {
    this.#options = options
    this.#statusReader = createStatusReader({
      ...options,
      watched: this.#watched,
      times: this.#times,
      signal: this.#closing.signal,
    })
  }

  /** Records that a deployment is READY. From now on, only its end matters. */
  settle(requestId: string): void {
    this.#watched.settle(requestId)
  }
  forget(requestId: string): void {
    this.#watched.remove(requestId)
  }

  /**
   * Follows a deployment that was just created, until `forget`.
   * @param kind deployments of the same kind take about the same time until READY
   */
  follow(requestId: string, kind: string) {
    const now = this.#options.clock.now()
    const one = newWatched(requestId, kind, now)
    one.suspect = this.#hints.delete(requestId)
    this.#watched.add(one)
    if (one.suspect) this.#statusReader.confirm(one)
  }

  /** Records that a deployment has probably changed, e.g. by a webhook. The call may come before `follow`. */
  hint(requestId: string) {
    const one = this.#watched.get(requestId)
    if (one === undefined) {
      const [oldest] = this.#hints
      if (this.#hints.size >= MOST_HINTS && oldest !== undefined) this.#hints.delete(oldest)
      this.#hints.add(requestId)
      return
    }
    this.#watched.suspect(one)
    this.#statusReader.confirm(one)
  }

  /** Begins the reads of the next two seconds. Changes are reported as they are found. */
  readDue(now: number) {
    if (this.#isSweepDue(now)) void this.#sweepAll(now)
    this.#lookingUntil = now + LOOK_MS
    this.#statusReader.readBest(this.#watched.suspects, now)
    if (!this.#isLooking && this.#watched.starting.size > 0) void this.#lookOn()
  }

  /** Aborts all reads. */
  close() {
    return this.#closing.abort()
  }

  #tellListed(entry: DeploymentListEntry, askedAt: number) {
    const one = this.#watched.get(entry.request_id)
    if (one === undefined) this.#options.stranger(entry)
    else this.#statusReader.listed(one, entry, askedAt)
  }

  /** Reads the page of the list that is most worth reading, if any. */
  async #listBest(now: number): Promise<void> {
    const newestFirst = this.#watched.newestPages(this.#perPage)
    const page = mostWorthListing(newestFirst, now, this.#times, this.#perPage)
    if (page === undefined) return
    const covered = newestFirst.slice((page - 1) * this.#perPage, page * this.#perPage)
    for (const one of covered) one.coveredAt = now
    this.#lists += 1
    this.#nextPageAt = now + PAGE_GAP_MS.usual
    try {
      const { data, pagination } = await listPage(
        { service: this.#options.service, tag: this.#options.tag, signal: this.#closing.signal },
        page,
        priorities.routine,
      )
      // The page is full, so it shows how many entries the service returns per page.
      if (pagination?.has_next === true && data.length > 0) this.#perPage = data.length
      for (const entry of data) if (hasTag(entry, this.#options.tag)) this.#tellListed(entry, now)
    } catch (error) {
      this.#nextPageAt = this.#options.clock.now() + PAGE_GAP_MS.failed
      if (!this.#closing.signal.aborted) this.#options.problem('list', error)
    } finally {
      this.#lists -= 1
      for (const one of covered) if (one.coveredAt === now) one.coveredAt = 0
    }
  }

  async #lookOn(): Promise<void> {
    this.#isLooking = true
    try {
      while (this.#watched.starting.size > 0 && this.#options.clock.now() < this.#lookingUntil) {
        const now = this.#options.clock.now()
        if (now >= this.#nextPageAt && this.#lists < MOST_LISTS) void this.#listBest(now)
        this.#statusReader.readBest(this.#watched.starting.values(), now)
        await this.#options.clock.sleep(STEP_MS, this.#closing.signal)
      }
    } catch {
      // `close` was called.
    } finally {
      this.#isLooking = false
    }
  }

  async #sweepAll(startedAt: number): Promise<void> {
    this.#sweeping = true
    const present = this.#watched.all()
    let askedAt = startedAt
    let showsOwn = false
    const pause = async () => {
      const gap = askedAt + PAGE_GAP_MS.complete - this.#options.clock.now()
      if (gap > 0 && (this.#watched.starting.size > 0 || this.#watched.running() > 0))
        await this.#options.clock.sleep(gap, this.#closing.signal)
      askedAt = this.#options.clock.now()
      this.#nextPageAt = Math.max(this.#nextPageAt, askedAt + PAGE_GAP_MS.usual)
    }
    try {
      const all = await sweep({
        service: this.#options.service,
        tag: this.#options.tag,
        signal: this.#closing.signal,
        priority: priorities.background,
        pause,
        seen: (entry) => {
          showsOwn = true
          this.#tellListed(entry, askedAt)
        },
      })
      this.#sweptAt = startedAt
      if (all) this.#options.swept?.(startedAt)
      if (all)
        for (const one of present)
          if (one.phase === 'running' && this.#isMissing(one, startedAt)) {
            // A list without any deployment of this matchmaker may be incomplete, so it does not show that this one is
            // gone.
            one.isUnlisted = showsOwn
            this.#watched.suspect(one)
          }
    } catch (error) {
      this.#mayNotSweepBefore = this.#options.clock.now() + COMPLETE_GAP_MS.failed
      if (!this.#closing.signal.aborted) this.#options.problem('list', error)
    } finally {
      this.#sweeping = false
    }
  }

  /**
   * True if a running deployment is probably no longer in the list. A deployment that no list has shown since its last
   * status read counts as missing only 30 s after that read.
   */
  #isMissing(one: Watched, startedAt: number) {
    return one.listedAt < startedAt && (one.listedAt > one.readAt || startedAt - one.readAt >= COMPLETE_GAP_MS.usual)
  }

  #isSweepDue(now: number) {
    const gap = this.#watched.running() > 0 && !this.#options.pushed ? COMPLETE_GAP_MS.running : COMPLETE_GAP_MS.usual
    return !this.#sweeping && now >= Math.max(this.#sweptAt + gap, this.#mayNotSweepBefore)
  }
}
