import { seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { newId, unguessable } from './ids.js'
import { LONGEST_TAG, matchmakerTag, matchTag } from './servers/records/tags.js'

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

test('ids are the drawn random bits in base 32', () => {
  const random = seededRandom(3)
  for (let times = 0; times < 1000; times += 1) {
    const drawn = random()
    expect(newId(() => drawn)).toBe(
      Math.floor(drawn * 32 ** 7)
        .toString(32)
        .padStart(7, '0')
        .repeat(3),
    )
  }
})

test('ids do not repeat', () => {
  expect(new Set(Array.from({ length: 10_000 }, () => newId(unguessable))).size).toBe(10_000)
})
