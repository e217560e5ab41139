import { expect, test } from 'vitest'
import { applyMask, parseMask } from './handler.js'

const body = {
  endpoints: [
    { name: 'logs', bucket: 'b', owner: { id: 1, mail: 'x' } },
    { name: 'other', bucket: null },
  ],
  pagination: { number: 1, has_next: false },
}

function masked(text: string, value: unknown = body) {
  const mask = parseMask(text)
  if ('problem' in mask) throw new Error(mask.problem)
  return applyMask(mask, value)
}

test('named fields are kept, in every item of a list', () => {
  expect(masked('endpoints{name},pagination')).toEqual({
    endpoints: [{ name: 'logs' }, { name: 'other' }],
    pagination: { number: 1, has_next: false },
  })
})

test('outer braces and spaces are optional', () => {
  expect(masked(' { endpoints { name , bucket } } ')).toEqual({
    endpoints: [
      { name: 'logs', bucket: 'b' },
      { name: 'other', bucket: null },
    ],
  })
})

test('masks nest, and missing fields are left out', () => {
  expect(masked('endpoints{owner{id}}')).toEqual({ endpoints: [{ owner: { id: 1 } }, {}] })
})

test('a star keeps all other fields', () => {
  expect(masked('*')).toEqual(body)
  expect(masked('endpoints{*},pagination{number}')).toEqual({ ...body, pagination: { number: 1 } })
})

test('a mask below a value without fields leaves it unchanged', () => {
  expect(masked('endpoints{bucket{x}}')).toEqual({ endpoints: [{ bucket: 'b' }, { bucket: null }] })
})

test('an unknown field is left out', () => {
  expect(masked('nothing')).toEqual({})
  expect(masked('toString,__proto__')).toEqual({})
})

test.each([
  ['', 'expected a field, not the end'],
  ['{}', 'expected a field, not "}"'],
  ['a,', 'expected a field, not the end'],
  ['a{b', 'the brace after a is not closed'],
  ['{a', 'the outer brace is not closed'],
  ['a}', '"}" comes after the end'],
  ['a b{c}}', '"}" comes after the end'],
  ['{a}{b}', '"{" comes after the end'],
  ['a!', 'expected a field, not "a!"'],
])('%j is not a mask', (text, problem) => {
  expect(parseMask(text)).toEqual({ problem })
})
