import { expect, test } from 'vitest'
import { matchIdsOf, matchTag } from './tags.js'

test('a tag leads back to its match, whichever try it is of', () => {
  expect(matchIdsOf(matchTag('abc'))).toEqual(['abc'])
  expect(matchIdsOf(matchTag('abc', 12))).toContain('abc')
  // Only who knows the matches can tell which of the two it is.
  expect(matchIdsOf(matchTag('abc-2', 3))).toEqual(['abc-2-3', 'abc-2'])
})

test('others lead nowhere', () => {
  expect(matchIdsOf('mm-muster')).toEqual([])
  expect(matchIdsOf('mine')).toEqual([])
})
