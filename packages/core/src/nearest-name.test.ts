import fc from 'fast-check'
import { expect, test } from 'vitest'
import { didYouMean, nearestName } from './nearest-name.js'

test.each([
  ['matchsize', ['matchSize', 'teams'], 'matchSize'],
  ['match_size', ['matchSize', 'teams'], 'matchSize'],
  ['rankd', ['casual', 'ranked', 'rank'], 'ranked'],
  ['rnaked', ['ranked', 'naked1'], 'ranked'],
  ['timeout', ['timeouts', 'clock', 'timeoutMs'], 'timeouts'],
  ['delay', ['relay', 'delayMs'], 'delayMs'],
  ['time', ['timeoutMs', 'clock'], undefined],
  ['timeoutM', ['timeoutMs', 'clock'], 'timeoutMs'],
  ['satus', ['status', 'create'], 'status'],
  ['x', ['y', 'teams'], undefined],
  ['', ['a'], undefined],
  ['--', ['a', '__'], undefined],
  ['proxies', ['share', 'burst'], undefined],
  ['ab', [], undefined],
  ['queue', ['attributes', 'profile', 'profiles'], 'profile'],
  ['Queues', ['profile', 'profiles'], 'profiles'],
  ['profile', ['queue', 'players'], 'queue'],
  ['queues', ['queue', 'profile'], 'queue'],
])('the nearest name to %j among %j is %j', (given, known, wanted) => {
  expect(nearestName(given, known)).toBe(wanted)
})

test('didYouMean ends a message with the nearest name', () => {
  expect(didYouMean('rankd', ['ranked'])).toBe('; did you mean ranked?')
  expect(didYouMean('duel', ['ranked'])).toBe('')
})

const word = fc.stringMatching(/^[a-z]{5,12}$/)

test('a name with one letter wrong, missing or extra is found among known names', () => {
  fc.assert(
    fc.property(word, fc.nat(), fc.constantFrom('', 'x', 'xy'), fc.array(word), (name, at, instead, others) => {
      const index = at % name.length
      const given = name.slice(0, index) + instead.slice(0, 1) + name.slice(index + (instead.length === 2 ? 0 : 1))
      const known = [...others, name]
      if (given === name) return
      expect(known).toContain(nearestName(given, known))
    }),
  )
})

test('the search for the nearest name is fast for any length and any number of names', () => {
  expect(nearestName('x'.repeat(100_000), ['ranked'])).toBeUndefined()
  expect(nearestName('ranked', ['x'.repeat(100_000), 'rankedd'])).toBe('rankedd')
  const many = Array.from({ length: 1_000_000 }, (_, index) => `queue${index}`)
  expect(nearestName('queue00', many)).toBe('queue0')
})
