import { expect, test } from 'vitest'
import { createTurns } from './turns.js'

const settled = () => new Promise((resolve) => setImmediate(resolve))

function setUp(most: number) {
  const taken: string[] = []
  const endings = new Map<string, () => void>()
  const turns = createTurns<string>(most, (item) => {
    taken.push(item)
    return new Promise((resolve) => endings.set(item, resolve))
  })
  const end = async (item: string) => {
    endings.get(item)?.()
    await settled()
  }
  return { turns, taken, end }
}

test('so many at once, the others in their order', async () => {
  const { turns, taken, end } = setUp(2)
  for (const item of ['a', 'b', 'c', 'd']) turns.add(item)
  expect(taken).toEqual([])
  await settled()
  expect(taken).toEqual(['a', 'b'])
  await end('b')
  expect(taken).toEqual(['a', 'b', 'c'])
  await end('a')
  expect(taken).toEqual(['a', 'b', 'c', 'd'])
})

test('whoever is removed is passed over, and whoever is under way cannot be', async () => {
  const { turns, taken, end } = setUp(1)
  for (const item of ['a', 'b', 'c']) turns.add(item)
  await settled()
  expect(['a', 'b', 'b'].map(turns.remove)).toEqual([false, true, false])
  await end('a')
  expect(taken).toEqual(['a', 'c'])
})

test('one that is added by what is taken up waits as well', async () => {
  const taken: number[] = []
  const turns = createTurns<number>(3, async (item) => {
    taken.push(item)
    turns.add(item + 10)
    await new Promise(() => {})
  })
  turns.add(1)
  turns.add(2)
  await settled()
  expect(taken).toEqual([1, 2, 11])
})
