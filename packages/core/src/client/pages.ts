import type { OperationId } from '../api/api.js'
import type { Pagination } from '../api/fields.js'
import type { CallOptions } from './call-options.js'
import type { UntypedCall } from './call.js'
import { loadDescription } from './description.js'
import { InvalidInput, NotFound, UnexpectedResponse } from './errors.js'
import { nextPage } from './next-page.js'

/** Items asked for per page. The maximum is not documented: whatever comes back is taken. */
const PER_PAGE = 100
/** A service that makes up ever new pages is left here. */
const MOST_PAGES = 10_000
/** Pages in a row that were seen before. A list that grows while it is read repeats itself for a while. */
const MOST_REPEATS = 5

type Answer = Readonly<Record<string, unknown>>

/**
 * Makes the iterator over all items of a list operation. It ends for any service, however it lies: page numbers only go
 * up, an empty page is the end, and so is the 10,000th. A page that was seen before is left out; where the service
 * promises further pages and gives only such, the list is not whole, and that is an error.
 */
export function allPages(id: OperationId, list: UntypedCall) {
  return async function* all(
    input: Readonly<Record<string, unknown>> = {},
    options?: CallOptions,
  ): AsyncGenerator<unknown, void, undefined> {
    const { fingerprint } = await import('./fingerprint.js')
    const itemsKey = (await loadDescription()).get(id)?.items ?? ''
    const seen = new Set<string>()
    let page = typeof input?.['page'] === 'number' ? input['page'] : 1
    let promised = true
    let repeats = 0
    for (let count = 0; count < MOST_PAGES; count += 1) {
      // What is no object is refused with the other inputs.
      const asked = typeof input === 'object' && input !== null ? { limit: PER_PAGE, ...input, page } : input
      const answer = await list(asked, options).catch((error: unknown) => {
        // A page that nobody promised may be refused, and then there is none.
        if (!promised && (error instanceof NotFound || error instanceof InvalidInput)) return undefined
        throw error
      })
      if (answer === undefined) return
      const items = itemsOf(id, answer as Answer, itemsKey)
      if (items.length === 0) return
      const digest = fingerprint(items)
      const isRepeated = seen.has(digest)
      seen.add(digest)
      repeats = isRepeated ? repeats + 1 : 0
      if (!isRepeated) yield* items
      const next = nextPage(page, (answer as Answer)['pagination'] as Pagination | null | undefined)
      if (next === undefined || (isRepeated && !next.promised)) return
      if (repeats >= MOST_REPEATS) throw repeated(id, page)
      ;({ page, promised } = next)
    }
  }
}

/** @throws {UnexpectedResponse} where there is no list. */
function itemsOf(id: OperationId, answer: Answer, key: string): readonly unknown[] {
  const items = answer[key]
  if (Array.isArray(items)) return items
  throw new UnexpectedResponse(`${id}: the answer's field ${key} is not a list`, { operation: id, field: key })
}

const repeated = (id: OperationId, page: number) =>
  new UnexpectedResponse(
    `${id}: page ${page} and those before it repeat earlier pages, and the service promises more: the list is not whole`,
    {
      operation: id,
      field: 'pagination',
    },
  )
