import { paged, type Page } from '../pages.js'

/** Puts all entries on one page, for lists that take no page number but answer with pagination. */
export const onePage = <Item>(all: readonly Item[]): Page<Item> =>
  paged(all, {}, { default: Math.max(1, all.length), maximum: Infinity })
