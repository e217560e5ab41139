import type { Pagination } from '../api/fields.js'

/** Which page comes after the one at hand. */
export interface NextPage {
  readonly page: number
  /** Whether the service said that there is one; otherwise it is only worth asking. */
  readonly promised: boolean
}

/**
 * The page to ask for next, or undefined at the end. It is always higher than the present one, whatever the
 * service says: that alone keeps a list from going in circles. Pure.
 * @param page the page at hand.
 * @param pagination what came with it; undefined or null for lists that come without (beacons).
 */
export function nextPage(page: number, pagination: Pagination | null | undefined): NextPage | undefined {
  // One page must not be taken for the whole list, so where nothing is said we ask.
  if (pagination === undefined || pagination === null) return { page: page + 1, promised: false }
  const { has_next, next_page_number: named, paginator } = pagination
  if (has_next === false) return undefined
  const pages = paginator?.num_pages
  const promised = has_next === true || (typeof pages === 'number' && pages > page)
  // A number that does not go up is wrong, and says no more than that there is a next page.
  if (typeof named === 'number') return named > page ? { page: named, promised: true } : { page: page + 1, promised }
  return promised ? { page: page + 1, promised } : undefined
}
