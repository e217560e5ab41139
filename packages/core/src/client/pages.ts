import type { OperationId } from '../api/api.js'
import type { Pagination } from '../api/fields.js'
import { type CallOptions, loadDescription, type UntypedCall } from './call.js'
import { InvalidInput, NotFound, UnexpectedResponse } from './errors.js'

/**
 * The page to ask for next, or undefined at the end. Its number is always higher than the present one, whatever the
 * service answers, so a list cannot go in circles. `promised`: whether the service announced it; otherwise it may not
 * exist. Pure.
 * @param page number of the present page.
 * @param pagination pagination of the present page; undefined or null for lists that come without (beacons).
 */
export function nextPage(page: number, pagination: Pagination | null | undefined) {
  // Without pagination the next page is requested, because one page must not be taken for the whole list.
  if (pagination === undefined || pagination === null) return { page: page + 1, promised: false }
  const { has_next, next_page_number: named, paginator } = pagination
  if (has_next === false) return undefined
  const pages = paginator?.num_pages
  const promised = has_next === true || (typeof pages === 'number' && pages > page)
  // A next page whose number is not higher is wrong: it only shows that there is a next page.
  if (typeof named === 'number') return named > page ? { page: named, promised: true } : { page: page + 1, promised }
  return promised ? { page: page + 1, promised } : undefined
}

/** Items requested per page. The maximum is not documented, so a page of any size is accepted. */
const PER_PAGE = 100
/** Most pages read, in case the service makes up new pages without end. */
const MOST_PAGES = 10_000
/** Most repeated pages in a row. A list that grows while it is read repeats some pages. */
const MOST_REPEATS = 5

type Answer = Readonly<Record<string, unknown>>

/**
 * Creates the iterator over all items of a list operation. It ends whatever the service answers: page numbers only
 * increase, and an empty page or the 10,000th is the last. A page seen before is left out. If the service announces
 * further pages but only repeats earlier ones, the list is incomplete and the iterator throws. So it does if fewer
 * entries came than each page's `total_count` says.
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
    // The least that was told: a list that grows meanwhile is not cut.
    let total: number | undefined
    let came = page === 1 ? 0 : Infinity
    for (let count = 0; count < MOST_PAGES; count += 1) {
      // An input that is no object is passed on, and refused like other invalid inputs.
      const asked = typeof input === 'object' && input !== null ? { limit: PER_PAGE, ...input, page } : input
      const answer = await list(asked, options).catch((error: unknown) => {
        // A page that was not announced may be refused, which means that it does not exist.
        if (!promised && (error instanceof NotFound || error instanceof InvalidInput)) return undefined
        throw error
      })
      if (answer === undefined) return assertWhole(id, came, total)
      const items = itemsOf(id, answer as Answer, itemsKey)
      const { total_count: told, count: counted } = answer as Answer
      total = leastOf(total, told ?? counted)
      if (items.length === 0) return assertWhole(id, came, total)
      const digest = fingerprint(items)
      const isRepeated = seen.has(digest)
      seen.add(digest)
      repeats = isRepeated ? repeats + 1 : 0
      if (!isRepeated) {
        yield* items
        came += items.length + (leftOutOf.get(answer as Answer) ?? 0)
      }
      const next = nextPage(page, (answer as Answer)['pagination'] as Pagination | null | undefined)
      if (next === undefined || (isRepeated && !next.promised)) return assertWhole(id, came, total)
      if (repeats >= MOST_REPEATS) throw repeated(id, page)
      ;({ page, promised } = next)
    }
  }
}

/** @throws {UnexpectedResponse} for an answer without a list. */
function itemsOf(id: OperationId, answer: Answer, key: string): readonly unknown[] {
  const items = answer[key]
  if (Array.isArray(items)) return items
  throw new UnexpectedResponse(`${id}: the answer's field ${key} is not a list`, { operation: id, field: key })
}

const leastOf = (before: number | undefined, total: unknown) =>
  typeof total === 'number' ? Math.min(before ?? Infinity, total) : before

/** @throws {UnexpectedResponse} if fewer entries came than the service counts. */
function assertWhole(id: OperationId, came: number, total = 0): void {
  if (came >= total) return
  throw new UnexpectedResponse(`${id}: ${came} of ${total} entries came, and no further page: the list is not whole`, {
    operation: id,
    field: 'total_count',
  })
}

const repeated = (id: OperationId, page: number) =>
  new UnexpectedResponse(
    `${id}: page ${page} and those before it repeat earlier pages, and the service promises more: ` +
      'the list is not whole',
    { operation: id, field: 'pagination' },
  )
