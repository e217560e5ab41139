import type { OperationId } from '../api/api.js'
import type { Settings } from '../api/settings.js'
import type { Operation } from '../operation.js'
import { pathOf, wireName } from '../wire.js'
import { InvalidInput } from './errors.js'

/** An input as it is sent by HTTP. */
export interface EncodedInput {
  /** Path and query, ready for the request line. */
  readonly path: string
  /** Names and values, alternating. */
  readonly headers: readonly string[]
  /** JSON, or undefined for a request without a body. */
  readonly body: string | undefined
}

/**
 * Creates the function that encodes an operation's validated input as path, query, headers and body.
 * @param prefix path of the base URL, without a trailing slash.
 */
export function createEncoder(id: OperationId, operation: Operation, settings: Settings, prefix: string) {
  // '/v1/app/{app_name}/version' is split into '/v1/app/' and '/version', with the name between.
  const [first = '', ...rest] = `${prefix}${pathOf(operation, settings)}`.split(/\{\w+\}/)
  const alwaysBody = operation.method === 'POST' || operation.method === 'PATCH'

  return (input: Readonly<Record<string, unknown>>): EncodedInput => {
    let path = first
    operation.pathKeys.forEach((key, index) => {
      path += encodeSegment(id, key, String(input[key])) + rest[index]
    })
    let query = ''
    const headers: string[] = []
    let body: Record<string, unknown> | undefined = alwaysBody ? {} : undefined
    for (const key in input) {
      const value = input[key]
      if (value === undefined) continue
      const { place, name } = wireName(operation, key, settings)
      if (place === 'query')
        query += `${query === '' ? '?' : '&'}${encodeURIComponent(name)}=${encodeText(id, key, queryText(value))}`
      else if (place === 'header') headers.push(name, headerText(id, key, String(value)))
      else if (place === 'body') (body ??= {})[name] = value
    }
    if (body !== undefined) headers.push('content-type', 'application/json')
    return { path: path + query, headers, body: body === undefined ? undefined : JSON.stringify(body) }
  }
}

/**
 * Encodes a name as one segment of a path, including every character that could end the segment or the path. The names
 * `.`, `..` and '' are refused: servers read `%2e%2e` as `..` too, and an empty name would change the route.
 */
export function encodeSegment(id: OperationId, key: string, name: string): string {
  if (name === '' || name === '.' || name === '..') {
    throw new InvalidInput(`${id}: input ${key}: is ${JSON.stringify(name)}, which cannot stand in a path`, {
      operation: id,
      field: key,
    })
  }
  return encodeText(id, key, name)
}

function encodeText(id: OperationId, key: string, text: string): string {
  try {
    return encodeURIComponent(text)
  } catch (cause) {
    throw new InvalidInput(`${id}: input ${key}: is not well-formed text: it holds half of a surrogate pair`, {
      operation: id,
      field: key,
      cause,
    })
  }
}

const queryText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function headerText(id: OperationId, key: string, text: string): string {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(text)) {
    throw new InvalidInput(`${id}: input ${key}: holds characters that cannot stand in a header`, {
      operation: id,
      field: key,
    })
  }
  return text
}
