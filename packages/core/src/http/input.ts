import { defaultSettings } from '../api/settings.js'
import type { Method, Operation } from '../operation.js'
import { createPathMatcher } from '../path-matcher.js'
import { isWellFormed } from '../runtime/index.js'
import { jsonFault, type Fault, validate } from '../validation/index.js'
import { wireName } from '../wire.js'
import { Problem } from './answers.js'
import type { RequestTarget } from './lazy-request.js'
import type { Routes } from './own-routes.js'

type Keys = Readonly<Record<string, unknown>>

/** Reads the input of an operation from a request and its whole body. @throws {Problem} 400 or 415. */
export type InputReader = (request: Request, target: RequestTarget, path: Match['path'], body: Uint8Array) => unknown

/**
 * Creates the reader of an operation's flat input. It reads the path, the query, the headers and the body, and
 * validates the input. A query key that occurs twice becomes a list. A key in the wrong place is rejected, so a body
 * cannot override the path.
 */
export function inputReader(operation: Operation): InputReader {
  const { method, input } = operation
  const headers = Object.entries(operation.headers)
  const hasBody = method !== 'GET' && method !== 'DELETE'
  const allInBody = hasBody && operation.pathKeys.length + operation.query.length + headers.length === 0
  // Names that every object inherits, such as `constructor`, count as headers here. Thus they are not accepted as keys
  // of the body.
  const placeOf = (key: string) =>
    allInBody && !(key in operation.headers) ? 'body' : wireName(operation, key, defaultSettings).place
  const assertPlace = (place: 'query' | 'body', keys: Keys) => {
    for (const key of Object.keys(keys)) {
      if (placeOf(key) === place) continue
      throw new Problem(400, 'invalid-input', `${key} is not a key of the ${place}.`, { field: key })
    }
  }

  return (request, target, path, body) => {
    const query = queryOf(target)
    const keys = objectOf(jsonOf(request, body))
    if (query !== NO_KEYS) assertPlace('query', query)
    assertPlace('body', keys)
    // Each key has one place, so no source overrides another.
    if (query !== NO_KEYS || operation.pathKeys.length > 0) Object.assign(keys, query, path)
    for (const [key, name] of headers) {
      const value = request.headers.get(name)
      if (value !== null) keys[key] = value
    }
    const checked = validate(input, keys)
    if (checked.success) return checked.data
    throw inputProblem(checked.fault)
  }
}

const NO_KEYS: Keys = Object.freeze({})

function queryOf({ search }: RequestTarget): Keys {
  if (search === '') return NO_KEYS
  const parameters = new URLSearchParams(search)
  const keys = [...new Set(parameters.keys())]
  if (keys.includes('__proto__'))
    throw new Problem(400, 'invalid-input', 'The query has a key __proto__, which is not allowed.', {
      field: '__proto__',
    })
  return Object.fromEntries(
    keys.map((key) => {
      const values = parameters.getAll(key)
      return [key, values.length === 1 ? values[0] : values]
    }),
  )
}

function objectOf(body: unknown): Record<string, unknown> {
  if (body === undefined) return {}
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Problem(400, 'invalid-input', 'The body must be a JSON object.')
  return body as Record<string, unknown>
}

/**
 * Makes the problem for an invalid input. It names the field and the fault, but never the value, which may be a
 * password.
 */
export function inputProblem({ field, wrong }: Fault): Problem {
  return new Problem(400, 'invalid-input', field === undefined ? wrong : `${field}: ${wrong}`, { field })
}

export interface Route<Name extends string = string> {
  readonly name: Name
  readonly operation: Operation
}

export interface Match<Name extends string = string> extends Route<Name> {
  /** Values of the path's placeholders, decoded. */
  readonly path: Readonly<Record<string, string>>
}

/**
 * Creates the function that finds the operation for a method and a path. A fixed path segment takes precedence over a
 * placeholder.
 * @param basePath prefix of every path, e.g. `/lobby-api`.
 * @throws RangeError for a base path that could never match.
 */
export function createMatcher<Name extends string>(routes: Readonly<Record<Name, Operation>>, basePath = '') {
  if (!/^(?:\/[^/]+)*$/.test(basePath)) {
    throw new RangeError(`option basePath must be empty or like /lobby-api, got ${JSON.stringify(basePath)}`)
  }
  const entries = (Object.entries(routes) as [Name, Operation][]).map(([name, operation]) => ({
    name,
    operation,
    path: NO_VALUES,
  }))
  const matcher = createPathMatcher(
    entries.map((route) => ({ method: route.operation.method, path: basePath + route.operation.path, value: route })),
  )
  const methods = methodsOf(routes)
  /** Finds the route of a request. @throws {Problem} 404; or 405 naming the path's methods. */
  return (method: string, pathname: string): Match<Name> => {
    const match = matcher.match(method, pathname)
    // Copying a route without placeholders would take longer than finding it.
    if (match.kind === 'route') return match.segments.length === 0 ? match.value : withPath(match.value, match.segments)
    if (match.kind === 'unknown path') throw new Problem(404, 'no-such-path', 'There is nothing at this path.')
    const allow = methods.filter((one) => match.allow.includes(one)).join(', ')
    throw new Problem(405, 'method-not-allowed', `Method not allowed. This path accepts ${allow}.`, {
      headers: { allow },
    })
  }
}

export const methodsOf = (routes: Routes): Method[] => [...new Set(Object.values(routes).map(({ method }) => method))]

const NO_VALUES: Match['path'] = Object.freeze({})

function withPath<Name extends string>({ name, operation }: Match<Name>, segments: readonly string[]): Match<Name> {
  const values = operation.pathKeys.map((key, index) => [key, decode(segments[index] as string)])
  return { name, operation, path: Object.fromEntries(values) as Match['path'] }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new Problem(400, 'invalid-path', 'The path contains a % that does not begin a valid percent-encoding.')
  }
}

/** Maximum depth of JSON (our choice). No body of a described operation needs more than 6 levels. */
const MOST_LEVELS = 32
/**
 * Maximum number of keys of an object (our choice), because a schema takes microseconds for each. The largest objects
 * of described operations have 1,000 players.
 */
const MOST_KEYS = 2000

/** Matches an escape sequence for half of a surrogate pair. Without one, a body in UTF-8 has no such half. */
const SURROGATE = /\\u[dD][89a-fA-F]/

/**
 * Parses the JSON of a request's body; undefined without a body. The result has no key `__proto__`, so copying it
 * cannot change a prototype. Its strings are well-formed Unicode, so every store and receiver can represent them.
 * @throws {Problem} 400 or 415.
 */
export function jsonOf(request: Request, bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) return undefined
  // Requiring a JSON type protects from other sites: browsers send bodies of some other types to them without a
  // preflight request.
  const type = request.headers.get('content-type') ?? ''
  if (type !== 'application/json' && !/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new Problem(415, 'unsupported-media-type', 'The body must be JSON. Send content-type: application/json.')
  }
  const { text, value } = parse(bytes)
  assertPlain(value, 0)
  if (SURROGATE.test(text)) assertWellFormed(value)
  return value
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function parse(bytes: Uint8Array): { readonly text: string; readonly value: unknown } {
  let text = ''
  try {
    text = decoder.decode(bytes)
    return { text, value: JSON.parse(text) }
  } catch {
    throw notJson(text) // The parser's own message quotes the body.
  }
}

function assertWellFormed(value: unknown): void {
  if (typeof value === 'string' && !isWellFormed(value))
    throw new Problem(
      400,
      'invalid-input',
      'The body has a string with half of a surrogate pair, which is not Unicode.',
    )
  if (typeof value !== 'object' || value === null) return
  for (const [key, part] of Object.entries(value)) {
    assertWellFormed(key)
    assertWellFormed(part)
  }
}

/** Maximum length of a body in which the position of a fault is searched (our choice), because that is slow. */
const LONGEST_SEARCHED = 8192

function notJson(text: string): Problem {
  const fault = text === '' || text.length > LONGEST_SEARCHED ? undefined : jsonFault(text)
  const where = fault === undefined ? '' : `: line ${fault.line}, column ${fault.column}: ${fault.wrong}`
  return new Problem(400, 'body-not-json', `The body is not JSON in UTF-8${where}.`)
}

function assertPlain(value: unknown, level: number): void {
  if (typeof value !== 'object' || value === null) return
  if (level === MOST_LEVELS)
    throw new Problem(400, 'body-too-deep', `The body is nested deeper than ${MOST_LEVELS} levels.`)
  if (Array.isArray(value)) {
    for (const item of value) assertPlain(item, level + 1)
    return
  }
  if (Object.hasOwn(value, '__proto__'))
    throw new Problem(400, 'invalid-input', 'The body has a key __proto__, which is not allowed.', {
      field: '__proto__',
    })
  // `for … in` is used instead of `Object.keys`, which would create a list for each object.
  let keys = 0
  for (const key in value) {
    keys += 1
    if (keys > MOST_KEYS)
      throw new Problem(400, 'invalid-input', `The body has an object with more than ${MOST_KEYS} keys.`)
    const part = (value as Readonly<Record<string, unknown>>)[key]
    // A program may have added fields to the prototype of all objects. These are not part of the JSON.
    if (typeof part === 'object' && Object.hasOwn(value, key)) assertPlain(part, level + 1)
  }
}
