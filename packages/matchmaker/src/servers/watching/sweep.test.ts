import type { DeploymentList, ListDeployments } from '@muster/core/api'
import { createManualClock } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { createTestService } from '../../service.fixture.js'
import { sweep } from './sweep.js'

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

test('reads page after page to the end, and only takes what has the tag', async () => {
  const pages = [[entry('c'), { request_id: 'x', tags: ['mm-b'] }, { request_id: 'y' }], [entry('b')], [entry('a')]]
  expect(await swept((page) => ({ data: pages[page - 1] ?? [], pagination: { has_next: page < 3 } }))).toEqual({
    all: true,
    seen: ['c', 'b', 'a'],
    asked: 3,
  })
})

describe('ends for a service that', () => {
  test('repeats a page for ever', async () => {
    expect(await swept(() => ({ data: [entry('a')], pagination: { has_next: true } }))).toEqual({
      all: true,
      seen: ['a'],
      asked: 2,
    })
  })
  test('says nothing of further pages', async () => {
    expect(await swept((page) => ({ data: page === 1 ? [entry('a')] : [] }))).toEqual({ all: true, seen: ['a'], asked: 2 })
  })
  test('gives the number of the next page only', async () => {
    expect(
      await swept((page) => ({ data: [entry(`r${page}`)], pagination: { next_page_number: page < 2 ? page + 1 : null } })),
    ).toEqual({ all: true, seen: ['r1', 'r2'], asked: 2 })
  })
  test('makes up ever new entries', async () => {
    expect(await swept((page) => ({ data: [entry(`r${page}`)], pagination: { has_next: true } }))).toMatchObject({
      all: false,
      asked: 500,
    })
  })
})
