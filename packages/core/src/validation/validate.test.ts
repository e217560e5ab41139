import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { operations } from '../api/api.js'
import { validate, validateAll } from './validate.js'

const inputs = operations.map(([, { input }]) => input)
const keys = [
  ...new Set(
    inputs.flatMap((input) =>
      Object.keys((z.toJSONSchema(input, { unrepresentable: 'any' }).properties ?? {}) as object),
    ),
  ),
]

const queue = z.strictObject({
  matchSize: z.int().min(1).max(100),
  name: z.string().min(1).max(8).regex(/^\w+$/, 'must be letters').optional(),
  mode: z.enum(['casual', 'ranked']).optional(),
  size: z.union([z.number(), z.strictObject({ minimum: z.number(), maximum: z.number() })]).optional(),
  rule: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('equal') }),
      z.strictObject({ kind: z.literal('distance'), km: z.number() }),
    ])
    .optional(),
  teams: z
    .array(z.strictObject({ count: z.number() }))
    .min(1)
    .optional(),
  pair: z.array(z.string()).length(2).optional(),
  even: z.number().multipleOf(2).optional(),
  kmh: z.number().gt(0).lt(10).optional(),
  home: z.url().optional(),
  since: z.iso.datetime().optional(),
  lengths: z.record(z.string().max(3), z.number()).optional(),
  only: z.literal(7).optional(),
  code: z.string().length(4).startsWith('AB').optional(),
  custom: z.custom<string>((value) => value === 'x').optional(),
  webhookUrl: z.url().optional(),
  apiToken: z.string().min(100).optional(),
})

function faultOf(value: unknown) {
  const result = validate(queue, value)
  if (result.success) return expect.unreachable('the value should be refused')
  return result.fault
}

test('validate returns a valid value', () => {
  expect(validate(queue, { matchSize: 2 })).toEqual({ success: true, data: { matchSize: 2 } })
  expect(validate(z.string().default('a'), undefined)).toEqual({ success: true, data: 'a' })
})

describe('a fault found by validate', () => {
  test.each([
    [{}, 'matchSize', 'is missing'],
    [{ matchSize: null }, 'matchSize', 'must be a number, got null'],
    [{ matchSize: 0 }, 'matchSize', 'must be at least 1, got 0'],
    [{ matchSize: 101 }, 'matchSize', 'must be at most 100, got 101'],
    [{ matchSize: 1.5 }, 'matchSize', 'must be a whole number, got 1.5'],
    [{ matchSize: '4' }, 'matchSize', 'must be a number, got a text'],
    [{ matchSize: [4] }, 'matchSize', 'must be a number, got a list'],
    [{ matchSize: Number.NaN }, 'matchSize', 'must be a number, got NaN'],
    [{ matchSize: 2, name: '' }, 'name', 'must not be empty, got ""'],
    [{ matchSize: 2, name: 'abcdefghi' }, 'name', 'must have at most 8 characters, got "abcdefghi"'],
    [{ matchSize: 2, name: 'a b' }, 'name', 'must be letters, got "a b"'],
    [{ matchSize: 2, mode: 'x' }, 'mode', 'must be "casual" or "ranked", got "x"'],
    [{ matchSize: 2, size: 'x' }, 'size', 'must be a number or an object, got a text'],
    [{ matchSize: 2, size: { minimum: 1 } }, 'size.maximum', 'is missing'],
    [{ matchSize: 2, rule: { kind: 'distance', km: 'far' } }, 'rule.km', 'must be a number, got a text'],
    [{ matchSize: 2, rule: 5 }, 'rule', 'must be an object, got 5'],
    [{ matchSize: 2, teams: [] }, 'teams', 'must not be empty, got a list'],
    [{ matchSize: 2, teams: [{ count: 1 }, {}] }, 'teams.1.count', 'is missing'],
    [{ matchSize: 2, pair: ['a'] }, 'pair', 'must have exactly 2 entries, got a list'],
    [{ matchSize: 2, even: 3 }, 'even', 'must be a multiple of 2, got 3'],
    [{ matchSize: 2, kmh: 0 }, 'kmh', 'must be more than 0, got 0'],
    [{ matchSize: 2, kmh: 10 }, 'kmh', 'must be less than 10, got 10'],
    [{ matchSize: 2, home: 'here' }, 'home', 'must be a URL, got "here"'],
    [{ matchSize: 2, since: 'now' }, 'since', 'must be a time in ISO 8601 format, got "now"'],
    [{ matchSize: 2, lengths: { long1: 1 } }, 'lengths.long1', 'is a name that must have at most 3 characters, got 1'],
    [{ matchSize: 2, only: 8 }, 'only', 'must be 7, got 8'],
    [{ matchSize: 2, code: 'XB12' }, 'code', 'must start with "AB"'],
    [{ matchSize: 2, custom: 1 }, 'custom', 'is invalid, got 1'],
    [[], undefined, 'must be an object, got a list'],
    [undefined, undefined, 'must be an object, got nothing'],
  ] as const)('validate names the wrong field and says what is wrong in plain words: %j', (value, field, message) => {
    expect(faultOf(value)).toMatchObject({ field, message })
  })

  test('a validation fault also has a message without values, for places where no value may be shown', () => {
    expect(faultOf({ matchSize: 0 }).wrong).toBe('must be at least 1')
    expect(faultOf({ matchSize: 2, mode: 'rankd' }).wrong).toBe('must be "casual" or "ranked"; did you mean ranked?')
  })
})

describe('a misspelt name', () => {
  test.each([
    [{ matchsize: 2 }, 'matchsize', 'is not known; did you mean matchSize?'],
    [{ matchSize: 2, tems: [] }, 'tems', 'is not known; did you mean teams?'],
    [{ matchSize: 2, colour: 1 }, 'colour', 'is not known'],
    [{ matchSize: 2, teams: [{ cont: 1 }] }, 'teams.0.cont', 'is not known; did you mean count?'],
    [{ matchSize: 2, size: { minimum: 1, maximun: 2 } }, 'size.maximun', 'is not known; did you mean maximum?'],
    [{ matchSize: 2, mode: 'rankd' }, 'mode', 'must be "casual" or "ranked", got "rankd"; did you mean ranked?'],
    [
      { matchSize: 2, rule: { kind: 'distnace' } },
      'rule.kind',
      'must be "equal" or "distance", got "distnace"; did you mean distance?',
    ],
  ] as const)('validate suggests the nearest known name for a misspelt one: %j', (value, field, message) => {
    expect(faultOf(value)).toMatchObject({ field, message })
  })
})

describe('a fault at a secret', () => {
  const SECRET = 'https://hooks.example.com/hunter2'

  test.each([
    [{ matchSize: 2, webhookUrl: 'hunter2' }, 'webhookUrl', 'must be a URL'],
    [{ matchSize: 2, webhookUrl: 71_123 }, 'webhookUrl', 'must be a text, got a number'],
    [{ matchSize: 2, apiToken: 'hunter2' }, 'apiToken', 'must have at least 100 characters'],
    [{ matchSize: 2, name: SECRET }, 'name', 'must have at most 8 characters, got a text of 33 characters'],
    [{ matchSize: 2, name: 'a@hunter2' }, 'name', 'must have at most 8 characters, got a text of 9 characters'],
    [{ matchSize: 2, name: 'x'.repeat(41) }, 'name', 'must have at most 8 characters, got a text of 41 characters'],
    [{ matchSize: 2, name: '192.0.2.123' }, 'name', 'must have at most 8 characters, got "[address]"'],
    [{ matchSize: 2, '192.0.2.7': 1 }, '[address]', 'is not known'],
  ] as const)('a validation fault at a secret does not show the secret: %j', (value, field, message) => {
    expect(faultOf(value)).toMatchObject({ field, message })
  })

  test('a validation fault shows no secret at any place in an input, regardless of what else is wrong', () => {
    const leaf = fc.constantFrom<unknown>(SECRET, [SECRET], { url: SECRET }, [{ value: SECRET }], {
      ip_address: SECRET,
      [keys[0] as string]: SECRET,
    })
    fc.assert(
      fc.property(fc.constantFrom(...inputs), fc.dictionary(fc.constantFrom(...keys), leaf), (input, value) => {
        const result = validate(input, value)
        expect(JSON.stringify(result.fault ?? '')).not.toContain('hunter2')
      }),
    )
  })
})

test('no validation message uses the words of zod', () => {
  const odd = fc.constantFrom<unknown>(null, '', 'text', -1, 1.5, 1e9, true, [], [{}], {}, [null], 'x'.repeat(5000), [
    [],
  ])
  fc.assert(
    fc.property(fc.constantFrom(...inputs), fc.dictionary(fc.constantFrom(...keys), odd), (input, value) => {
      const result = validate(input, value)
      if (result.success) return
      expect(result.fault.message).not.toMatch(
        /invalid input|expected|received|too (?:small|big)|unrecognized|undefined|got null.*got null/i,
      )
      expect(result.fault.message).toMatch(/^(?:must |is |fits )/)
      expect(result.fault.message.length).toBeLessThan(300)
    }),
  )
})

test('`validate` reports one fault of several, and shortens a long field name', () => {
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`key${index}`, index]))
  expect(faultOf({ matchSize: 2, ...many }).field).toBe('key0')
  expect(faultOf({ matchSize: 2, teams: Array.from({ length: 20_000 }, () => 1) }).field).toBe('teams.0')
  expect(faultOf({ matchSize: 2, ['k'.repeat(20_000)]: 1 }).field).toHaveLength(81)
})

describe('validateAll', () => {
  const messagesOf = (value: unknown) =>
    (validateAll(queue, value).faults ?? []).map(({ field, message }) => `${field}: ${message}`)

  test('validateAll reports each wrong place once, and each unknown name by itself', () => {
    expect(
      messagesOf({ matchSize: 0, name: 'much too-long', teams: [{ count: 1 }, { count: 'x' }], moed: 'x', other: 1 }),
    ).toEqual([
      'matchSize: must be at least 1, got 0',
      'name: must have at most 8 characters, got "much too-long"',
      'teams.1.count: must be a number, got a text',
      'moed: is not known; did you mean mode?',
      'other: is not known',
    ])
  })

  test('validateAll does not report a name as missing if it is only misspelt', () => {
    expect(messagesOf({ matchsize: 2, naem: 'x' })).toEqual([
      'matchsize: is not known; did you mean matchSize?',
      'naem: is not known; did you mean name?',
    ])
    expect(messagesOf({ matchSize: 0, matchSiz: 2 })).toHaveLength(2)
  })

  test('validateAll does not report a missing key of an object while a name in it is misspelt', () => {
    const either = z
      .strictObject({ one: z.number().optional(), other: z.number().optional(), named: z.number().optional() })
      .superRefine(({ one, other }, { addIssue }) => {
        if (one !== undefined || other !== undefined) return
        addIssue({ code: 'custom', message: 'must have one or other' })
        addIssue({ code: 'custom', path: ['one'], message: 'must be given, or other' })
      })
    const fieldsOf = (value: unknown) => (validateAll(either, value).faults ?? []).map(({ field }) => field)
    expect(fieldsOf({ othr: 1 })).toEqual(['othr'])
    expect(fieldsOf({ unheardOf: 1 })).toEqual(['unheardOf', undefined, 'one'])
    expect(fieldsOf({ named: 1, naemd: 1, unheardOf: 1 })).toContain('one')
  })

  test('validateAll reports no fault for valid values', () => {
    expect(validateAll(queue, { matchSize: 2 })).toEqual({ success: true, data: { matchSize: 2 } })
  })

  test('validateAll reports the field that validate reports, or a misspelt name instead', () => {
    const part = fc.constantFrom<unknown>(null, 'x', -1, 7, [], [1], {}, { count: 'x' })
    const keys = fc.constantFrom('matchSize', 'mode', 'size', 'rule', 'teams', 'only', 'moed', 'other')
    fc.assert(
      fc.property(fc.dictionary(keys, part), (value) => {
        const [one, all] = [validate(queue, value), validateAll(queue, value)]
        expect(all.success).toBe(one.success)
        if (!all.success) expect(all.faults.map(({ field }) => field)).toContain(one.fault?.field)
      }),
    )
  })
})
