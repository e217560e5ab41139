import type { DeploymentList, DeploymentListEntry, Pagination } from '@muster/core/api'
import type { DeploymentService } from '../records/deployment-service.js'
import { hasTag, taggedWith } from '../records/tags.js'

export interface PageOptions {
  readonly service: DeploymentService
  /** Tag of the deployments to list. */
  readonly tag: string
  readonly signal: AbortSignal
}

export interface SweepOptions extends PageOptions {
  /** See `priorities`. */
  readonly priority: number
  readonly seen: (entry: DeploymentListEntry) => void
  /** Waited for between two pages. */
  readonly pause: () => Promise<void>
}

/** Asked for; the maximum is not documented, and whatever comes back is taken. */
export const PER_PAGE = 100
/** A list that goes on for ever is left here. */
const MOST_PAGES = 500
const TIMEOUT_MS = 10_000

/** One page of the deployments with this tag, the newest first; what has another tag is left out. */
export async function listPage(
  { service, tag, signal }: PageOptions,
  page: number,
  priority: number,
): Promise<DeploymentList> {
  const options = { signal, timeoutMs: TIMEOUT_MS, priority }
  return service.list({ query: taggedWith(tag), page, limit: PER_PAGE }, options)
}

/**
 * Lists the deployments of this tag page by page. Resolves with whether that was all of them; the pages end
 * at one that brings nothing new, whatever the service says about further ones. Where deployments end meanwhile, others
 * move up to a page that was read already: as far as the service tells how many there are, that page is read again.
 */
export async function sweep({ seen, pause, priority, ...options }: SweepOptions): Promise<boolean> {
  const known = new Set<string>()
  let furthest = 0
  let total = 0
  let page = 1
  for (let read = 0; read < MOST_PAGES; read += 1) {
    if (read > 0) await pause()
    const { data, pagination, total_count: count } = await listPage(options, page, priority)
    const fresh = data.filter((entry) => !known.has(entry.request_id))
    for (const entry of fresh) {
      known.add(entry.request_id)
      if (hasTag(entry, options.tag)) seen(entry)
    }
    const movedUp = page > 1 && typeof count === 'number' && count < total
    const isNew = page > furthest
    total = count ?? 0
    furthest = Math.max(furthest, page)
    if (!movedUp && ((isNew && fresh.length === 0) || !promisesMore(pagination))) return true
    page += movedUp ? -1 : 1
  }
  return false
}

/** Without a word about it there may be more: asking costs one request. */
const promisesMore = (pagination: Pagination | null | undefined) =>
  pagination?.has_next ?? pagination?.next_page_number !== null
