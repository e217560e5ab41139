import { seededRandom } from '@muster/core/clock'
import { newId, unguessable } from '@muster/core/internal'
import { expect, test } from 'vitest'
import { LONGEST_TAG, possibleServerIdsOf, matchmakerTag, serverTag } from './tags.js'

test('the server of a deployment is read from its tag, for any attempt', () => {
  expect(possibleServerIdsOf(serverTag('abc'))).toEqual(['abc'])
  expect(possibleServerIdsOf(serverTag('abc', 12))).toContain('abc')
  // The tag alone fits two ids. The list of known servers decides between them.
  expect(possibleServerIdsOf(serverTag('abc-2', 3))).toEqual(['abc-2-3', 'abc-2'])
})

test('the tag of a foreign deployment gives no server id', () => {
  expect(possibleServerIdsOf('mm-muster')).toEqual([])
  expect(possibleServerIdsOf('mine')).toEqual([])
})

test.each([
  ['the default random source', unguessable],
  ['a seeded random source', seededRandom(7)],
  ['the lowest random numbers', () => 0],
  ['the highest random numbers', () => 1 - 2 ** -53],
])('ids made with %s fit into deployment tags', (_, random) => {
  const id = newId(random)
  expect(id).toMatch(/^[0-9a-v]{21}$/)
  expect(serverTag(id).length).toBeLessThanOrEqual(LONGEST_TAG)
  expect(matchmakerTag('x'.repeat(32)).length).toBeLessThanOrEqual(LONGEST_TAG)
})
