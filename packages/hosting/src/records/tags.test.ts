import { seededRandom } from '@muster/core/clock'
import { newId, unguessable } from '@muster/core/internal'
import { expect, test } from 'vitest'
import { LONGEST_TAG, matchIdsOf, matchmakerTag, matchTag } from './tags.js'

test('the match of a deployment is read from its tag, for any attempt', () => {
  expect(matchIdsOf(matchTag('abc'))).toEqual(['abc'])
  expect(matchIdsOf(matchTag('abc', 12))).toContain('abc')
  // The tag alone fits two ids. The list of known matches decides between them.
  expect(matchIdsOf(matchTag('abc-2', 3))).toEqual(['abc-2-3', 'abc-2'])
})

test('the tag of a foreign deployment gives no match id', () => {
  expect(matchIdsOf('mm-muster')).toEqual([])
  expect(matchIdsOf('mine')).toEqual([])
})

test.each([
  ['the default random source', unguessable],
  ['a seeded random source', seededRandom(7)],
  ['the lowest random numbers', () => 0],
  ['the highest random numbers', () => 1 - 2 ** -53],
])('ids made with %s fit into deployment tags', (_, random) => {
  const id = newId(random)
  expect(id).toMatch(/^[0-9a-v]{21}$/)
  expect(matchTag(id).length).toBeLessThanOrEqual(LONGEST_TAG)
  expect(matchmakerTag('x'.repeat(32)).length).toBeLessThanOrEqual(LONGEST_TAG)
})
