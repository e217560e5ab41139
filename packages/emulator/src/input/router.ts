import { operations, pathOf, type Operation, type OperationId, type Settings } from '@muster/core/api'

/** Finds the operation that a request line means. Pure. */
export interface Router {
  match(method: string, path: string): Match
}

export type Match =
  | {
      readonly kind: 'route'
      readonly route: Route
      /** Still encoded, in the order of the placeholders. */
      readonly segments: readonly string[]
    }
  | { readonly kind: 'unknown path' }
  /** With the methods that the path has. */
  | { readonly kind: 'unknown method'; readonly allow: readonly string[] }

export interface Route {
  readonly id: OperationId
  readonly operation: Operation
}

interface Node {
  readonly literals: Map<string, Node>
  placeholder: Node | undefined
  /** The operations whose path ends here, by method. */
  readonly routes: Map<string, Route>
}

const createNode = (): Node => ({ literals: new Map(), placeholder: undefined, routes: new Map() })

/**
 * Paths are compared segment by segment as they came, before any decoding: an encoded slash does not end
 * a segment. Where a literal and a placeholder both fit, the literal wins.
 */
export function createRouter(settings: Settings): Router {
  const root = createNode()
  for (const [id, operation] of operations) insert(root, pathOf(operation, settings), { id, operation })

  return {
    match: (method, path) => {
      const allow = new Set<string>()
      const segments = path.split('/').slice(1)
      const found = find(root, segments, 0, method, [], allow)
      if (found !== undefined) return found
      return allow.size === 0 ? { kind: 'unknown path' } : { kind: 'unknown method', allow: [...allow].toSorted() }
    },
  }
}

function insert(root: Node, path: string, route: Route): void {
  let node = root
  for (const segment of path.split('/').slice(1)) {
    const isPlaceholder = segment.startsWith('{')
    const next = (isPlaceholder ? node.placeholder : node.literals.get(segment)) ?? createNode()
    if (isPlaceholder) node.placeholder = next
    else node.literals.set(segment, next)
    node = next
  }
  node.routes.set(route.operation.method, route)
}

function find(
  node: Node,
  path: readonly string[],
  depth: number,
  method: string,
  segments: readonly string[],
  allow: Set<string>,
): Match | undefined {
  const segment = path[depth]
  if (segment === undefined) {
    const route = node.routes.get(method)
    if (route !== undefined) return { kind: 'route', route, segments }
    for (const other of node.routes.keys()) allow.add(other)
    return undefined
  }
  const literal = node.literals.get(segment)
  const found = literal && find(literal, path, depth + 1, method, segments, allow)
  if (found !== undefined || node.placeholder === undefined || segment === '') return found
  return find(node.placeholder, path, depth + 1, method, [...segments, segment], allow)
}
