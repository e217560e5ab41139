import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { operations } from '../api/api.js'
import { validate } from '../validation/validate.js'
import { inputReaderOf } from './call.js'
import { roughly } from './roughly.fixture.js'

const inputs = operations.map(([id, { input }]) => [id, input] as const)

test.each(inputs)('%s: the quick reader and zod give the same result', (_, schema) => {
  const read = inputReaderOf(schema)
  fc.assert(
    fc.property(roughly(schema), (value) => {
      expect(read(value)).toEqual(validate(schema, value))
    }),
    { numRuns: 60 },
  )
})

const schema = z.strictObject({
  name: z.string().min(2).max(4),
  note: z.string().optional(),
  page: z.int().min(1).optional(),
})
const read = inputReaderOf(schema)

class Named {
  name = 'abc'
  get page() {
    return 0
  }
}

test.each([
  [{ name: 'ab' }],
  [{ name: 'abcd', note: undefined, page: 3 }],
  [{ name: 'a' }],
  [{ name: 'abcde' }],
  [{ name: 7 }],
  [{ name: '\u{1F3AE}'.repeat(2) }],
  [{ name: 'abc', page: 0 }],
  [{ name: 'abc', page: 1.5 }],
  [{ name: 'abc', Name: 'abc' }],
  [{ name: 'abc', unknown: undefined }],
  [JSON.parse('{"name":"abc","__proto__":{"page":1}}')],
  [Object.create({ name: 'abc' })],
  [Object.assign(Object.create(null), { name: 'abc' })],
  [new Named()],
  [{}],
  [['abc']],
  [null],
  [undefined],
  ['abc'],
])('reads as zod does: %o', (value: unknown) => {
  expect(read(value)).toEqual(validate(schema, value))
})

test('copies the input, so that later changes of it have no effect', () => {
  const given = { name: 'abc' }
  const { data } = read(given)
  given.name = 'xyz'
  expect(data).toEqual({ name: 'abc' })
})

test('copies lists and objects within the input', () => {
  const nested = z.strictObject({ list: z.array(z.string()), of: z.strictObject({ a: z.int() }) })
  const given = { list: ['a'], of: { a: 1 } }
  const { data } = inputReaderOf(nested)(given)
  given.list.push('b')
  given.of.a = 2
  expect(data).toEqual({ list: ['a'], of: { a: 1 } })
})

test('runs checks of the whole object', () => {
  const either = z.strictObject({ a: z.string().optional() }).refine(({ a }) => a !== undefined, 'needs a')
  expect(inputReaderOf(either)({})).toMatchObject({ success: false, fault: { wrong: 'needs a' } })
})
