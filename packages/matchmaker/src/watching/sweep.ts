import type { DeploymentListEntry, Pagination } from '@muster/core/api'
import { priorities, type DeploymentService } from '../allocation/deployment-service.js'
import { hasTag, taggedWith } from '../allocation/tagged.js'

export interface SweepOptions {
  readonly service: DeploymentService
  /** Tag of the deployments to list. */
  readonly tag: string
  /** Whether there is still something to look for on further pages. */
  readonly wantsMore: (pages: number, entriesPerPage: number) => boolean
  readonly seen: (entry: DeploymentListEntry) => void
  readonly signal: AbortSignal
}

/** Asked for; the maximum is not documented, and whatever comes back is taken. */
const PER_PAGE = 100
/** A list that goes on for ever is left here. */
const MOST_PAGES = 200
const TIMEOUT_MS = 10_000

/**
 * Lists the deployments of this tag page by page, the newest first. Resolves with whether that was all of
 * them; the pages end at one that brings nothing new, whatever the service says about further ones.
 */
export async function sweep({ service, tag, wantsMore, seen, signal }: SweepOptions): Promise<boolean> {
  const known = new Set<string>()
  for (let page = 1; page <= MOST_PAGES; page++) {
    const { data, pagination } = await service.list(
      { query: taggedWith(tag), page, limit: PER_PAGE },
      { signal, timeoutMs: TIMEOUT_MS, priority: priorities.routine },
    )
    const fresh = data.filter((entry) => !known.has(entry.request_id))
    for (const entry of fresh) {
      known.add(entry.request_id)
      if (hasTag(entry, tag)) seen(entry)
    }
    if (fresh.length === 0 || !promisesMore(pagination)) return true
    if (!wantsMore(page, data.length)) return false
  }
  return false
}

/** Without a word about it there may be more: asking costs one request. */
const promisesMore = (pagination: Pagination | null | undefined) => pagination?.has_next ?? pagination?.next_page_number !== null
