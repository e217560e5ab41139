import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDocument, stringify } from 'yaml'
import { checkText } from './read-config.js'
import { excessIn, readYaml } from './yaml-source.js'

const filled = (part: string, length: number) => part.repeat(Math.floor(length / part.length))
/** Creates lines that are each indented deeper than the previous one. */
const stairs = (line: (column: number) => string, length: number) => {
  let text = ''
  for (let column = 0; text.length < length; column += 1) text += `${' '.repeat(column)}${line(column)}\n`
  return text
}

describe('nesting that would exhaust the stack', () => {
  test.each([
    ['lists on one line', '- '],
    ['lists, by tabs', '-\t'],
    ['keys that are lists', '? - '],
    ['brackets', '['],
    ['braces', '{a: '],
    ['brackets behind names', '{a: ['],
  ])('YAML nesting that would exhaust the stack is refused quickly, at its first place: %s', (_, part) => {
    for (const length of [100_000, 1_000_000]) {
      const { faults } = readYaml(filled(part, length))
      expect(faults.map(({ message }) => message)).toEqual(['is nested too deeply: more than 50 levels'])
      expect(faults[0]?.place.from).toBeLessThan(1000)
    }
  })

  test.each([
    ['mappings', () => 'a:'],
    ['lists', () => '-'],
    ['many lists in a line', () => filled('- ', 80)],
    ['brackets that end in comments', () => '- [ # ]'],
  ])('YAML nesting made by indentation is refused quickly: %s', (_, line) => {
    const [fault] = readYaml(stairs(line, 100_000)).faults
    expect(fault?.message).toBe('is nested too deeply: more than 50 levels')
    expect(fault?.place.from).toBeLessThan(5000)
  })
})

test('YAML brackets after a quoted string are refused as a syntax error at their first place', () => {
  const { faults } = readYaml(filled(`'[' ? [`, 100_000))
  expect(faults).toMatchObject([{ message: expect.stringContaining('does not belong here') }])
  expect(faults[0]?.place.from).toBeLessThan(10)
})

test('a YAML string of many brackets and dashes is not refused as too deeply nested', () => {
  const long = filled('[{- ? ', 6000)
  const texts = [
    `# ${long}\na: 1`,
    `a: "${long}"`,
    `a: '${long}'`,
    `a: |\n  ${filled('[{- ', 100)}\n  ${filled('- - ', 100)}\nb: 1`,
    `a: x${filled('-', 200)}\nb: 1`,
    Array.from({ length: 500 }, (_, index) => `k${index}: [{ a: 1 }, [2, 3]]`).join('\n'),
    Array.from({ length: 500 }, (_, index) => `- - a: 1\n    b: ${index}`).join('\n'),
  ]
  for (const text of texts) expect(readYaml(text).faults).toEqual([])
})

test('a YAML file of too many tokens is refused before parsing, at the first token too many', () => {
  const source = readYaml(filled('a: 1\n', 1000), 300)
  expect(source.faults).toMatchObject([{ message: 'has more than 300 YAML tokens' }])
  expect(source.positionOf(source.faults[0]?.place ?? { from: 0, to: 0 }).line).toBe(43)
  expect(checkText(filled('- a:\n', 1_000_000)).findings).toMatchObject([
    { message: 'has more than 300000 YAML tokens', severity: 'error' },
  ])
})

/** Returns the nesting depth of a value. */
const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

test('YAML nesting within the limit is accepted, and nesting twice as deep is refused (property)', () => {
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 20, withCrossShrink: true },
      fc.oneof(fc.integer(), fc.string()),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.string({ maxLength: 3 }), tie('value'), { maxKeys: 3 }),
    ),
  }))
  const deep = fc.tuple(fc.integer({ min: 0, max: 160 }), fc.infiniteStream(fc.boolean()), value)
  fc.assert(
    fc.property(deep, fc.boolean(), ([levels, kinds, inner], flow) => {
      let nested = inner
      for (let level = 0; level < levels; level += 1) nested = kinds.next().value === true ? [nested] : { a: nested }
      const text = stringify(nested, { collectionStyle: flow ? 'flow' : 'block', lineWidth: 0 })
      const excess = excessIn(text)
      // A list and the mapping in it may begin on the same line, and then count as one level.
      if (depthOf(nested) > 101) expect(excess).toBeDefined()
      if (depthOf(nested) > 50) return
      expect(excess).toBeUndefined()
      expect(parseDocument(text).errors).toEqual([])
    }),
  )
})
