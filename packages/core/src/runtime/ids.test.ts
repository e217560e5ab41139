import { expect, test } from 'vitest'
import { seededRandom } from '../time.js'
import { newId, unguessable } from './ids.js'

test('an id consists of the drawn random bits in base 32', () => {
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

test('ten thousand new ids do not repeat', () => {
  expect(new Set(Array.from({ length: 10_000 }, () => newId(unguessable))).size).toBe(10_000)
})
