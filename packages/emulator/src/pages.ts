import type { PageInput, Pagination } from '@muster/core/api'

/** The number of entries per page; the document gives neither number. */
export interface PageSizes {
  /** Entries per page for a request without `limit`. */
  readonly default: number
  /** Entries per page, at most; a larger `limit` gets this many. */
  readonly maximum: number
}

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly total: number
  readonly pagination: Pagination
}

/** Cuts one page out of a list, with the pagination object as documented. A page after the last one is empty. Pure. */
export function paged<Item>(all: readonly Item[], wanted: PageInput, sizes: PageSizes): Page<Item> {
  const limit = Math.min(wanted.limit ?? sizes.default, sizes.maximum)
  const number = wanted.page ?? 1
  const pages = Math.max(1, Math.ceil(all.length / limit))
  const hasNext = number < pages
  const hasPrevious = number > 1
  return {
    items: all.slice((number - 1) * limit, number * limit),
    total: all.length,
    pagination: {
      number,
      next_page_number: hasNext ? number + 1 : null,
      // For a page after the last one, the previous page is the last page that has entries.
      previous_page_number: hasPrevious ? Math.min(number - 1, pages) : null,
      paginator: { num_pages: pages },
      has_next: hasNext,
      has_previous: hasPrevious,
    },
  }
}
