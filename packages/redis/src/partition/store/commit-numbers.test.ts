import { expect, test } from 'vitest'
import { CommitNumbers } from './commit-numbers.js'

/** Returns numbers of which the commits of these tokens are confirmed, in order. */
function confirmed(...tokens: readonly string[]): CommitNumbers {
  const numbers = new CommitNumbers()
  for (const token of tokens) numbers.confirmed(token, numbers.next(token))
  return numbers
}
const looked = (numbers: CommitNumbers, done: string | null, before: string | null = null) =>
  numbers.hasGoneBack(async () => [done, before])

test.each([
  ['has the last commit', '2 7:a', '9 6:b', false],
  ['has a commit whose reply was lost', '3 7:a', '9 6:b', false],
  ['has an earlier commit of the same epoch', '1 7:a', '9 6:b', true],
  ['has a commit of an earlier epoch', '9 6:b', '4 5:a', true],
  ['has a later epoch after the last commit', '1 8:b', '2 7:a', false],
  ['has a later epoch after an earlier commit', '1 8:b', '1 7:a', true],
  ['has a later epoch, and forgot this one', '1 9:b', '4 8:c', false],
  ['has this epoch of another process', '3 7:c', '9 6:b', true],
  ['is empty', null, null, false],
])('a Redis that %s', async (_, done, before, hasGoneBack) => {
  const numbers = confirmed('7:a', '7:a')
  expect(await looked(numbers, done, before)).toBe(hasGoneBack)
  expect(await looked(numbers, done, before)).toBe(false)
})

test('a commit that is confirmed during a read does not count as lost', async () => {
  const numbers = confirmed('7:a')
  const read = async () => {
    numbers.confirmed('7:a', numbers.next('7:a'))
    return ['1 7:a', null]
  }
  expect(await numbers.hasGoneBack(read)).toBe(false)
  expect(await looked(numbers, '1 7:a')).toBe(true)
})

test('of two reads at once, one counts the loss', async () => {
  const numbers = confirmed('7:a', '7:a')
  expect(await Promise.all([looked(numbers, '1 7:a'), looked(numbers, '1 7:a')])).toEqual([true, false])
})

test('a commit without a reply does not have to be stored', () => {
  const numbers = confirmed('7:a')
  expect([numbers.next('7:a'), numbers.next('7:a'), numbers.done('7:a')]).toEqual([2, 3, 1])
  numbers.confirmed('7:a', 3)
  expect([numbers.done('7:a'), numbers.done('8:a'), numbers.next('8:a')]).toEqual([3, 0, 1])
})
