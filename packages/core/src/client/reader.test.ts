import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { operations } from '../api/api.js'
import { validate } from '../validation/validate.js'
import { readerOf } from './decode.js'
import { roughly } from './roughly.fixture.js'

const read = operations.flatMap(([id, { output }]) => (output === undefined ? [] : [[id, output] as const]))

test.each(read)('%s: the quick reader and zod give the same result', (_, schema) => {
  const reader = readerOf(schema)
  fc.assert(
    fc.property(roughly(schema), (value) => {
      // Values as JSON.parse gives them: `__proto__` is an own field, and there is no undefined.
      const text = JSON.stringify(value) ?? 'null'
      const quick = reader(JSON.parse(text))
      const slow = schema.safeParse(JSON.parse(text))
      expect(quick.success).toBe(slow.success)
      expect(quick.data).toEqual(slow.data)
    }),
    { numRuns: 40 },
  )
})

describe('a value that fits its schema is not copied', () => {
  const schema = z.looseObject({
    text: z.string(),
    maybe: z.string().nullish().catch(undefined),
    count: z.int().optional(),
    list: z.array(z.looseObject({ on: z.boolean() })).nullish(),
    map: z.record(z.string(), z.number()).optional(),
    either: z.union([z.string(), z.number()]).optional(),
    bounded: z.int().min(0).max(9).optional(),
    any: z.unknown(),
  })
  const reader = readerOf(schema)
  const fitting = {
    text: 'a',
    maybe: null,
    count: 1,
    list: [{ on: true, more: 1 }],
    map: { a: 1.5 },
    either: 'x',
    bounded: 9,
    any: { deep: [] },
    other: 1,
  }

  test('but returned itself', () => {
    expect(reader(fitting).data).toBe(fitting)
  })

  test.each([{ ...fitting, maybe: 7 }, JSON.parse('{"text":"a","any":1,"__proto__":{"polluted":true}}') as unknown])(
    'unless zod changes it: %j',
    (value) => {
      expect(reader(value).data).not.toBe(value)
      expect(reader(value)).toEqual(schema.safeParse(value))
    },
  )

  test.each([
    { ...fitting, text: undefined },
    { ...fitting, count: 1.5 },
    { ...fitting, bounded: 10 },
    { ...fitting, list: [{ on: 'yes' }] },
    { ...fitting, map: { a: JSON.parse('1e999') as number } },
    [],
    null,
  ])('and one that does not fit is refused as by zod: %j', (value) => {
    expect(reader(value).success).toBe(false)
    expect(reader(value)).toEqual(validate(schema, value))
  })

  test('schemas that convert, trim, default or drop fields are left to zod', () => {
    for (const [changing, value] of [
      [z.coerce.number(), '7'],
      [z.string().trim(), ' a '],
      [z.string().default('x'), undefined],
      [z.object({ a: z.string() }), { a: 'x', b: 1 }],
      [z.strictObject({ a: z.string() }), { a: 'x', b: 1 }],
      [z.url(), 'not a url'],
      [z.looseObject({ a: z.string() }).refine(() => false), { a: 'x' }],
    ] as const) {
      expect(readerOf(changing)(value).success).toBe(changing.safeParse(value).success)
      expect(readerOf(changing)(value).data).toEqual(changing.safeParse(value).data)
    }
  })
})
