import { defaultSettings } from '../api/settings.js'
import type { Operation } from '../operation.js'
import { validate, type Fault } from '../validation/validate.js'
import { wireName } from '../wire.js'
import { jsonOf } from './json-body.js'
import type { Target } from './lazy-request.js'
import { Problem } from './problem.js'
import type { Match } from './routes.js'

type Keys = Readonly<Record<string, unknown>>

/** What the schema makes of an input, where that is plain to see; undefined where it is not. */
export type QuickRead<Input> = (keys: Keys) => Input | undefined

/** Reads what a request gives an operation, and its body by `readBody`. @throws {Problem} 400, 413 or 415. */
export type InputReader = (
  request: Request,
  target: Target,
  path: Match['path'],
  readBody: () => Promise<Uint8Array>,
) => Promise<unknown>

/**
 * Reads the flat input of an operation, put together from the path, the query, the headers and the body, and
 * checked. A query key that stands there twice gives a list. A key in a place that is not its own is
 * refused, so a body cannot overrule the path.
 */
export function inputReader(operation: Operation, quickRead?: QuickRead<unknown>): InputReader {
  const { method, input } = operation
  const headers = Object.entries(operation.headers)
  const refuseStray = (place: 'query' | 'body', keys: Keys) => {
    for (const key of Object.keys(keys)) {
      if (wireName(operation, key, defaultSettings).place === place) continue
      throw new Problem(400, 'invalid-input', `${key} is not a key of the ${place}`, { field: key })
    }
  }

  return async (request, target, path, readBody) => {
    const query = queryOf(target)
    const keys = method === 'GET' ? {} : objectOf(jsonOf(request, await readBody()))
    refuseStray('query', query)
    refuseStray('body', keys)
    // To each its own place: none of these overrules another.
    Object.assign(keys, query, path)
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
}

function queryOf({ search }: Target): Keys {
  if (search === '') return {}
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

/** Names the field and what is wrong, never the value: it may be a password. */
export function inputProblem({ field, wrong }: Fault): Problem {
  return new Problem(400, 'invalid-input', field === undefined ? wrong : `${field}: ${wrong}`, { field })
}

/** Where an operation's keys travel; for documents. */
export const placesOf = (operation: Operation, keys: readonly string[]) =>
  keys.map((key) => ({ key, ...wireName(operation, key, defaultSettings) }))
