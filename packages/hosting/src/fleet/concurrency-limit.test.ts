import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createConcurrencyLimit } from './concurrency-limit.js'

const settled = () => new Promise((resolve) => setImmediate(resolve))

interface Task {
  readonly name: string
  turn: number
}

function setUp(most: number) {
  const taken: string[] = []
  const endings = new Map<string, () => void>()
  const tasks = new Map<string, Task>()
  const named = (name: string): Task => {
    const task = tasks.get(name) ?? { name, turn: -1 }
    tasks.set(name, task)
    return task
  }
  const tasksLimit = createConcurrencyLimit<Task>(most, ({ name }) => {
    taken.push(name)
    return new Promise((resolve) => endings.set(name, resolve))
  })
  const limit = {
    add: (name: string) => tasksLimit.add(named(name)),
    remove: (name: string) => tasksLimit.remove(named(name)),
  }
  const end = async (item: string) => {
    endings.get(item)?.()
    await settled()
  }
  return { limit, taken, end }
}

test('a concurrency limit runs no more entries at once than allowed, and starts the others in order', async () => {
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

test('a concurrency limit can remove waiting entries, but not running ones', async () => {
  const { limit, taken, end } = setUp(1)
  for (const item of ['a', 'b', 'c']) limit.add(item)
  await settled()
  expect(['a', 'b', 'b'].map((name) => limit.remove(name))).toEqual([false, true, false])
  await end('a')
  expect(taken).toEqual(['a', 'c'])
})

test('an entry that is added while another entry starts counts towards the concurrency limit', async () => {
  const taken: number[] = []
  const limit = createConcurrencyLimit<{ id: number; turn: number }>(3, async ({ id }) => {
    taken.push(id)
    limit.add({ id: id + 10, turn: -1 })
    await new Promise(() => {})
  })
  limit.add({ id: 1, turn: -1 })
  limit.add({ id: 2, turn: -1 })
  await settled()
  expect(taken).toEqual([1, 2, 11])
})

test('property: a concurrency limit behaves like a list under any adds, removals and ends', async () => {
  const step = fc.tuple(fc.constantFrom('add', 'add', 'remove', 'end'), fc.nat(2999))
  await fc.assert(
    fc.asyncProperty(fc.nat(3000), fc.array(step, { maxLength: 60 }), async (before, steps) => {
      const { limit, taken, end } = setUp(1)
      limit.add('first')
      await settled()
      let expected: string[] = []
      for (let each = 0; each < before; each += 1) expected.push(`old-${each}`)
      for (const name of expected) limit.add(name)
      // Remove 70 % of the tasks, in another order.
      const gone = new Set(expected.filter((_, at) => (at * 7919) % 10 < 7))
      for (const name of [...gone].toReversed()) expect(limit.remove(name)).toBe(true)
      expected = expected.filter((name) => !gone.has(name))
      const begun = ['first']
      for (const [index, [what, at]] of steps.entries()) {
        if (what === 'add') {
          limit.add(`new-${index}`)
          expected.push(`new-${index}`)
        } else if (what === 'remove') {
          const name = expected[at % Math.max(1, expected.length)] ?? 'nobody'
          expect(limit.remove(name)).toBe(expected.includes(name))
          expected = expected.filter((other) => other !== name)
        } else {
          const next = expected.shift()
          if (next === undefined) continue
          await end(begun.at(-1) as string)
          begun.push(next)
        }
      }
      expect(taken).toEqual(begun)
    }),
    { numRuns: 50 },
  )
})

test('removing an entry from a concurrency limit takes constant time, even if very many wait', () => {
  const { limit } = setUp(0)
  const names = Array.from({ length: 100_000 }, (_, at) => `task-${at}`)
  for (const name of names) limit.add(name)
  // A linear search for each removal would take five thousand million steps.
  expect(names.toReversed().every((name) => limit.remove(name))).toBe(true)
})
