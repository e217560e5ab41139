import { InvalidInput, NotFound, RouteMissing } from '@muster/core'
import type { DeploymentList, ListDeployments } from '@muster/core/api'
import { createManualClock } from '@muster/core/clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createTestService } from '../../../service.fixture.js'
import { sweep } from './list-sweep.js'

async function swept(answer: (page: number) => DeploymentList) {
  const seen: string[] = []
  let pauses = 0
  let asked = 0
  const { deployments } = createTestService({ clock: createManualClock() })
  const list = async ({ page = 0 }: ListDeployments) => {
    asked += 1
    return answer(page)
  }
  const all = await sweep({
    priority: 0,
    service: { ...deployments, list },
    tag: 'mm-a',
    pause: async () => void (pauses += 1),
    seen: ({ request_id }) => void seen.push(request_id),
    signal: new AbortController().signal,
  })
  expect(pauses).toBe(asked - 1)
  return { all, seen, asked }
}
const entry = (request_id: string) => ({ request_id, tags: ['mm-a'] })

test('a sweep of the deployment list reads all pages, and returns only deployments with the tag', async () => {
  const pages = [[entry('c'), { request_id: 'x', tags: ['mm-b'] }, { request_id: 'y' }], [entry('b')], [entry('a')]]
  expect(await swept((page) => ({ data: pages[page - 1] ?? [], pagination: { has_next: page < 3 } }))).toEqual({
    all: true,
    seen: ['c', 'b', 'a'],
    asked: 3,
  })
})

test.each([
  ['no pagination', undefined],
  ['a pagination without the next page', { number: 1 }],
])('a sweep of a list with %s ends at a page that the service refuses', async (_, pagination) => {
  for (const error of [new NotFound('no such page'), new InvalidInput('page'), new RouteMissing('not found')]) {
    const answer = (page: number) => {
      if (page > 1) throw error
      return { data: [entry('a')], ...(pagination && { pagination }) }
    }
    expect(await swept(answer)).toEqual({ all: true, seen: ['a'], asked: 2 })
  }
})

test('a sweep of the list is incomplete if a page is refused and the total count names more deployments', async () => {
  const answer = (page: number) => {
    if (page > 1) throw new NotFound('no such page')
    return { data: [entry('a')], total_count: 2 }
  }
  expect(await swept(answer)).toEqual({ all: false, seen: ['a'], asked: 2 })
})

test('a sweep of the list fails if an announced page is refused', async () => {
  for (const pagination of [{ has_next: true }, { next_page_number: 2 }, { paginator: { num_pages: 2 } }]) {
    const answer = (page: number) => {
      if (page > 1) throw new RouteMissing('not found')
      return { data: [entry('a')], pagination }
    }
    await expect(swept(answer)).rejects.toThrow(RouteMissing)
  }
})

test('a sweep of the list fails if its first page is refused', async () => {
  const answer = () => {
    throw new NotFound('no list')
  }
  await expect(swept(answer)).rejects.toThrow(NotFound)
})

test('a sweep of the list misses no deployment if deployments end meanwhile and entries move up', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.nat(40), { maxLength: 40 }),
      async (count, size, ends) => {
        const there = Array.from({ length: count }, (_, nth) => `r${nth}`)
        const whole = new Set(there)
        let asked = 0
        const { all, seen } = await swept((page) => {
          const [gone] = there.splice(asked > 0 ? (ends[asked] ?? there.length) : there.length, 1)
          if (gone !== undefined) whole.delete(gone)
          asked += 1
          const data = there.slice((page - 1) * size, page * size).map(entry)
          return { data, total_count: there.length, pagination: { has_next: page * size < there.length } }
        })
        expect(all).toBe(true)
        expect([...whole].filter((id) => !seen.includes(id))).toEqual([])
      },
    ),
  )
})

describe('a sweep of a faulty deployment list', () => {
  test('a sweep of the deployment list ends if the service repeats a page without end', async () => {
    expect(await swept(() => ({ data: [entry('a')], pagination: { has_next: true } }))).toEqual({
      all: true,
      seen: ['a'],
      asked: 2,
    })
  })
  test('a sweep of the deployment list ends without pagination', async () => {
    expect(await swept((page) => ({ data: page === 1 ? [entry('a')] : [] }))).toEqual({
      all: true,
      seen: ['a'],
      asked: 2,
    })
  })
  test('a sweep reads the next page if the answer gives its number, but no `has_next`', async () => {
    expect(
      await swept((page) => ({
        data: [entry(`r${page}`)],
        pagination: { next_page_number: page < 2 ? page + 1 : null },
      })),
    ).toEqual({ all: true, seen: ['r1', 'r2'], asked: 2 })
  })
  test('a sweep of the deployment list ends if new entries never stop', async () => {
    expect(await swept((page) => ({ data: [entry(`r${page}`)], pagination: { has_next: true } }))).toMatchObject({
      all: false,
      asked: 500,
    })
  })
})
