// pure: the place and name under which each key of an input is sent
import type { Settings } from './api/settings.js'
import type { Operation } from './operation.js'

/** Where the keys of an input are sent. Client and emulator share these rules, so that sender and receiver agree. */

export interface WireName {
  readonly place: 'path' | 'query' | 'header' | 'body'
  readonly name: string
}

/**
 * Returns the operation's path with its placeholders, e.g. `/v1/status/{request_id}`. If the specification does not
 * define the path, it comes from the settings.
 */
export function pathOf(operation: Operation, settings: Settings): string {
  return setting(operation, 'path', settings) ?? operation.path
}

/**
 * Returns the place and name of a key. Placeholders go into the path and keys with a header into the header. All others
 * go into the query for GET and DELETE, and otherwise into the JSON body, unless the operation places a key in the
 * query.
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
  return open === undefined ? undefined : settings[open as Exclude<keyof Settings, 'valueLimits' | 'fillRequired'>]
}
