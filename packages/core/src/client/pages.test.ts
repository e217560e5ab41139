import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CallOptions } from './call.js'
import { InvalidInput, NotFound, RouteMissing, ServerError } from './errors.js'
import { allPages, nextPage } from './pages.js'

describe('nextPage', () => {
  test.each([
    [1, { has_next: true, next_page_number: 2 }, { page: 2, promised: true }],
    [1, { has_next: true, next_page_number: null }, { page: 2, promised: true }],
    [1, { has_next: true }, { page: 2, promised: true }],
    [1, { next_page_number: 5 }, { page: 5, promised: true }],
    [1, { paginator: { num_pages: 2 } }, { page: 2, promised: true }],
    [2, { paginator: { num_pages: 2 } }, undefined],
    [1, { has_next: false, next_page_number: 2 }, undefined],
    [3, { has_next: true, next_page_number: 3 }, { page: 4, promised: true }],
    [3, { has_next: true, next_page_number: 1 }, { page: 4, promised: true }],
    [3, { next_page_number: 0, paginator: { num_pages: 4 } }, { page: 4, promised: true }],
    [3, { next_page_number: 1 }, { page: 4, promised: false }],
    [1, {}, undefined],
    [1, undefined, { page: 2, promised: false }],
    [1, null, { page: 2, promised: false }],
  ])('nextPage returns, after page %i with the pagination %j, %j', (page, pagination, next) => {
    expect(nextPage(page, pagination)).toEqual(next)
  })
})

/** Collects the items of all pages, and the inputs of the requests. */
async function gather(
  serve: (page: number) => unknown,
  input: Readonly<Record<string, unknown>> = {},
  options?: CallOptions,
) {
  const asked: unknown[] = []
  const list = async (page: unknown, given?: CallOptions) => {
    asked.push(page)
    expect(given).toBe(options)
    return serve((page as { page: number }).page)
  }
  const items: unknown[] = []
  for await (const item of allPages('fleets.list', list)(input, options)) items.push(item)
  return { items, asked }
}

/** Collects items until an error occurs. Returns the items and the error. */
async function gatherUntilError(serve: (page: number) => unknown) {
  const asked: unknown[] = []
  const items: unknown[] = []
  const list = async (input: unknown) => (asked.push(input), serve((input as { page: number }).page))
  try {
    for await (const item of allPages('fleets.list', list)()) items.push(item)
  } catch (error) {
    return { items, asked, error }
  }
  return { items, asked, error: undefined }
}

const pages =
  (count: number, each = 2) =>
  (page: number) => ({
    fleets: Array.from({ length: each }, (_, index) => ({ name: `${page}-${index}` })),
    pagination: {
      number: page,
      has_next: page < count,
      next_page_number: page < count ? page + 1 : null,
      paginator: { num_pages: count },
    },
  })

describe('all pages', () => {
  test('`all` yields every item in order, 100 per request', async () => {
    const { items, asked } = await gather(pages(3))
    expect(items).toEqual(['1-0', '1-1', '2-0', '2-1', '3-0', '3-1'].map((name) => ({ name })))
    expect(asked).toEqual([1, 2, 3].map((page) => ({ limit: 100, page })))
  })

  test('`all` keeps the input of the list, and begins at the given page with the given limit', async () => {
    const { asked } = await gather(pages(3), { fleet_name: 'f', page: 2, limit: 5 }, { priority: 1 })
    expect(asked).toEqual([2, 3].map((page) => ({ fleet_name: 'f', limit: 5, page })))
  })

  test('`all` requests pages only as items are consumed', async () => {
    const asked: unknown[] = []
    const list = async (input: unknown) => (asked.push(input), pages(9)((input as { page: number }).page))
    for await (const item of allPages('fleets.list', list)()) if ((item as { name: string }).name === '2-0') break
    expect(asked).toHaveLength(2)
  })

  test('`all` continues where an answer has no pagination', async () => {
    const { items } = await gather((page) => ({ fleets: page <= 3 ? [{ name: `${page}` }] : [] }))
    expect(items).toHaveLength(3)
  })

  test('`all` yields each item once, after one extra request, if the service ignores the page number', async () => {
    const { items, asked } = await gather(() => ({ fleets: [{ name: 'a' }], count: 1 }))
    expect([items, asked.length]).toEqual([[{ name: 'a' }], 2])
  })

  test.each([new NotFound('no such page'), new InvalidInput('page out of range'), new RouteMissing('no such page')])(
    '`all` ends at a refused page that no answer had announced: %s',
    async (refusal) => {
      const { items } = await gather((page) => {
        if (page > 2) throw refusal
        return { fleets: [{ name: `${page}` }] }
      })
      expect(items).toHaveLength(2)
    },
  )

  test.each([
    ['a promised page that is missing', new NotFound('gone'), 2, true],
    ['the first page', new NotFound('no such deployment'), 1, false],
    ['any other error', new ServerError('down'), 2, false],
  ])('`all` fails if the service refuses a page: %s', async (_, failure, at, promised) => {
    const serve = (page: number) => {
      if (page === at) throw failure
      return promised ? pages(9)(page) : { fleets: [{ name: `${page}` }] }
    }
    await expect(gather(serve)).rejects.toBe(failure)
  })

  test('`all` ends for any service, requests each page at most once and omits nothing silently', async () => {
    const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
    const pagination = fc.record(
      {
        number: fc.integer(),
        next_page_number: fc.option(fc.integer({ min: -3, max: 12 })),
        previous_page_number: fc.option(fc.integer()),
        paginator: fc.option(fc.record({ num_pages: fc.constantFrom(1, 2, 1e9) })),
        has_next: fc.constantFrom(true, true, false, null),
        has_previous: fc.boolean(),
      },
      { requiredKeys: [] },
    )
    const page = fc.record({
      fleets: fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd') }), { maxLength: 3 }),
      pagination: fc.option(pagination, { nil: undefined }),
      total_count: maybe(fc.constantFrom(-1, 0, 1, 1e12)),
    })
    await fc.assert(
      // The service repeats a few pages, whatever page is requested.
      fc.asyncProperty(fc.array(page, { minLength: 1, maxLength: 6 }), fc.nat({ max: 3 }), async (told, start) => {
        const { items, asked, error } = await gatherUntilError((number) => told[(number + start) % told.length])
        const numbers = asked.map((input) => (input as { page: number }).page)
        expect(new Set(numbers).size).toBe(numbers.length)
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
        const given = numbers.map((number) => told[(number + start) % told.length]?.fleets ?? [])
        // If a list is abandoned because its pages repeat, the caller gets an error instead of an incomplete list.
        if (error !== undefined)
          expect(error).toMatchObject({
            name: 'UnexpectedResponse',
            operation: 'fleets.list',
            field: expect.stringMatching(/^(pagination|total_count)$/),
          })
        // At most four repeated pages are read before each new page, and five at the end.
        expect(numbers.length).toBeLessThanOrEqual(5 * told.length + 5)
        const different = given.filter(
          (fleets, index) => given.findIndex((one) => JSON.stringify(one) === JSON.stringify(fleets)) === index,
        )
        expect(items).toEqual(different.flat())
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    ['names the present page as the next', (page: number) => ({ has_next: page < 3, next_page_number: page })],
    ['names the first page as the next', (page: number) => ({ has_next: page < 3, next_page_number: 1 })],
    ['gives only a wrong page number', () => ({ next_page_number: 0 })],
  ])('`all` is complete even if the service %s', async (_, pagination) => {
    const { items } = await gather((page) => ({
      fleets: page > 3 ? [] : [{ name: `${page}` }],
      pagination: pagination(page),
    }))
    expect(items).toEqual([{ name: '1' }, { name: '2' }, { name: '3' }])
  })

  test('`all` skips entries that moved to a page already read, and yields all other entries', async () => {
    const shown = [['c'], ['c'], ['b'], ['a']]
    const { items } = await gather((page) => ({
      fleets: shown[page - 1]?.map((name) => ({ name })),
      pagination: { has_next: page < 4 },
    }))
    expect(items).toEqual([{ name: 'c' }, { name: 'b' }, { name: 'a' }])
  })

  test('`all` fails if the service announces more pages but returns the same page again', async () => {
    const { items, error, asked } = await gatherUntilError(() => ({
      fleets: [{ name: 'a' }],
      pagination: { has_next: true },
    }))
    expect(items).toEqual([{ name: 'a' }])
    expect(error).toMatchObject({ name: 'UnexpectedResponse', operation: 'fleets.list', field: 'pagination' })
    expect(asked).toHaveLength(6)
  })

  test.each([undefined, null, 'none', { 0: 'a' }])('`all` fails if the list is %j', async (fleets) => {
    await expect(gather(() => ({ fleets }))).rejects.toMatchObject({
      name: 'UnexpectedResponse',
      message: "fleets.list: the answer's field fleets is not a list",
      operation: 'fleets.list',
      field: 'fleets',
    })
  })

  test('`all` fails if the service counts more entries than it returned and has no further page', async () => {
    const ten = Array.from({ length: 10 }, (_, index) => ({ name: `${index}` }))
    const { items, error } = await gatherUntilError(() => ({
      fleets: ten,
      total_count: 25,
      pagination: { has_next: false },
    }))
    expect(items).toHaveLength(10)
    expect(error).toMatchObject({
      name: 'UnexpectedResponse',
      field: 'total_count',
      message: 'fleets.list: the list is incomplete: got 10 of 25 entries and no further page',
    })
  })

  test('`all` is complete if the list grows or shrinks while it is read', async () => {
    for (const totals of [
      [2, 4],
      [4, 2],
    ]) {
      const { error } = await gatherUntilError((page) => ({
        fleets: [{ name: `${page}` }],
        total_count: totals[page - 1],
        pagination: { has_next: page < 2 },
      }))
      expect(error).toBeUndefined()
    }
  })

  test('`all` yields entries that are nested deeper than the call stack', async () => {
    const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown
    const { items } = await gather((page) => ({ fleets: page === 1 ? [{ name: 'a', deep }] : [] }))
    expect(items).toHaveLength(1)
  })

  test('`all` ends at the 10,000th page of an endless list', async () => {
    const { asked } = await gather((page) => ({ fleets: [{ name: `${page}` }], pagination: { has_next: true } }))
    expect(asked).toHaveLength(10_000)
  })
})
