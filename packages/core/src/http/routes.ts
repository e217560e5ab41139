import type { Method, Operation } from '../operation.js'
import { createPathMatcher } from '../path-matcher.js'
import { Problem } from './problem.js'

/** Operations by name, described like the service's own operations. */
export type Routes = Readonly<Record<string, Operation>>

export interface Route<Name extends string = string> {
  readonly name: Name
  readonly operation: Operation
}

export interface Match<Name extends string = string> extends Route<Name> {
  /** Values of the path's placeholders, decoded. */
  readonly path: Readonly<Record<string, string>>
}

/**
 * Finds the operation for a method and a path. A fixed path segment takes precedence over a placeholder.
 * @param basePath prefix of every path, e.g. `/lobby-api`.
 * @throws RangeError for a base path that could never match.
 */
export function createMatcher<Name extends string>(routes: Readonly<Record<Name, Operation>>, basePath = '') {
  if (!/^(?:\/[^/]+)*$/.test(basePath)) {
    throw new RangeError(`option basePath must be empty or like /lobby-api, got ${JSON.stringify(basePath)}`)
  }
  const entries = (Object.entries(routes) as [Name, Operation][]).map(([name, operation]) => ({ name, operation }))
  const matcher = createPathMatcher(
    entries.map((route) => ({ method: route.operation.method, path: basePath + route.operation.path, value: route })),
  )
  const methods = methodsOf(routes)
  /** Routes without placeholders, by path and method: the fastest lookup, which most requests need only. */
  const fixed = new Map<string, Map<string, Match<Name>>>()
  for (const { name, operation } of entries.filter((route) => route.operation.pathKeys.length === 0)) {
    const path = basePath + operation.path
    fixed.set(
      path,
      (fixed.get(path) ?? new Map<string, Match<Name>>()).set(operation.method, { name, operation, path: {} }),
    )
  }

  /** @throws {Problem} 404; or 405 naming the methods that the path has. */
  return (method: string, pathname: string): Match<Name> => {
    const exact = fixed.get(pathname)?.get(method)
    if (exact !== undefined) return exact
    const match = matcher.match(method, pathname)
    if (match.kind === 'route') return { ...match.value, path: pathOf(match.value.operation, match.segments) }
    if (match.kind === 'unknown path') throw new Problem(404, 'no-such-path', 'there is nothing at this path')
    const allow = methods.filter((one) => match.allow.includes(one)).join(', ')
    throw new Problem(405, 'method-not-allowed', `this path has ${allow}`, { headers: { allow } })
  }
}

export const methodsOf = (routes: Routes): Method[] => [...new Set(Object.values(routes).map(({ method }) => method))]

const pathOf = ({ pathKeys }: Operation, segments: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(pathKeys.map((key, index) => [key, decode(segments[index] as string)]))

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new Problem(400, 'invalid-path', 'the path has a % that encodes nothing')
  }
}
