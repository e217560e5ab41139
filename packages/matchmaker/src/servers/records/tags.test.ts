import { expect, test } from 'vitest'
import { matchIdsOf, matchTag } from './tags.js'

test('a tag leads back to its match, whichever try it is of', () => {
  expect(matchIdsOf(matchTag('abc'))).toEqual(['abc'])
  expect(matchIdsOf(matchTag('abc', 12))).toContain('abc')
  // The tag alone cannot tell the two ids apart: that takes the list of known matches.
  expect(matchIdsOf(matchTag('abc-2', 3))).toEqual(['abc-2-3', 'abc-2'])
})

test('others lead nowhere', () => {
  expect(matchIdsOf('mm-muster')).toEqual([])
  expect(matchIdsOf('mine')).toEqual([])
})
