import { isAlias, isMap, isPair, isScalar, isSeq, type Document, type Node } from 'yaml'
import { keyOf } from './yaml-tree.js'

/** A name, a value that holds no others, or an alias, with its place: offsets in UTF-16 units. */
export interface Leaf {
  readonly from: number
  readonly to: number
  readonly kind: 'name' | 'value' | 'alias'
  /** The names on the way to it, its own included. */
  readonly path: readonly string[]
  /** Undefined for an alias. */
  readonly value: unknown
}

/** In the order of the text. */
export function leavesOf(document: Document.Parsed): readonly Leaf[] {
  const leaves: Leaf[] = []
  const add = ({ range }: Node, leaf: Omit<Leaf, 'from' | 'to'>) => {
    if (range !== undefined && range !== null) leaves.push({ ...leaf, from: range[0], to: range[1] })
  }
  const visit = (node: unknown, path: readonly string[]): void => {
    if (isAlias(node)) add(node, { kind: 'alias', path, value: undefined })
    else if (isScalar(node)) add(node, { kind: 'value', path, value: node.value })
    else if (isSeq(node)) node.items.forEach((item, index) => visit(item, [...path, String(index)]))
    else if (isMap(node))
      for (const pair of node.items.filter(isPair)) {
        const inside = [...path, keyOf(pair)]
        if (isScalar(pair.key)) add(pair.key, { kind: 'name', path: inside, value: pair.key.value })
        else visit(pair.key, inside)
        visit(pair.value, inside)
      }
  }
  visit(document.contents, [])
  return leaves.toSorted((one, other) => one.from - other.from)
}
