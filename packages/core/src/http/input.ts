import { defaultSettings } from '../api/settings.js'
import type { Operation } from '../operation.js'
import { validate, type Fault } from '../validation/validate.js'
import { wireName } from '../wire.js'
import type { BegunBody } from './bodies.js'
import { jsonOf } from './json-body.js'
import type { Target } from './lazy-request.js'
import { Problem } from './problem.js'
import type { Match } from './routes.js'

type Keys = Readonly<Record<string, unknown>>

/** Reads a plain input to the same result as the schema; undefined for an input that needs the schema. */
export type QuickRead<Input> = (keys: Keys) => Input | undefined

/**
 * Reads the input of an operation from a request and its body: at once if the body is there, and
 * otherwise as a promise. Throws or rejects with a {Problem} 400, 413 or 415.
 */
export type InputReader = (
  request: Request,
  target: Target,
  path: Match['path'],
  body: Pick<BegunBody, 'bytes'>,
) => unknown

/**
 * Reads the flat input of an operation from the path, the query, the headers and the body, and validates it. A query
 * key that occurs twice gives a list. A key in the wrong place is refused, so a body cannot override the path.
 */
export function inputReader(operation: Operation, quickRead?: QuickRead<unknown>): InputReader {
  const { method, input } = operation
  const headers = Object.entries(operation.headers)
  const hasBody = method !== 'GET' && method !== 'DELETE'
  const allInBody = hasBody && operation.pathKeys.length + operation.query.length + headers.length === 0
  // What every object has by its prototype, such as `constructor`, counts as a header, which is no key of the body.
  const placeOf = (key: string) =>
    allInBody && !(key in operation.headers) ? 'body' : wireName(operation, key, defaultSettings).place
  const refuseStray = (place: 'query' | 'body', keys: Keys) => {
    for (const key of Object.keys(keys)) {
      if (placeOf(key) === place) continue
      throw new Problem(400, 'invalid-input', `${key} is not a key of the ${place}`, { field: key })
    }
  }

  const inputOf = (request: Request, query: Keys, path: Match['path'], keys: Record<string, unknown>): unknown => {
    if (query !== NO_KEYS) refuseStray('query', query)
    refuseStray('body', keys)
    // Each key has one place, so none of these overrides another.
    if (query !== NO_KEYS || operation.pathKeys.length > 0) Object.assign(keys, query, path)
    for (const [key, name] of headers) {
      const value = request.headers.get(name)
      if (value !== null) keys[key] = value
    }
    const quick = quickRead?.(keys)
    if (quick !== undefined) return quick
    const checked = validate(input, keys)
    if (checked.success) return checked.data
    throw inputProblem(checked.fault)
  }

  return (request, target, path, body) => {
    const query = queryOf(target)
    if (method === 'GET') return inputOf(request, query, path, {})
    const bytes = body.bytes()
    return bytes instanceof Promise
      ? bytes.then((known) => inputOf(request, query, path, objectOf(jsonOf(request, known))))
      : inputOf(request, query, path, objectOf(jsonOf(request, bytes)))
  }
}

const NO_KEYS: Keys = Object.freeze({})

function queryOf({ search }: Target): Keys {
  if (search === '') return NO_KEYS
  const parameters = new URLSearchParams(search)
  const keys = [...new Set(parameters.keys())]
  if (keys.includes('__proto__'))
    throw new Problem(400, 'invalid-input', 'the query has a key __proto__', { field: '__proto__' })
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
    throw new Problem(400, 'invalid-input', 'the body must be a JSON object')
  return body as Record<string, unknown>
}

/** The problem names the field and what is wrong, but never the value, which may be a password. */
export function inputProblem({ field, wrong }: Fault): Problem {
  return new Problem(400, 'invalid-input', field === undefined ? wrong : `${field}: ${wrong}`, { field })
}

/** The places in which an operation's keys travel, for documents. */
export const placesOf = (operation: Operation, keys: readonly string[]) =>
  keys.map((key) => ({ key, ...wireName(operation, key, defaultSettings) }))
