import type { DeploymentQuery } from '@muster/core/internal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatA, formatB } from '../timestamps.js'
import { understand, type QueryFields } from './deployment-query.js'
import { isProblem } from './filters.js'
import { studio } from './studio.fixture.js'

const start = Date.UTC(2026, 0, 1)

const deployment = (fields: Partial<QueryFields>): QueryFields => ({
  status: 'ready',
  request_id: 'a',
  tags: [],
  created_at: start,
  application: 'arena',
  version: '1.0',
  is_joinable_by_session: false,
  available_session_sockets: 0,
  ...fields,
})

const run = (query: DeploymentQuery, all: readonly QueryFields[], rejectRepeated = false) => {
  const listing = understand<QueryFields>(query, (item, field) => item[field], { rejectRepeated })
  if (isProblem(listing)) return listing.problem
  const kept = all.filter(listing.keeps)
  return (listing.order === undefined ? kept : kept.toSorted(listing.order)).map(({ request_id }) => request_id)
}

const some = [
  deployment({
    request_id: 'a',
    status: 'ready',
    tags: ['red', 'big'],
    created_at: start,
    available_session_sockets: 4,
    is_joinable_by_session: true,
  }),
  deployment({ request_id: 'b', status: 'deploying', tags: ['red'], created_at: start + 1000, version: '2.0' }),
  deployment({
    request_id: 'c',
    status: 'error',
    created_at: start + 2000,
    application: 'race',
    available_session_sockets: 9,
  }),
]

describe('filters of the deployment list', () => {
  test.each([
    ['status', 'eq', 'ready', 'a'],
    ['status', 'eq', 'Status.READY', ''],
    ['status', 'neq', 'ready', 'bc'],
    ['status', 'in', ['ready', 'error'], 'ac'],
    ['status', 'nin', ['ready', 'error'], 'b'],
    ['request_id', 'eq', 'b', 'b'],
    ['request_id', 'gt', 'a', 'bc'],
    ['tags', 'eq', 'red', 'ab'],
    ['tags', 'neq', 'red', 'c'],
    ['tags', 'in', ['big', 'blue'], 'a'],
    ['tags', 'nin', ['big', 'blue'], 'bc'],
    ['tags', 'in', [], ''],
    ['created_at', 'lt', formatA(start + 1000), 'a'],
    ['created_at', 'lte', formatA(start + 1000), 'ab'],
    ['created_at', 'gt', formatB(start + 1000), 'c'],
    ['created_at', 'gte', formatB(start + 1000), 'bc'],
    ['created_at', 'eq', formatA(start), 'a'],
    ['application', 'eq', 'race', 'c'],
    ['version', 'neq', '1.0', 'b'],
    ['is_joinable_by_session', 'eq', true, 'a'],
    ['is_joinable_by_session', 'neq', true, 'bc'],
    ['available_session_sockets', 'gte', 4, 'ac'],
    ['available_session_sockets', 'in', [0, 9], 'bc'],
  ])('the deployment list can be filtered by %s %s %j', (field, operator, value, ids) => {
    expect(run({ filters: [{ field, operator, value }] }, some)).toEqual([...ids])
  })

  test.each([
    ['colour', 'eq', 'red', 'query.filters[0].field: must be one of status, request_id'],
    ['constructor', 'eq', 'red', 'query.filters[0].field: must be one of'],
    [
      'status',
      'like',
      'red',
      'query.filters[0].operator: must be one of eq, neq, in, nin, lt, lte, gt, gte, not "like"',
    ],
    ['status', 'toString', 'red', 'query.filters[0].operator: must be one of'],
    ['tags', 'lt', 'red', 'query.filters[0].operator: lt cannot be used with tags'],
    ['is_joinable_by_session', 'gt', false, 'query.filters[0].operator: gt cannot be used with is_joinable_by_session'],
    ['status', 'in', 'ready', 'query.filters[0].value: must be a list'],
    ['status', 'eq', ['ready'], 'query.filters[0].value: must be a single value'],
    ['status', 'eq', 3, 'query.filters[0].value: must be text for status'],
    ['created_at', 'gt', 'yesterday', 'query.filters[0].value: must be a time such as'],
    ['created_at', 'gt', 5, 'query.filters[0].value: must be a time such as'],
    ['available_session_sockets', 'gt', '5', 'query.filters[0].value: must be a number for available_session_sockets'],
    [
      'is_joinable_by_session',
      'eq',
      'true',
      'query.filters[0].value: must be true or false for is_joinable_by_session',
    ],
  ])('the deployment list refuses the filter %s %s %j', (field, operator, value, problem) => {
    expect(run({ filters: [{ field, operator, value }] }, some)).toMatch(problem)
  })

  test('a deployment must pass all filters of a list, and a setting refuses two filters on one field', () => {
    const between = {
      filters: [
        { field: 'created_at', operator: 'gte', value: formatA(start) },
        { field: 'created_at', operator: 'lt', value: formatA(start + 2000) },
        { field: 'tags', operator: 'eq', value: 'big' },
      ],
    } as const
    expect(run(between, some)).toEqual(['a'])
    expect(run(between, some, true)).toBe('query.filters: at most one filter per field, but "created_at" has several')
    expect(run({ filters: between.filters.slice(1) }, some, true)).toEqual(['a'])
  })
})

describe('the order of the deployment list', () => {
  const by = (...order_by: [field: string, order: 'asc' | 'desc'][]) =>
    run({ order_by: order_by.map(([field, order]) => ({ field, order })) }, some)

  test('the deployment list can be ordered by any field except tags, and by a second field among equals', () => {
    expect(by(['created_at', 'desc'])).toEqual(['c', 'b', 'a'])
    expect(by(['available_session_sockets', 'asc'])).toEqual(['b', 'a', 'c'])
    expect(by(['application', 'asc'], ['created_at', 'desc'])).toEqual(['b', 'a', 'c'])
    expect(by(['is_joinable_by_session', 'desc'])).toEqual(['a', 'b', 'c'])
    expect(by(['tags', 'asc'])).toBe('query.order_by[0].field: the list cannot be ordered by "tags"')
    expect(by(['status', 'asc'], ['size', 'asc'])).toBe('query.order_by[1].field: the list cannot be ordered by "size"')
  })
})

test('a filter of the deployment list and its opposite together select every deployment once', () => {
  const listed = fc.record({
    status: fc.constantFrom('ready', 'error'),
    tags: fc.uniqueArray(fc.constantFrom('x', 'y', 'z')),
    available_session_sockets: fc.nat(3),
  })
  const pairs = fc.oneof(
    fc.record({
      field: fc.constantFrom('status', 'tags'),
      value: fc.constantFrom('ready', 'x', 'z'),
      pair: fc.constant(['eq', 'neq'] as const),
    }),
    fc.record({
      field: fc.constantFrom('status', 'tags'),
      value: fc.subarray(['ready', 'error', 'x', 'y']),
      pair: fc.constant(['in', 'nin'] as const),
    }),
    fc.record({
      field: fc.constant('available_session_sockets'),
      value: fc.nat(3),
      pair: fc.constantFrom(['lt', 'gte'] as const, ['gt', 'lte'] as const),
    }),
  )
  fc.assert(
    fc.property(fc.array(listed, { maxLength: 8 }), pairs, (parts, { field, value, pair }) => {
      const all = parts.map((part, index) => deployment({ ...part, request_id: String(index) }))
      const [yes, no] = pair.map((operator) => run({ filters: [{ field, operator, value }] }, all) as string[]) as [
        string[],
        string[],
      ]
      expect([...yes, ...no].toSorted()).toEqual(all.map(({ request_id }) => request_id).toSorted())
      expect(yes.filter((id) => no.includes(id))).toEqual([])
    }),
  )
})

describe('the deployment list', () => {
  test('the deployment list has the newest first, in pages, without ended deployments', async () => {
    const { clock, call, deploy, list, listedIds, stop } = await studio()
    const ids: string[] = []
    for (let count = 0; count < 12; count++) ids.push(await deploy({ tags: [count % 2 === 0 ? 'even' : 'odd'] }))
    const newest = ids.toReversed()
    expect(await listedIds()).toEqual(newest)
    expect((await call('GET', '/v1/deployments?page=2')).body).toMatchObject({
      data: newest.slice(10).map((request_id) => ({ request_id, ready: false })),
      total_count: 12,
      pagination: {
        number: 2,
        next_page_number: null,
        previous_page_number: 1,
        paginator: { num_pages: 2 },
        has_next: false,
        has_previous: true,
      },
      message: [],
    })
    expect(await listedIds({ filters: [{ field: 'tags', operator: 'eq', value: 'odd' }] })).toEqual(
      newest.filter((_, index) => index % 2 === 0),
    )
    expect(await listedIds({ order_by: [{ field: 'request_id', order: 'asc' }] })).toEqual(ids.toSorted())

    await clock.advance(11_000)
    await stop(ids[3] as string)
    await clock.advance(1000)
    expect(await listedIds({ filters: [{ field: 'status', operator: 'eq', value: 'ready' }] })).toEqual(
      newest.filter((id) => id !== ids[3]),
    )
    expect((await list({ filters: [{ field: 'request_id', operator: 'eq', value: ids[0] }] })).body).toMatchObject({
      data: [
        {
          request_id: ids[0],
          fqdn: `${ids[0]}.emulator.invalid`,
          start_time: '2026-01-01 00:00:00.000000',
          ready: true,
          public_ip: expect.any(String),
          ports: { game: { internal: 7777 } },
          tags: ['even'],
          sockets: null,
          sockets_usage: null,
          is_joinable_by_session: false,
        },
      ],
    })
  })

  test('the deployment list answers a wrong query with 400', async () => {
    const { list } = await studio()
    expect(await list({ filters: [{ field: 'status', operator: 'is', value: 'ready' }] })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('query.filters[0].operator') },
    })
  })

  test('a setting makes the deployment list refuse two filters on one field', async () => {
    const { list } = await studio({ deployments: { rejectRepeatedFilters: true } })
    const filter = { field: 'tags', operator: 'eq', value: 'a' }
    expect((await list({ filters: [filter] })).status).toBe(200)
    expect((await list({ filters: [filter, filter] })).status).toBe(400)
  })

  test('the deployment list can lag behind by listLagMs', async () => {
    const { clock, deploy, listedIds, stop } = await studio({ deployments: { listLagMs: 3000 } })
    const ready = { filters: [{ field: 'status', operator: 'eq', value: 'ready' }] }
    const id = await deploy()
    await clock.advance(2999)
    expect(await listedIds()).toEqual([])
    await clock.advance(1)
    expect(await listedIds()).toEqual([id])
    await clock.advance(10_999)
    expect(await listedIds(ready)).toEqual([])
    await clock.advance(1)
    expect(await listedIds(ready)).toEqual([id])
    await stop(id)
    await clock.advance(3999)
    expect(await listedIds()).toEqual([id])
    await clock.advance(1)
    expect(await listedIds()).toEqual([])
  })
})
