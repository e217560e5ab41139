import { isAscii } from 'node:buffer'
import { jsonFault } from '../validation/json-fault.js'
import { Problem } from './problem.js'

/** Deeper JSON is refused (our choice). No body of a described operation needs more than 6 levels. */
const MOST_LEVELS = 32

/**
 * Parses the JSON of a request's body; undefined without a body. The result has no key `__proto__`, so copying it
 * cannot change a prototype.
 * @throws {Problem} 400 or 415.
 */
export function jsonOf(request: Request, bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) return undefined
  // Browsers send bodies of any other type to other sites without a preflight request.
  const type = request.headers.get('content-type') ?? ''
  if (type !== 'application/json' && !/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new Problem(415, 'unsupported-media-type', 'the body must be JSON, with content-type application/json')
  }
  const value = parse(bytes)
  assertPlain(value, 0)
  return value
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Most bodies are ASCII, which takes a fraction of the decoder's time. @throws TypeError for bytes that are not UTF-8.
 */
function textOf(bytes: Uint8Array): string {
  if (!isAscii(bytes)) return decoder.decode(bytes)
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('latin1')
}

function parse(bytes: Uint8Array): unknown {
  let text = ''
  try {
    text = textOf(bytes)
    return JSON.parse(text)
  } catch {
    throw notJson(text) // the parser's own message quotes the body
  }
}

function notJson(text: string): Problem {
  const fault = text === '' ? undefined : jsonFault(text)
  const where = fault === undefined ? '' : `: line ${fault.line}, column ${fault.column}: ${fault.wrong}`
  return new Problem(400, 'body-not-json', `the body is not JSON in UTF-8${where}`)
}

function assertPlain(value: unknown, level: number): void {
  if (typeof value !== 'object' || value === null) return
  if (level === MOST_LEVELS)
    throw new Problem(400, 'body-too-deep', `the body is nested deeper than ${MOST_LEVELS} levels`)
  if (Array.isArray(value)) {
    for (const item of value) assertPlain(item, level + 1)
    return
  }
  if (Object.hasOwn(value, '__proto__'))
    throw new Problem(400, 'invalid-input', 'the body has a key __proto__', { field: '__proto__' })
  // Not by `Object.keys`, which would make a list for each object.
  for (const key in value) {
    const part = (value as Readonly<Record<string, unknown>>)[key]
    // A program may have added fields to the prototype of all objects.
    if (typeof part === 'object' && Object.hasOwn(value, key)) assertPlain(part, level + 1)
  }
}
