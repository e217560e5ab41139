import type { z } from 'zod'
import { validate } from './validate.js'

/**
 * The position at which a string stops being JSON, and why. The fault quotes nothing of the string, which may hold a
 * secret.
 */
export interface JsonFault {
  /** Line of the fault, from 1. `column` counts from 1 too. */
  readonly line: number
  readonly column: number
  /** The fault, e.g. `a comma or } is missing`. */
  readonly wrong: string
}

/** The next token that is allowed. */
type ExpectedToken = 'value' | 'value or ]' | 'name' | 'name or }' | 'colon' | 'comma' | 'end'

const SPACE = /[ \t\n\r]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /true|false|null/y
/** Matches all characters except a quote, a backslash and control characters. */
const PLAIN = /[ !#-[\]-\uffff]*/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

/** Returns the end of the pattern if it matches at `at`, otherwise `at`. */
function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

/** Finds the first fault. Returns undefined for valid JSON. Deep nesting uses no stack. */
export function jsonFault(text: string): JsonFault | undefined {
  const open: ('{' | '[')[] = []
  let expected: ExpectedToken = 'value'
  let at = after(SPACE, text, 0)
  for (; at < text.length; at = after(SPACE, text, at)) {
    const character = text[at] as string
    if (expected === 'end') return faultAt(text, at, 'there is more text after the end of the value')
    if (isClosing(character, expected, open.at(-1))) {
      open.pop()
      expected = open.length === 0 ? 'end' : 'comma'
      at += 1
    } else if (expected === 'colon' || expected === 'comma') {
      if (character !== (expected === 'colon' ? ':' : ',')) return faultAt(text, at, missing(expected, open.at(-1)))
      expected = expected === 'comma' && open.at(-1) === '{' ? 'name' : 'value'
      at += 1
    } else if (character === '"') {
      const end = endOfText(text, at)
      if (end.wrong !== undefined) return faultAt(text, end.at, end.wrong)
      expected = expected.startsWith('name') ? 'colon' : afterValue(open)
      at = end.at
    } else {
      if (expected.startsWith('name') || character === ',' || character === ']' || character === '}') {
        return faultAt(text, at, unexpected(character, expected, open.at(-1)))
      }
      if (character === '{' || character === '[') {
        open.push(character)
        expected = character === '{' ? 'name or }' : 'value or ]'
        at += 1
        continue
      }
      const end = Math.max(after(NUMBER, text, at), after(WORD, text, at))
      if (end === at) return faultAt(text, at, unexpected(character, expected, open.at(-1)))
      expected = afterValue(open)
      at = end
    }
  }
  return expected === 'end' ? undefined : faultAt(text, at, at === 0 ? 'is empty' : 'ends too early')
}

const isClosing = (character: string, expected: ExpectedToken, open: string | undefined) =>
  (character === '}' && open === '{' && (expected === 'comma' || expected === 'name or }')) ||
  (character === ']' && open === '[' && (expected === 'comma' || expected === 'value or ]'))

const afterValue = (open: readonly string[]): ExpectedToken => (open.length === 0 ? 'end' : 'comma')

function missing(expected: 'colon' | 'comma', open: string | undefined): string {
  return expected === 'colon' ? 'a colon is missing' : `a comma or ${open === '{' ? '}' : ']'} is missing`
}

function unexpected(character: string, expected: ExpectedToken, open: string | undefined): string {
  const isClosed = (character === '}' && open === '{') || (character === ']' && open === '[')
  if (isClosed && (expected === 'name' || expected === 'value') && !(open === '{' && expected === 'value'))
    return 'a comma before the closing bracket'
  if (character === "'") return 'texts and names must be in double quotes'
  if (character === '/') return 'a comment is not JSON'
  return expected.startsWith('name') ? 'a name in double quotes is missing' : 'a value is missing'
}

/** Returns the index after a JSON string. @param at index of the opening quote. */
function endOfText(text: string, at: number): { readonly at: number; readonly wrong?: string } {
  let end = at + 1
  for (;;) {
    end = after(PLAIN, text, end)
    if (text[end] === '"') return { at: end + 1 }
    if (end >= text.length) return { at, wrong: 'a text without a closing quote' }
    const escaped = after(ESCAPE, text, end)
    if (escaped === end)
      return { at: end, wrong: text[end] === '\\' ? 'an unknown escape sequence' : 'a control character in a text' }
    end = escaped
  }
}

function faultAt(text: string, at: number, wrong: string): JsonFault {
  const before = text.slice(0, at)
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n'), wrong }
}

/**
 * Validates a value from outside and returns it as parsed by its schema.
 * @param refuse creates the error from the path of the fault ('' for the whole value) and the fault, e.g.
 *   `distance.1.km: must be …, got -5`. The fault contains no value that may be a secret or an address.
 */
export function read<T>(schema: z.ZodType<T>, value: unknown, refuse: (field: string, message: string) => Error): T {
  const result = validate(schema, value)
  if (result.success) return result.data
  const { field = '', message } = result.fault
  throw refuse(field, field === '' ? message : `${field}: ${message}`)
}

/**
 * Parses JSON. Undefined for any other text. The error of JSON.parse is dropped, because it quotes the text, which may
 * hold a secret.
 */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Parses JSON. @param refuse creates the error from the fault and its position, which quote nothing of the text. */
export function readJson(text: string, refuse: (message: string) => Error): unknown {
  const value = jsonIn(text)
  if (value !== undefined) return value
  const { line, column, wrong } = jsonFault(text) ?? { line: 1, column: 1, wrong: 'is invalid' }
  throw refuse(`is not JSON: line ${line}, column ${column}: ${wrong}`)
}
