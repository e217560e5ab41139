import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CODE_ALPHABET, newCode, parseCode } from './join-lobby.js'

test('every drawn lobby code is valid and is accepted in any spelling that people type', () => {
  const draws = fc.infiniteStream(fc.nat())
  const typed = fc.array(fc.constantFrom('', ' ', '-', '\n'), { minLength: 10, maxLength: 10 })
  fc.assert(
    fc.property(draws, fc.constantFrom('public', 'private'), typed, (stream, visibility, between) => {
      const code = newCode((max) => (stream.next().value as number) % max, visibility)
      expect(code).toHaveLength(visibility === 'public' ? 8 : 10)
      const written = Array.from(
        code,
        (letter, index) => (index % 2 === 0 ? letter.toLowerCase() : letter) + between[index],
      ).join('')
      expect(parseCode(written)).toBe(code)
    }),
    { numRuns: 100 },
  )
})

test.each(['', 'BCDFGHJ', 'BCDFGHJKL', 'BCDFGHJKLMN', 'BCDFGHJA', 'BCDFGHJ0', 'ＢCDFGHJK', 'BCDFGHJK!'])(
  '%j is refused as a lobby code',
  (text) => {
    expect(parseCode(text)).toBeUndefined()
  },
)

test('lobby codes contain only letters that are not mistaken for others', () => {
  expect(CODE_ALPHABET).toMatch(/^[B-DF-HJ-NP-TV-XZ]{20}$/)
})
