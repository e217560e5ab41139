// pure: finds the described path that a request matches

/** A method and a path, and the value that belongs to them. */
export interface PathTarget<Value> {
  readonly method: string
  /** Path with placeholders in braces, e.g. `/v1/app/{app_name}`. */
  readonly path: string
  readonly value: Value
}

export type PathMatch<Value> =
  | {
      readonly kind: 'route'
      readonly value: Value
      /** The placeholders' values in order, still encoded. */
      readonly segments: readonly string[]
    }
  | { readonly kind: 'unknown path' }
  /** The path exists, but not with this method; `allow` lists its methods in alphabetical order. */
  | { readonly kind: 'unknown method'; readonly allow: readonly string[] }

export interface PathMatcher<Value> {
  match(method: string, path: string): PathMatch<Value>
}

interface Node<Value> {
  readonly literals: Map<string, Node<Value>>
  placeholder: Node<Value> | undefined
  /** Values of the paths that end here, by method. */
  readonly values: Map<string, Value>
}

const createNode = <Value>(): Node<Value> => ({ literals: new Map(), placeholder: undefined, values: new Map() })

/**
 * Compares paths segment by segment before any decoding, so that an encoded slash does not end a segment. A literal
 * takes precedence over a placeholder. A placeholder matches at least one character.
 */
export function createPathMatcher<Value>(targets: Iterable<PathTarget<Value>>): PathMatcher<Value> {
  const root = createNode<Value>()
  /** Values of paths without placeholders, which most requests use. */
  const literals = new Map<string, Value>()
  for (const target of targets) {
    insert(root, target)
    if (!target.path.includes('{')) literals.set(`${target.method} ${target.path}`, target.value)
  }

  return {
    match: (method, path) => {
      const literal = literals.get(`${method} ${path}`)
      if (literal !== undefined) return { kind: 'route', value: literal, segments: NONE }
      const parts = path.split('/')
      const found = find(root, parts, 1, method, NONE)
      if (found !== undefined) return found
      const allow = new Set<string>()
      find(root, parts, 1, method, NONE, allow)
      return allow.size === 0 ? { kind: 'unknown path' } : { kind: 'unknown method', allow: [...allow].toSorted() }
    },
  }
}

function insert<Value>(root: Node<Value>, { method, path, value }: PathTarget<Value>): void {
  let node = root
  for (const segment of path.split('/').slice(1)) {
    const isPlaceholder = segment.startsWith('{')
    const next = (isPlaceholder ? node.placeholder : node.literals.get(segment)) ?? createNode<Value>()
    if (isPlaceholder) node.placeholder = next
    else node.literals.set(segment, next)
    node = next
  }
  node.values.set(method, value)
}

const NONE: readonly string[] = []

/** Finds the value of a path. @param allow receives the methods of the path if none of its values has the method. */
function find<Value>(
  node: Node<Value>,
  path: readonly string[],
  depth: number,
  method: string,
  segments: readonly string[],
  allow?: Set<string>,
): PathMatch<Value> | undefined {
  const segment = path[depth]
  if (segment === undefined) {
    const value = node.values.get(method)
    if (value !== undefined) return { kind: 'route', value, segments }
    if (allow !== undefined) for (const other of node.values.keys()) allow.add(other)
    return undefined
  }
  const literal = node.literals.get(segment)
  const found = literal && find(literal, path, depth + 1, method, segments, allow)
  if (found !== undefined || node.placeholder === undefined || segment === '') return found
  return find(node.placeholder, path, depth + 1, method, [...segments, segment], allow)
}
