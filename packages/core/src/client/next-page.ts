import type { Pagination } from '../api/fields.js'

/** The page to ask for next. */
export interface NextPage {
  readonly page: number
  /** Whether the service announced this page; otherwise it may not exist. */
  readonly promised: boolean
}

/**
 * The page to ask for next, or undefined at the end. Its number is always higher than the present one, whatever the
 * service answers, so a list cannot go in circles. Pure.
 * @param page number of the present page.
 * @param pagination pagination of the present page; undefined or null for lists that come without (beacons).
 */
export function nextPage(page: number, pagination: Pagination | null | undefined): NextPage | undefined {
  // Without pagination the next page is asked for, because one page must not be taken for the whole list.
  if (pagination === undefined || pagination === null) return { page: page + 1, promised: false }
  const { has_next, next_page_number: named, paginator } = pagination
  if (has_next === false) return undefined
  const pages = paginator?.num_pages
  const promised = has_next === true || (typeof pages === 'number' && pages > page)
  // A next page whose number is not higher is wrong: it only shows that there is a next page.
  if (typeof named === 'number') return named > page ? { page: named, promised: true } : { page: page + 1, promised }
  return promised ? { page: page + 1, promised } : undefined
}
