import { seededRandom } from '@muster/core/clock'
import { newId, unguessable } from '@muster/core/internal'
import { expect, test } from 'vitest'
import { LONGEST_TAG, matchIdsOf, matchmakerTag, matchTag } from './tags.js'

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

test.each([
  ['the default', unguessable],
  ['a seed', seededRandom(7)],
  ['the least', () => 0],
  ['the most', () => 1 - 2 ** -53],
])('ids of %s fit into tags', (_, random) => {
  const id = newId(random)
  expect(id).toMatch(/^[0-9a-v]{21}$/)
  expect(matchTag(id).length).toBeLessThanOrEqual(LONGEST_TAG)
  expect(matchmakerTag('x'.repeat(32)).length).toBeLessThanOrEqual(LONGEST_TAG)
})
