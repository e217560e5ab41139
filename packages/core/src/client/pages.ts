import type { OperationId } from '../api/api.js'
import type { Pagination } from '../api/fields.js'
import type { CallOptions } from './call-options.js'
import type { UntypedCall } from './call.js'
import { loadDescription } from './description.js'
import { InvalidInput, NotFound } from './errors.js'
import { nextPage } from './next-page.js'

/** Items asked for per page. The maximum is not documented: whatever comes back is taken. */
const PER_PAGE = 100
/** A service that makes up ever new pages is left here. */
const MOST_PAGES = 10_000

type Answer = Readonly<Record<string, unknown>>

/**
 * Makes the iterator over all items of a list operation. It ends for any service, however it lies: page
 * numbers only go up, an empty page or one that was seen before is the end, and so is the 10,000th page.
 */
export function allPages(id: OperationId, list: UntypedCall) {
  return async function* all(input: Readonly<Record<string, unknown>> = {}, options?: CallOptions): AsyncGenerator<unknown, void, undefined> {
    const { createHash } = await import('node:crypto')
    // Short, so that ten thousand pages can be remembered.
    const digestOf = (items: readonly unknown[]) => createHash('sha256').update(JSON.stringify(items)).digest('base64')
    const itemsKey = (await loadDescription()).get(id)?.items ?? ''
    const seen = new Set<string>()
    let page = typeof input['page'] === 'number' ? input['page'] : 1
    let promised = true
    for (let count = 0; count < MOST_PAGES; count += 1) {
      const answer = await list({ limit: PER_PAGE, ...input, page }, options).catch((error: unknown) => {
        // A page that nobody promised may be refused, and then there is none.
        if (!promised && (error instanceof NotFound || error instanceof InvalidInput)) return {}
        throw error
      })
      const items = itemsOf(answer as Answer, itemsKey)
      const digest = digestOf(items)
      if (items.length === 0 || seen.has(digest)) return
      seen.add(digest)
      yield* items
      const next = nextPage(page, (answer as Answer)['pagination'] as Pagination | null | undefined)
      if (next === undefined) return
      ;({ page, promised } = next)
    }
  }
}

function itemsOf(answer: Answer, key: string): readonly unknown[] {
  const items = answer[key]
  return Array.isArray(items) ? items : []
}
