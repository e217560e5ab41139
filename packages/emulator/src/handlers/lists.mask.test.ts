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

test('a field mask keeps the named fields, in every item of a list', () => {
  expect(masked('endpoints{name},pagination')).toEqual({
    endpoints: [{ name: 'logs' }, { name: 'other' }],
    pagination: { number: 1, has_next: false },
  })
})

test('outer braces and spaces of a field mask are optional', () => {
  expect(masked(' { endpoints { name , bucket } } ')).toEqual({
    endpoints: [
      { name: 'logs', bucket: 'b' },
      { name: 'other', bucket: null },
    ],
  })
})

test('field masks can be nested, and missing fields are left out', () => {
  expect(masked('endpoints{owner{id}}')).toEqual({ endpoints: [{ owner: { id: 1 } }, {}] })
})

test('a star in a field mask keeps all other fields', () => {
  expect(masked('*')).toEqual(body)
  expect(masked('endpoints{*},pagination{number}')).toEqual({ ...body, pagination: { number: 1 } })
})

test('a field mask for a value without fields leaves the value unchanged', () => {
  expect(masked('endpoints{bucket{x}}')).toEqual({ endpoints: [{ bucket: 'b' }, { bucket: null }] })
})

test('an unknown field in a field mask is ignored', () => {
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
])('%j is refused as a field mask', (text, problem) => {
  expect(parseMask(text)).toEqual({ problem })
})
