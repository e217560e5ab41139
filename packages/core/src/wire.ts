// pure: where each key of an input travels, and under which name
import type { Settings } from './api/settings.js'
import type { Operation } from './operation.js'

/** The same answers for who sends and for who receives. */

export interface WireName {
  readonly place: 'path' | 'query' | 'header' | 'body'
  readonly name: string
}

/** The operation's path with its placeholders, e.g. `/v1/status/{request_id}`; a path that is open is taken from the settings. */
export function pathOf(operation: Operation, settings: Settings): string {
  return setting(operation, 'path', settings) ?? operation.path
}

/**
 * Placeholders go into the path, keys with a header into the header, the rest into the query for GET and
 * DELETE and into the JSON body for the others, unless the operation says that a key belongs in the query.
 */
export function wireName(operation: Operation, key: string, settings: Settings): WireName {
  if (operation.pathKeys.includes(key)) return { place: 'path', name: key }
  const header = operation.headers[key]
  if (header !== undefined) return { place: 'header', name: header }
  const name = setting(operation, key, settings) ?? key
  const inQuery = operation.method === 'GET' || operation.method === 'DELETE' || operation.query.includes(key)
  return { place: inQuery ? 'query' : 'body', name }
}

function setting(operation: Operation, key: string, settings: Settings): string | undefined {
  const open = operation.open[key]
  return open === undefined ? undefined : settings[open as Exclude<keyof Settings, 'valueLimits'>]
}
