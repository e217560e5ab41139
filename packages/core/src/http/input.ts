import type { z } from 'zod'
import { defaultSettings } from '../api/settings.js'
import type { Operation } from '../operation.js'
import { wireName } from '../wire.js'
import { readJson } from './body.js'
import { Problem } from './problem.js'
import type { Match } from './routes.js'

type Keys = Readonly<Record<string, unknown>>

/**
 * The flat input of an operation, put together from the path, the query, the headers and the body, and
 * checked. A query key that stands there twice gives a list. A key in a place that is not its own is
 * refused, so a body cannot overrule the path.
 * @throws {Problem} 400, 413 or 415.
 */
export async function readInput({ operation, path }: Match, request: Request, url: URL, maxBodyBytes: number): Promise<unknown> {
  const placeOf = (key: string) => wireName(operation, key, defaultSettings).place
  const query = queryOf(url)
  const body = operation.method === 'GET' ? {} : objectOf(await readJson(request, maxBodyBytes))
  for (const [place, keys] of [['query', query], ['body', body]] as const) {
    const stray = Object.keys(keys).find((key) => placeOf(key) !== place)
    if (stray !== undefined) throw new Problem(400, 'invalid-input', `${stray} is not a key of the ${place}`, { field: stray })
  }
  const headers = Object.entries(operation.headers).flatMap(([key, name]) => {
    const value = request.headers.get(name)
    return value === null ? [] : [[key, value] as const]
  })

  const checked = operation.input.safeParse({ ...query, ...body, ...Object.fromEntries(headers), ...path })
  if (checked.success) return checked.data
  throw inputProblem(checked.error)
}

function queryOf(url: URL): Keys {
  if (url.search === '') return {}
  const keys = [...new Set(url.searchParams.keys())]
  if (keys.includes('__proto__')) throw new Problem(400, 'invalid-input', 'the query has a key __proto__', { field: '__proto__' })
  return Object.fromEntries(
    keys.map((key) => {
      const values = url.searchParams.getAll(key)
      return [key, values.length === 1 ? values[0] : values]
    }),
  )
}

function objectOf(body: unknown): Keys {
  if (body === undefined) return {}
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new Problem(400, 'invalid-input', 'the body must be a JSON object')
  return body as Keys
}

/** Names the field and what is wrong, never the value: it may be a password. */
export function inputProblem(error: z.core.$ZodError): Problem {
  const issue = error.issues[0]
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  const field = [...(issue?.path ?? []), ...unknown].map(String).join('.')
  const wrong = unknown.length > 0 ? 'is not known' : (issue?.message ?? 'is not as described')
  return new Problem(400, 'invalid-input', field === '' ? wrong : `${field}: ${wrong}`, { field: field === '' ? undefined : field })
}

/** Where an operation's keys travel; for documents. */
export const placesOf = (operation: Operation, keys: readonly string[]) =>
  keys.map((key) => ({ key, ...wireName(operation, key, defaultSettings) }))
