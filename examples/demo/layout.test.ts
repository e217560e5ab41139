import { expect, test } from 'vitest'
import { fitted, row, wrap } from './layout.js'

test('text of the demo wraps between words, and words that are too long are cut', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three'])
  expect(wrap('a\u00a0b c', 3)).toEqual(['a\u00a0b', 'c'])
  expect(wrap('toolongforit x', 4)).toEqual(['tool', 'x'])
  expect(wrap('', 4)).toEqual([''])
})

test('a wrapped description of the demo continues in its own column', () => {
  expect(row('players', 'ten playing', 100)).toEqual(['  players          ten playing'])
  expect(row('players', 'some playing, others not', 36)).toEqual([
    '  players          some playing,',
    '                   others not',
  ])
})

test('empty lines of the demo screen are dropped first if there are too few rows', () => {
  const lines = ['', 'a', '', 'b', '']
  expect(fitted(lines, 9)).toEqual(lines)
  expect(fitted(lines, 4)).toEqual(['', 'a', '', 'b'])
  expect(fitted(lines, 2)).toEqual(['a', 'b'])
  expect(fitted(lines, 1)).toEqual(['a'])
})
