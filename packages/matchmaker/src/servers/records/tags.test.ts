import { expect, test } from 'vitest'
import { matchIdsOf, matchTag } from './tags.js'

test('a tag gives the match of any attempt', () => {
  expect(matchIdsOf(matchTag('abc'))).toEqual(['abc'])
  expect(matchIdsOf(matchTag('abc', 12))).toContain('abc')
  // The tag alone cannot tell the two ids apart: that takes the list of known matches.
  expect(matchIdsOf(matchTag('abc-2', 3))).toEqual(['abc-2-3', 'abc-2'])
})

test('other tags give no match', () => {
  expect(matchIdsOf('mm-muster')).toEqual([])
  expect(matchIdsOf('mine')).toEqual([])
})
