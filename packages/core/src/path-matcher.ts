// pure: finds the described path that a request matches

/** A method and a path, and the value they lead to. */
export interface Target<Value> {
  readonly method: string
  /** With placeholders in braces, e.g. `/v1/app/{app_name}`. */
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
export function createPathMatcher<Value>(targets: Iterable<Target<Value>>): PathMatcher<Value> {
  const root = createNode<Value>()
  for (const target of targets) insert(root, target)

  return {
    match: (method, path) => {
      const allow = new Set<string>()
      const found = find(root, path.split('/').slice(1), 0, method, [], allow)
      if (found !== undefined) return found
      return allow.size === 0 ? { kind: 'unknown path' } : { kind: 'unknown method', allow: [...allow].toSorted() }
    },
  }
}

function insert<Value>(root: Node<Value>, { method, path, value }: Target<Value>): void {
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

function find<Value>(
  node: Node<Value>,
  path: readonly string[],
  depth: number,
  method: string,
  segments: readonly string[],
  allow: Set<string>,
): PathMatch<Value> | undefined {
  const segment = path[depth]
  if (segment === undefined) {
    const value = node.values.get(method)
    if (value !== undefined) return { kind: 'route', value, segments }
    for (const other of node.values.keys()) allow.add(other)
    return undefined
  }
  const literal = node.literals.get(segment)
  const found = literal && find(literal, path, depth + 1, method, segments, allow)
  if (found !== undefined || node.placeholder === undefined || segment === '') return found
  return find(node.placeholder, path, depth + 1, method, [...segments, segment], allow)
}
