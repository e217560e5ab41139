import type { DeploymentList, DeploymentListEntry, Pagination } from '@muster/core/api'
import { hasTag, taggedWith } from '../../../records/index.js'
import type { DeploymentService } from '../deployment-service.js'

interface PageOptions {
  readonly service: DeploymentService
  /** Tag of the deployments to list. */
  readonly tag: string
  readonly signal: AbortSignal
}

interface SweepOptions extends PageOptions {
  /** Priority of the list requests, see `priorities`. */
  readonly priority: number
  readonly seen: (entry: DeploymentListEntry) => void
  /** Called between two pages. The next page is listed once the promise resolves. */
  readonly pause: () => Promise<void>
}

/** Number of entries requested per page. The service's maximum is not documented, so pages of any size are accepted. */
export const PER_PAGE = 100
/** Maximum number of pages of one sweep, a read of the whole list, in case the service's list never ends. */
const MOST_PAGES = 500
const TIMEOUT_MS = 10_000

/** Lists one page, newest first. The service filters. Callers check the tag of each entry. */
export async function listPage(
  { service, tag, signal }: PageOptions,
  page: number,
  priority: number,
): Promise<DeploymentList> {
  const options = { signal, timeoutMs: TIMEOUT_MS, priority }
  return service.list({ query: taggedWith(tag), page, limit: PER_PAGE }, options)
}

/**
 * Lists the deployments with this tag page by page. Resolves with true if all of them were listed. The list ends at a
 * page without new entries, whatever the service reports about further pages. When deployments end during the sweep,
 * later ones move to a page that was read already. If the total count shows that, the page is read again.
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

/**
 * True if there may be another page. If the service does not report it, another page is read, which costs one request.
 */
const promisesMore = (pagination: Pagination | null | undefined) =>
  pagination?.has_next ?? pagination?.next_page_number !== null
