import { expect, test } from 'vitest'
import { createConcurrencyLimit } from './concurrency-limit.js'

const settled = () => new Promise((resolve) => setImmediate(resolve))

function setUp(most: number) {
  const taken: string[] = []
  const endings = new Map<string, () => void>()
  const limit = createConcurrencyLimit<string>(most, (item) => {
    taken.push(item)
    return new Promise((resolve) => endings.set(item, resolve))
  })
  const end = async (item: string) => {
    endings.get(item)?.()
    await settled()
  }
  return { limit, taken, end }
}

test('runs a bounded number at once, the others in their order', async () => {
  const { limit, taken, end } = setUp(2)
  for (const item of ['a', 'b', 'c', 'd']) limit.add(item)
  expect(taken).toEqual([])
  await settled()
  expect(taken).toEqual(['a', 'b'])
  await end('b')
  expect(taken).toEqual(['a', 'b', 'c'])
  await end('a')
  expect(taken).toEqual(['a', 'b', 'c', 'd'])
})

test('passes over what was removed; what runs cannot be removed', async () => {
  const { limit, taken, end } = setUp(1)
  for (const item of ['a', 'b', 'c']) limit.add(item)
  await settled()
  expect(['a', 'b', 'b'].map(limit.remove)).toEqual([false, true, false])
  await end('a')
  expect(taken).toEqual(['a', 'c'])
})

test('an entry added while another is begun waits too', async () => {
  const taken: number[] = []
  const limit = createConcurrencyLimit<number>(3, async (item) => {
    taken.push(item)
    limit.add(item + 10)
    await new Promise(() => {})
  })
  limit.add(1)
  limit.add(2)
  await settled()
  expect(taken).toEqual([1, 2, 11])
})
