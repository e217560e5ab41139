import type { DeploymentListEntry } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { hasTag, tagOfCredential, taggedWith } from '../../records/index.js'
import type { LostCreate } from '../source.js'
import { priorities, type DeploymentService } from './deployment-service.js'
import { sweep } from './watching/index.js'

export interface FinderOptions {
  readonly service: DeploymentService
  readonly clock: Clock
  /** The tag that all deployments of this matchmaker have. */
  readonly ownTag: string
  /** Milliseconds for which the service's list may not show a new deployment. */
  readonly listLagMs: number
  /** Called with each deployment that the list shows. */
  readonly found: (entry: DeploymentListEntry) => void
  /** Called when a deployment was not found while players wait. The search continues. */
  readonly late: (id: string) => void
  readonly absent: (id: string) => void
  readonly problem: (error: unknown, id: string) => void
}

/**
 * When to read the list while players wait, as multiples of `listLagMs` since the response was lost. The late lookups
 * find a create that the service has handled late.
 */
const WHILE_PLAYERS_WAIT = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8]
/** When to read the list if no players wait, i.e. after a restart: once, when the list shows every deployment. */
const AFTER_RESTART = [1]
/** When to read the list for twins, i.e. further deployments of a create whose first deployment is known. */
const FOR_TWINS = [0, 1]
/** Number of lookups after which players wait no longer. The last of them is at `listLagMs`. */
const LOOKS_FOR_PLAYERS = 5
/** Multiple of `listLagMs` after which players wait no longer if the lookups fail. */
const LAGS_FOR_PLAYERS = 4
/** Maximum number of single lookups. If more are due, one read of the whole list replaces them. */
const MOST_SINGLE = 3
/** Milliseconds until a failed lookup is repeated. */
const RETRY_MS = 1000
/**
 * Minimum milliseconds between two lookups because a process claims to be the server (our choice). A claim may be
 * false, and may be repeated at any rate.
 */
const CLAIM_GAP_MS = 1000
const TIMEOUT_MS = 10_000
/** Milliseconds between two pages when the whole list is read. */
const PAGE_GAP_MS = 50

type LostCreateSearch = ReturnType<typeof newSearch>

/** Creates a search. @param lostAt epoch milliseconds at which the response was lost, or a twin made its first claim */
const newSearch = (id: string, lostAt: number, times: readonly number[]) => ({
  id,
  lostAt,
  times,
  /** Number of `times` that were over when the last successful lookup began. */
  looks: 0,
  isHinted: false,
  /** Epoch milliseconds before which the claim of a process causes no lookup. */
  claimsRestUntil: 0,
  isLooking: false,
  /** Epoch milliseconds before which a failed lookup is not repeated. */
  restsUntil: 0,
})

/**
 * Orphan reconciliation: finds the deployments of creates that were not answered, by their tags.
 *
 * A deployment counts as absent once all scheduled lookups have missed it. Lookups because of webhooks do not count,
 * because they may be too early.
 */
export function createLostCreateSearch(options: FinderOptions) {
  const { service, clock, ownTag, listLagMs, found, late, absent, problem } = options
  const searches = new Map<string, LostCreateSearch>()
  const closing = new AbortController()
  const { signal } = closing
  let enoughLooks = Infinity
  let singleLooks = 0
  let isSweeping = false

  const timesPassed = ({ times, lostAt }: LostCreateSearch, now: number) =>
    times.filter((part) => lostAt + part * listLagMs <= now).length

  const isDue = (search: LostCreateSearch, now: number) =>
    !search.isLooking && now >= search.restsUntil && (search.isHinted || timesPassed(search, now) > search.looks)

  /** Reads the list for these searches. @param list resolves with true if the whole list was read */
  const runLookup = async (covered: readonly LostCreateSearch[], list: () => Promise<boolean>): Promise<void> => {
    const begunAt = clock.now()
    for (const search of covered) {
      search.isLooking = true
      search.isHinted = false
    }
    try {
      if (!(await list())) throw new Error('the list of deployments could not be read to its last page')
      for (const search of covered) search.looks = timesPassed(search, begunAt)
    } catch (error) {
      const restsUntil = clock.now() + RETRY_MS
      for (const search of covered) search.restsUntil = restsUntil
      const [first] = covered
      if (first !== undefined && !signal.aborted) problem(error, first.id)
    } finally {
      for (const search of covered) search.isLooking = false
    }
  }

  /** Reads the list to its end. Resolves with true if it was read completely. */
  const readWhole = () => {
    const pause = () => clock.sleep(PAGE_GAP_MS, signal)
    return sweep({ service, tag: ownTag, signal, priority: priorities.find, pause, seen: found })
  }

  const lookForOne = async (search: LostCreateSearch): Promise<void> => {
    const tag = tagOfCredential(search.id)
    singleLooks += 1
    await runLookup([search], async () => {
      const query = { query: taggedWith(tag), limit: 10 }
      const { data } = await service.list(query, { signal, timeoutMs: TIMEOUT_MS, priority: priorities.find })
      for (const entry of data) if (hasTag(entry, tag)) found(entry)
      // A service that ignores the filter shows the deployment on any page.
      return data.every((entry) => hasTag(entry, tag)) || readWhole()
    })
    singleLooks -= 1
  }

  const lookForAll = async (due: readonly LostCreateSearch[]): Promise<void> => {
    isSweeping = true
    await runLookup(due, readWhole)
    isSweeping = false
  }

  const lookOn = (now: number) => {
    const due = Array.from(searches.values()).filter((search) => isDue(search, now))
    if (due.length + singleLooks <= MOST_SINGLE) for (const search of due) void lookForOne(search)
    else if (due.length > 0 && !isSweeping) void lookForAll(due)
  }

  return {
    begin: ({ id, lostAt, isAwaited }: LostCreate) =>
      void searches.set(id, newSearch(id, lostAt, isAwaited ? WHILE_PLAYERS_WAIT : AFTER_RESTART)),
    /** Called when a webhook suggests that the deployment exists. Causes an additional lookup. */
    hint: (id: string) => {
      const search = searches.get(id)
      if (search !== undefined) search.isHinted = true
    },
    /** Called when a process claims to be this server, see `ServerSource`. A search for twins does not change. */
    claimed: (id: string) => {
      const now = clock.now()
      const search = searches.get(id)
      if (search === undefined) searches.set(id, newSearch(id, now, FOR_TWINS))
      else if (search.times !== FOR_TWINS && now >= search.claimsRestUntil) {
        search.isHinted = true
        search.claimsRestUntil = now + CLAIM_GAP_MS
      }
    },
    end: (id: string) => void searches.delete(id),
    /** Ends the searches that are over, and begins the lookups that are due. */
    advance: (now: number) => {
      for (const { id, looks, lostAt, times } of searches.values()) {
        const isLost = times !== FOR_TWINS
        if (isLost && (looks >= LOOKS_FOR_PLAYERS || now - lostAt >= LAGS_FOR_PLAYERS * listLagMs)) late(id)
        if (looks < Math.min(times.length, enoughLooks)) continue
        searches.delete(id)
        if (isLost) absent(id)
      }
      lookOn(now)
    },
    /** Lets deployments count as absent after fewer lookups from now on. */
    giveUpSooner: () => {
      enoughLooks = LOOKS_FOR_PLAYERS
    },
    /** Aborts all lookups. */
    close: () => closing.abort(),
  }
}
