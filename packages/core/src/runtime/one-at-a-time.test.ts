import { expect, test } from 'vitest'
import { oneAtATime } from './one-at-a-time.js'

test('serialized tasks run one after another, in order, even after a task has failed', async () => {
  const inTurn = oneAtATime()
  const seen: string[] = []
  const task = (name: string, fails = false) =>
    inTurn(async () => {
      seen.push(`${name} begins`)
      await Promise.resolve()
      seen.push(`${name} ends`)
      if (fails) throw new Error(name)
      return name
    })
  const results = await Promise.allSettled([task('a'), task('b', true), task('c')])
  expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})
