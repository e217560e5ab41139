import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonFault } from './read.js'

test.each([
  ['', 1, 1, 'is empty'],
  ['{', 1, 2, 'ends too early'],
  ['{"a": 1,}', 1, 9, 'a comma before the closing bracket'],
  ['[1, 2,\n]', 2, 1, 'a comma before the closing bracket'],
  ["{'a': 1}", 1, 2, 'texts and names must be in double quotes'],
  ['{"a": \'x\'}', 1, 7, 'texts and names must be in double quotes'],
  ['{\n  // no\n}', 2, 3, 'a comment is not JSON'],
  ['{"a" 1}', 1, 6, 'a colon is missing'],
  ['{"a": 1 "b": 2}', 1, 9, 'a comma or } is missing'],
  ['[1 2]', 1, 4, 'a comma or ] is missing'],
  ['{a: 1}', 1, 2, 'a name in double quotes is missing'],
  ['{"a": }', 1, 7, 'a value is missing'],
  ['{"a": hunter2}', 1, 7, 'a value is missing'],
  ['{"a": "x}', 1, 7, 'a text without a closing quote'],
  ['{"a": "\\x"}', 1, 8, 'an unknown escape sequence'],
  ['{"a": "\n"}', 1, 8, 'a control character in a text'],
  ['{} {}', 1, 4, 'there is more text after the end of the value'],
  ['[01]', 1, 3, 'a comma or ] is missing'],
  ['\r\n \t[1e5, -0.5, {"":[{}]}, null]x', 2, 31, 'there is more text after the end of the value'],
])('jsonFault finds the fault in %j with line and column', (text, line, column, wrong) => {
  expect(jsonFault(text)).toEqual({ line, column, wrong })
})

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('jsonFault finds a fault in exactly those strings that JSON.parse refuses', () => {
  const broken = fc.tuple(
    fc.json(),
    fc.nat(),
    fc.constantFrom('', ',', '"', '{', '}', '[', ']', ':', '1', 'e', '-', '\\', '\n', 'tru', '.', ' '),
  )
  const text = fc.oneof(
    fc.string(),
    fc.json(),
    fc.json().map((json) => JSON.stringify(JSON.parse(json), undefined, 2)),
    broken.map(
      ([json, at, put]) => json.slice(0, at % (json.length + 1)) + put + json.slice((at % (json.length + 1)) + 1),
    ),
  )
  fc.assert(
    fc.property(text, (one) => {
      expect(jsonFault(one) === undefined).toBe(isJson(one))
    }),
    { numRuns: 2000 },
  )
})

test('jsonFault finds a fault quickly at any depth and length', () => {
  expect(jsonFault('['.repeat(1_000_000))).toMatchObject({ column: 1_000_001, wrong: 'ends too early' })
  expect(jsonFault(`["${'x'.repeat(5_000_000)}`)).toMatchObject({ column: 2 })
  expect(jsonFault(`["${'\\n'.repeat(1_000_000)}"`)).toMatchObject({ wrong: 'ends too early' })
})
