import type { Method, Operation } from '../operation.js'
import { Problem } from './problem.js'

/** Operations by name, in the form in which the service's own are described. */
export type Routes = Readonly<Record<string, Operation>>

export interface Route<Name extends string = string> {
  readonly name: Name
  readonly operation: Operation
}

export interface Match<Name extends string = string> extends Route<Name> {
  /** The placeholders, decoded. */
  readonly path: Readonly<Record<string, string>>
}

interface Compiled<Name extends string> extends Route<Name> {
  readonly segments: readonly string[]
}

/**
 * Finds the operation for a method and a path. Where both a word and a placeholder fit, the word wins.
 * @param basePath what stands before every path, e.g. `/lobby-api`.
 * @throws RangeError for a base path that could never match.
 */
export function createMatcher<Name extends string>(routes: Readonly<Record<Name, Operation>>, basePath = '') {
  if (!/^(?:\/[^/]+)*$/.test(basePath)) {
    throw new RangeError(`option basePath must be empty or like /lobby-api, got ${JSON.stringify(basePath)}`)
  }
  const entries = Object.entries(routes) as [Name, Operation][]
  const compiled = entries
    .map(([name, operation]): Compiled<Name> => ({ name, operation, segments: operation.path.split('/').slice(1) }))
    .toSorted((a, b) => placeholders(a) - placeholders(b))
  /** Routes without placeholders, by path and method. */
  const fixed = new Map<string, Map<string, Match<Name>>>()
  for (const { name, operation } of compiled.filter((route) => placeholders(route) === 0)) {
    const path = basePath + operation.path
    fixed.set(path, (fixed.get(path) ?? new Map<string, Match<Name>>()).set(operation.method, { name, operation, path: {} }))
  }
  const bySegments = new Map<number, Compiled<Name>[]>()
  for (const route of compiled) bySegments.set(route.segments.length, [...(bySegments.get(route.segments.length) ?? []), route])

  /** @throws {Problem} 404; 405 naming the methods that the path has. */
  return (method: string, pathname: string): Match<Name> => {
    const exact = fixed.get(pathname)?.get(method)
    if (exact !== undefined) return exact
    const inside = pathname === basePath || pathname.startsWith(`${basePath}/`)
    const segments = inside ? pathname.slice(basePath.length).split('/').slice(1) : []
    const fitting = bySegments.get(segments.length)?.filter((route) => fits(route, segments)) ?? []
    const route = fitting.find(({ operation }) => operation.method === method)
    if (route !== undefined) return { name: route.name, operation: route.operation, path: pathOf(route, segments) }
    if (fitting.length === 0) throw new Problem(404, 'no-such-path', 'there is nothing at this path')
    const methods = [...new Set(fitting.map(({ operation }) => operation.method))]
    throw new Problem(405, 'method-not-allowed', `this path has ${methods.join(', ')}`, {
      headers: { allow: methods.join(', ') },
    })
  }
}

export const methodsOf = (routes: Routes): Method[] => [...new Set(Object.values(routes).map(({ method }) => method))]

const isPlaceholder = (segment: string) => segment.startsWith('{')
const placeholders = ({ segments }: Pick<Compiled<string>, 'segments'>) => segments.filter(isPlaceholder).length

const fits = ({ segments }: Pick<Compiled<string>, 'segments'>, given: readonly string[]) =>
  segments.every((segment, index) => (isPlaceholder(segment) ? given[index] !== '' : segment === given[index]))

function pathOf({ segments }: Pick<Compiled<string>, 'segments'>, given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    segments.flatMap(
      (segment, index) => (isPlaceholder(segment) ? [[segment.slice(1, -1), decode(given[index] as string)]] : []),
    ),
  )
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new Problem(400, 'invalid-path', 'the path has a % that encodes nothing')
  }
}
