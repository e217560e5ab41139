import {
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Document,
  type Node,
  type Pair,
  type Scalar,
} from 'yaml'

/** Deepest nesting: that of rules within rules, and much room. */
const DEEPEST = 50
/** Most values when every alias is replaced by what it stands for. */
const MOST_VALUES = 200_000
const MOST_ALIASES = 2000

const ALIAS_OF_NOTHING = 'is an alias of nothing that stands before it; a text that begins with * must stand in quotes'

/** A fault of the tree, at a node. */
export interface TreeFault {
  readonly node: Node
  readonly path: readonly string[]
  readonly message: string
}

export const keyOf = ({ key }: Pair): string => (isScalar(key) ? String(key.value) : '')

/**
 * Looks at every node once: names that are there twice, names that no object may have, aliases without an anchor or of
 * themselves, and more than can be meant.
 */
export function faultsOfTree(document: Document.Parsed): TreeFault[] {
  const faults: TreeFault[] = []
  const anchors = new Map<string, Node>()
  const values = new Map<Node, number>()
  const open = new Set<Node>()
  let aliases = 0
  const refuse = (node: Node, path: readonly string[], message: string) => {
    faults.push({ node, path, message })
    return 1
  }

  /** The number of values in a node, with those behind its aliases. */
  const visit = (node: unknown, path: readonly string[]): number => {
    if (isAlias(node)) {
      const meant = anchors.get(node.source)
      aliases += 1
      if (meant === undefined) return refuse(node, path, ALIAS_OF_NOTHING)
      return open.has(meant) ? refuse(node, path, 'is an alias of what it stands in') : (values.get(meant) ?? 1)
    }
    if (!isScalar(node) && !isCollection(node)) return 1
    if (node.anchor !== undefined) anchors.set(node.anchor, node)
    if (isScalar(node)) return 1
    if (path.length > DEEPEST) return refuse(node, path, 'is nested too deeply')
    open.add(node)
    const inside = isMap(node) ? ofMap(node.items, path) : ofList(node.items, path)
    open.delete(node)
    values.set(node, inside + 1)
    return inside + 1
  }
  const ofList = (items: readonly unknown[], path: readonly string[]) =>
    items.reduce<number>((sum, item, index) => sum + visit(item, [...path, String(index)]), 0)
  const ofMap = (items: readonly unknown[], path: readonly string[]) => {
    const seen = new Set<string>()
    return items.filter(isPair).reduce((sum, pair) => {
      const key = keyOf(pair)
      const here = [...path, key]
      const keyNode = pair.key as Scalar.Parsed
      if (seen.has(key) && key !== '<<') refuse(keyNode, here, 'is there twice')
      if (key === '__proto__') refuse(keyNode, here, 'may not be a name')
      if (key === '<<' && !isMergeable(pair.value)) refuse(keyNode, here, 'must be an alias of names and values')
      seen.add(key)
      return sum + visit(pair.value, here)
    }, 0)
  }
  const isMergeable = (node: unknown): boolean => {
    const meant = isAlias(node) ? anchors.get(node.source) : node
    return isMap(meant) || (meant === undefined && isAlias(node)) || (isSeq(meant) && meant.items.every(isMergeable))
  }

  const all = visit(document.contents, [])
  if (aliases > MOST_ALIASES && document.contents !== null)
    refuse(document.contents, [], `has more than ${MOST_ALIASES} aliases`)
  if (all > MOST_VALUES && document.contents !== null)
    refuse(document.contents, [], `has more than ${MOST_VALUES} values, with those behind its aliases`)
  return faults
}
