import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ItemPage, paged } from './handler.js'

const sizes = { default: 10, maximum: 100 }
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

test('a list page in the middle has both neighbours', () => {
  const { items, total, pagination } = paged(numbers(25), { page: 2 }, sizes)
  expect(items).toEqual(numbers(20).slice(10))
  expect(total).toBe(25)
  expect(pagination).toEqual({
    number: 2,
    next_page_number: 3,
    previous_page_number: 1,
    paginator: { num_pages: 3 },
    has_next: true,
    has_previous: true,
  })
})

test('an empty list has one page, without neighbours', () => {
  expect(paged([], {}, sizes).pagination).toEqual({
    number: 1,
    next_page_number: null,
    previous_page_number: null,
    paginator: { num_pages: 1 },
    has_next: false,
    has_previous: false,
  })
})

test('a list page beyond the last is empty and leads back to the last', () => {
  const { items, pagination } = paged(numbers(25), { page: 9 }, sizes)
  expect(items).toEqual([])
  expect(pagination).toMatchObject({
    next_page_number: null,
    previous_page_number: 3,
    has_next: false,
    has_previous: true,
  })
})

test('a page limit above the maximum is reduced to the maximum', () => {
  expect(paged(numbers(300), { limit: 1000 }, sizes).items).toHaveLength(100)
})

test('following the pages of a list gives every item once and in order', () => {
  fc.assert(
    fc.property(fc.nat(60), fc.integer({ min: 1, max: 70 }), (count, limit) => {
      const seen: number[] = []
      let page: number | null | undefined = 1
      while (typeof page === 'number') {
        const { items, pagination }: ItemPage<number> = paged(numbers(count), { page, limit }, sizes)
        seen.push(...items)
        expect(pagination.has_next).toBe(pagination.next_page_number !== null)
        page = pagination.next_page_number
      }
      expect(seen).toEqual(numbers(count))
    }),
  )
})
