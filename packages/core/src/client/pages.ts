import type { OperationId } from '../api/api.js'
import type { Pagination } from '../api/fields.js'
import { type CallOptions, loadDescription, type UntypedCall } from './call.js'
import { InvalidInput, NotFound, RouteMissing, UnexpectedResponse } from './errors.js'

/**
 * Returns the next page to request, or undefined at the end. Its number is always higher than the current one, whatever
 * the service answers, so a list cannot loop. `promised` is true if the service announced the page. Otherwise the page
 * may not exist. Pure.
 * @param page number of the current page.
 * @param pagination pagination of the current page; undefined or null for lists without it (beacons).
 */
export function nextPage(page: number, pagination: Pagination | null | undefined) {
  // Without pagination, the next page is requested, because a single page may not be the whole list.
  if (pagination === undefined || pagination === null) return { page: page + 1, promised: false }
  const { has_next, next_page_number: named, paginator } = pagination
  if (has_next === false) return undefined
  const pages = paginator?.num_pages
  const promised = has_next === true || (typeof pages === 'number' && pages > page)
  // A next page number that is not higher is invalid. It still shows that there is a next page.
  if (typeof named === 'number') return named > page ? { page: named, promised: true } : { page: page + 1, promised }
  return promised ? { page: page + 1, promised } : undefined
}

/** Number of items requested per page. The maximum is not documented, so a page of any size is accepted. */
const PER_PAGE = 100
/** Maximum number of pages, in case the service invents new pages endlessly. */
const MOST_PAGES = 10_000
/**
 * Maximum number of repeated pages in a row. A few repeats are normal, because a list that grows while it is read
 * repeats some pages.
 */
const MOST_REPEATS = 5

type PageBody = Readonly<Record<string, unknown>>

/**
 * Creates the iterator over all items of a list operation. The iteration always ends: page numbers only increase, and
 * an empty page or the 10,000th is the last. Repeated pages are skipped. The iterator throws if the list is incomplete.
 * Either the service announces further pages but only repeats earlier ones, or there are fewer entries than each page's
 * `total_count`.
 */
export function allPages(id: OperationId, list: UntypedCall) {
  return async function* all(
    input: Readonly<Record<string, unknown>> = {},
    options?: CallOptions,
  ): AsyncGenerator<unknown, void, undefined> {
    const [{ fingerprint }, { leftOutOf }] = await Promise.all([import('./cache.js'), import('./decode.js')])
    const itemsKey = (await loadDescription()).get(id)?.items ?? ''
    const seen = new Set<string>()
    let page = typeof input?.['page'] === 'number' ? input['page'] : 1
    let promised = true
    let repeats = 0
    // The smallest total of any page, so that a list that grows while it is read does not count as incomplete.
    let total: number | undefined
    let came = page === 1 ? 0 : Infinity
    for (let count = 0; count < MOST_PAGES; count += 1) {
      // An input that is not an object is passed on unchanged, so that it is rejected like other invalid inputs.
      const pageInput = typeof input === 'object' && input !== null ? { limit: PER_PAGE, ...input, page } : input
      const answer = await list(pageInput, options).catch((error: unknown) => {
        // If a page that was not announced is rejected, it does not exist.
        if (!promised && refusesPage(error)) return undefined
        throw error
      })
      if (answer === undefined) return assertWhole(id, came, total)
      const items = itemsOf(id, answer as PageBody, itemsKey)
      const { total_count: stated, count: counted } = answer as PageBody
      total = leastOf(total, stated ?? counted)
      if (items.length === 0) return assertWhole(id, came, total)
      const digest = fingerprint(items)
      const isRepeated = seen.has(digest)
      seen.add(digest)
      repeats = isRepeated ? repeats + 1 : 0
      if (!isRepeated) {
        yield* items
        came += items.length + (leftOutOf.get(answer as PageBody) ?? 0)
      }
      const next = nextPage(page, (answer as PageBody)['pagination'] as Pagination | null | undefined)
      if (next === undefined || (isRepeated && !next.promised)) return assertWhole(id, came, total)
      if (repeats >= MOST_REPEATS) throw repeated(id, page)
      ;({ page, promised } = next)
    }
  }
}

/**
 * True if the error of a page, after an earlier page was read, may mean that the page does not exist. The route exists,
 * so even a 404 that does not name the page is one of its kind.
 */
export const refusesPage = (error: unknown): boolean =>
  error instanceof NotFound || error instanceof InvalidInput || error instanceof RouteMissing

/** Returns the items of a page. @throws {UnexpectedResponse} for a response without a list. */
function itemsOf(id: OperationId, answer: PageBody, key: string): readonly unknown[] {
  const items = answer[key]
  if (Array.isArray(items)) return items
  throw new UnexpectedResponse(`${id}: the answer's field ${key} is not a list`, { operation: id, field: key })
}

const leastOf = (before: number | undefined, total: unknown) =>
  typeof total === 'number' ? Math.min(before ?? Infinity, total) : before

/** Checks that a list is complete. @throws {UnexpectedResponse} if there are fewer entries than the service counts. */
function assertWhole(id: OperationId, came: number, total = 0): void {
  if (came >= total) return
  throw new UnexpectedResponse(`${id}: the list is incomplete: got ${came} of ${total} entries and no further page`, {
    operation: id,
    field: 'total_count',
  })
}

const repeated = (id: OperationId, page: number) =>
  new UnexpectedResponse(
    `${id}: the list is incomplete: page ${page} and those before it repeat earlier pages, ` +
      'but the service counts more entries',
    { operation: id, field: 'pagination' },
  )
