import type { DeploymentListEntry } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { hasTag, tagOfCredential, taggedWith } from '../../records/index.js'
import type { LostCreate } from '../source.js'
import { priorities, type DeploymentService } from './deployment-service.js'
import { sweep } from './watching/index.js'

export interface FinderOptions {
  readonly service: DeploymentService
  readonly clock: Clock
  /** The tag of all deployments of this matchmaker. */
  readonly ownTag: string
  /** Milliseconds for which the service's list may not show a new deployment. */
  readonly listLagMs: number
  /** Called when the list shows a deployment of this matchmaker. */
  readonly found: (entry: DeploymentListEntry) => void
  /** Called when the players have waited long enough. The search continues without them. */
  readonly late: (id: string) => void
  /** Called when the deployment does not exist. */
  readonly absent: (id: string) => void
  readonly problem: (error: unknown, id: string) => void
}

/**
 * When to query the list, as multiples of `listLagMs` since the loss. While players wait, lookups are frequent at
 * first. Late lookups cover a create that took effect after the list lag.
 */
const WHILE_PLAYERS_WAIT = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8]
/** For a match of an earlier process, for which nobody waits: one lookup, once the list shows everything created. */
const AFTER_RESTART = [1]
/** For other deployments of a create whose deployment is known: at once, and once the list shows all of them. */
const FOR_TWINS = [0, 1]
/** Number of lookups before the players are released. The last one is at `listLagMs`. */
const LOOKS_FOR_PLAYERS = 5
/** If lookups fail, the players are released after this multiple of `listLagMs`. */
const LAGS_FOR_PLAYERS = 4
/** If there are more searches, one read of the whole list answers all of them. */
const MOST_SINGLE = 3
/** Milliseconds until a failed lookup is repeated. */
const RETRY_MS = 1000
/**
 * Minimum milliseconds between two lookups of one search because a process claims to be the server (our choice). A
 * process can repeat its claim as often as it wants.
 */
const CLAIM_GAP_MS = 1000
const TIMEOUT_MS = 10_000
/** Milliseconds between two pages of a read of the whole list. */
const PAGE_GAP_MS = 50

type LostCreateSearch = ReturnType<typeof newSearch>

/** @param lostAt epoch milliseconds of the loss, or since when other deployments of the same create are looked for */
const newSearch = (id: string, lostAt: number, times: readonly number[]) => ({
  id,
  lostAt,
  times,
  /** Number of `times` that had passed when the last answered lookup began. */
  looks: 0,
  isHinted: false,
  /** Epoch milliseconds before which a process that claims to be the server causes no lookup. */
  claimsRestUntil: 0,
  isLooking: false,
  /** Epoch milliseconds before which a failed lookup is not repeated. */
  restsUntil: 0,
})

/**
 * Orphan reconciliation: finds, by tag, deployments whose create was never answered.
 *
 * A deployment counts as absent only after all scheduled lookups have missed it. Lookups triggered by webhooks do not
 * count, because webhooks may arrive at any time.
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

  /** @param list resolves with true if it has shown everything. */
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

  const lookForOne = async (search: LostCreateSearch): Promise<void> => {
    const tag = tagOfCredential(search.id)
    singleLooks += 1
    await runLookup([search], async () => {
      const query = { query: taggedWith(tag), limit: 10 }
      const { data } = await service.list(query, { signal, timeoutMs: TIMEOUT_MS, priority: priorities.find })
      for (const entry of data) if (hasTag(entry, tag)) found(entry)
      return true
    })
    singleLooks -= 1
  }

  const lookForAll = async (due: readonly LostCreateSearch[]): Promise<void> => {
    const pause = () => clock.sleep(PAGE_GAP_MS, signal)
    isSweeping = true
    await runLookup(due, () => sweep({ service, tag: ownTag, signal, priority: priorities.find, pause, seen: found }))
    isSweeping = false
  }

  const lookOn = (now: number) => {
    const due = Array.from(searches.values()).filter((search) => isDue(search, now))
    if (due.length + singleLooks <= MOST_SINGLE) for (const search of due) void lookForOne(search)
    else if (due.length > 0 && !isSweeping) void lookForAll(due)
  }

  return {
    /** Begins a search. */
    begin: ({ id, lostAt, isAwaited }: LostCreate) =>
      void searches.set(id, newSearch(id, lostAt, isAwaited ? WHILE_PLAYERS_WAIT : AFTER_RESTART)),
    /** Records a hint that the deployment exists. Schedules an extra lookup soon, in addition to the planned ones. */
    hint: (id: string) => {
      const search = searches.get(id)
      if (search !== undefined) search.isHinted = true
    },
    /** Called when a process claims to be this server, see `ServerSource`. A search for other deployments of
     * the same create continues unchanged. */
    claimed: (id: string) => {
      const now = clock.now()
      const search = searches.get(id)
      if (search === undefined) searches.set(id, newSearch(id, now, FOR_TWINS))
      else if (search.times !== FOR_TWINS && now >= search.claimsRestUntil) {
        search.isHinted = true
        search.claimsRestUntil = now + CLAIM_GAP_MS
      }
    },
    /** Ends the search because the deployment was found or is no longer needed. */
    end: (id: string) => void searches.delete(id),
    /** Begins the lookups that are due. */
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
    /** Lets a deployment count as absent after fewer lookups from now on. */
    giveUpSooner: () => {
      enoughLooks = LOOKS_FOR_PLAYERS
    },
    /** Ends all searches. */
    close: () => closing.abort(),
  }
}
