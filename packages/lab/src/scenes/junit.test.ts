import fc from 'fast-check'
import { SaxesParser } from 'saxes'
import { expect, test } from 'vitest'
import { junitXml } from './junit.js'
import type { SceneResult } from './run-scenes.js'

interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  text: string
}

/** Returns the elements of an XML text, in document order. @throws if the text is not well-formed */
function elementsOf(xml: string): Element[] {
  const elements: Element[] = []
  const open: Element[] = []
  const parser = new SaxesParser({ xmlns: false })
  parser.on('error', (error) => {
    throw error
  })
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes, text: '' }
    elements.push(element)
    open.push(element)
  })
  parser.on('text', (text) => {
    const element = open.at(-1)
    if (element !== undefined) element.text += text
  })
  parser.on('closetag', () => void open.pop())
  parser.write(xml).close()
  return elements
}

const failing: SceneResult = {
  name: 'Strangers <wait> & "play"',
  path: ['scenes', '1'],
  failures: [{ path: ['x'], expected: 'after 9s: matched: [a]', instead: 'a waits' }],
}
const passing: SceneResult = { name: 'Friends', path: ['scenes', '0'], failures: [] }

test('a JUnit report has a suite for each file and a case with its line for each scene', () => {
  const suite = {
    file: 'scenes.yaml',
    results: [passing, failing],
    lineOf: ([first]: readonly string[]) => (first === 'x' ? 9 : 3),
  }
  const wrong = { file: 'b.yaml', results: [], lineOf: () => undefined, wrong: 'b.yaml: is empty' }
  expect(elementsOf(junitXml([suite, wrong]))).toMatchObject([
    { name: 'testsuites', attributes: { tests: '3', failures: '1', errors: '1' } },
    { name: 'testsuite', attributes: { name: 'scenes.yaml', tests: '2', failures: '1', errors: '0' } },
    { name: 'testcase', attributes: { name: 'Friends', classname: 'scenes.yaml', file: 'scenes.yaml', line: '3' } },
    { name: 'testcase', attributes: { name: 'Strangers <wait> & "play"' } },
    {
      name: 'failure',
      attributes: { message: 'after 9s: matched: [a]' },
      text: 'scenes.yaml:9\nafter 9s: matched: [a]\na waits',
    },
    { name: 'testsuite', attributes: { name: 'b.yaml', tests: '1', failures: '0', errors: '1' } },
    { name: 'testcase', attributes: { name: 'b.yaml' } },
    { name: 'error', text: 'b.yaml: is empty' },
  ])
})

test('a JUnit report marks a skipped case with the reason, and not as a failure', () => {
  const results = [passing, { ...failing, failures: [], skipped: 'nobody asks' }]
  const elements = elementsOf(junitXml([{ file: 'server', results, lineOf: () => undefined }], 'muster verify-server'))
  expect(elements).toMatchObject([
    { name: 'testsuites', attributes: { name: 'muster verify-server', tests: '2', failures: '0' } },
    { name: 'testsuite' },
    { name: 'testcase', attributes: { name: 'Friends' } },
    { name: 'testcase' },
    { name: 'skipped', attributes: { message: 'nobody asks' } },
  ])
})

/** Replaces characters that XML 1.0 cannot contain by U+FFFD. */
const written = (text: string) =>
  Array.from(text, (character) => {
    const code = character.codePointAt(0) ?? 0
    const isWritable = code >= 32 ? (code < 0xd800 || code > 0xdfff) && code !== 0xfffe && code !== 0xffff : false
    return isWritable || ['\t', '\n', '\r'].includes(character) ? character : '\u{fffd}'
  }).join('')

test('a JUnit report is well-formed XML for any names and strings (property)', () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.constantFrom(']]>', '<!--', '&amp;', '\u0000', '\ud800', '"\'<>&', '\r\n\t', '\uffff'),
    fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 }).map((codes) => String.fromCharCode(...codes)),
  )
  fc.assert(
    fc.property(hostile, hostile, hostile, hostile, (file, name, expected, instead) => {
      const results = [{ name, path: [], failures: [{ path: [], expected, instead }] }]
      const elements = elementsOf(junitXml([{ file, results, lineOf: () => 1 }]))
      expect(elements[2]?.attributes['name']).toBe(written(name))
      expect(elements[2]?.attributes['file']).toBe(written(file))
      expect(elements[3]?.attributes['message']).toBe(written(expected))
      expect(elements[3]?.text).toBe(written(`${file}:1\n${expected}\n${instead}`))
    }),
    { numRuns: 25 },
  )
})
