import type { DeploymentList, DeploymentListEntry, Pagination } from '@muster/core/api'
import { nextPage, refusesPage } from '@muster/core/internal'
import { hasTag, taggedWith } from '../../../records/index.js'
import type { DeploymentService } from '../deployment-service.js'

interface PageOptions {
  readonly service: DeploymentService
  readonly tag: string
  readonly signal: AbortSignal
}

interface SweepOptions extends PageOptions {
  /** Priority of the list requests, see `priorities`. */
  readonly priority: number
  readonly seen: (entry: DeploymentListEntry) => void
  /** Called between two pages. The next page is read once the promise resolves. */
  readonly pause: () => Promise<void>
}

/** Number of entries to request per page. The service may return fewer. */
export const PER_PAGE = 100
/** Maximum number of pages of a sweep (a read of the whole list), in case the list never ends. */
const MOST_PAGES = 500
const TIMEOUT_MS = 10_000

/**
 * Reads a page of the list, newest first. The service may ignore the filter, so callers check the tag of each entry.
 */
export async function listPage(
  { service, tag, signal }: PageOptions,
  page: number,
  priority: number,
): Promise<DeploymentList> {
  const options = { signal, timeoutMs: TIMEOUT_MS, priority }
  return service.list({ query: taggedWith(tag), page, limit: PER_PAGE }, options)
}

/**
 * Reads the list of deployments with a tag, page by page. Resolves with true if the whole list was read. The list ends
 * at a page without new entries, even if the service promises more. If deployments end during the sweep, later ones
 * move to a page that was already read. If the total count shows that, the previous page is read again.
 */
export async function sweep({ seen, pause, priority, ...options }: SweepOptions): Promise<boolean> {
  const known = new Set<string>()
  let furthest = 0
  let total = 0
  let promised = true
  let page = 1
  for (let read = 0; read < MOST_PAGES; read += 1) {
    if (read > 0) await pause()
    const answer = await listPage(options, page, priority).catch((error: unknown) => {
      if (!promised && refusesPage(error)) return undefined
      throw error
    })
    // A page that was not announced and is refused does not exist, unless the list has more entries than were read.
    if (answer === undefined) return known.size >= total
    const { data, pagination, total_count: count } = answer
    const fresh = data.filter((entry) => !known.has(entry.request_id))
    for (const entry of fresh) {
      known.add(entry.request_id)
      if (hasTag(entry, options.tag)) seen(entry)
    }
    const movedUp = page > 1 && typeof count === 'number' && count < total
    const isNew = page > furthest
    total = count ?? 0
    furthest = Math.max(furthest, page)
    if (!movedUp && ((isNew && fresh.length === 0) || !mayHaveMore(pagination))) return true
    promised = movedUp || (nextPage(page, pagination)?.promised ?? false)
    page += movedUp ? -1 : 1
  }
  return false
}

/** True if there may be another page, or if the service does not say. */
const mayHaveMore = (pagination: Pagination | null | undefined) =>
  pagination?.has_next ?? pagination?.next_page_number !== null
