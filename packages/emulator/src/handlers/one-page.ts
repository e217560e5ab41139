import { paged, type Page } from '../pages.js'

/** All entries on one page, for lists that take no page but answer with a pagination all the same. */
export const onePage = <Item>(all: readonly Item[]): Page<Item> =>
  paged(all, {}, { default: Math.max(1, all.length), maximum: Infinity })
