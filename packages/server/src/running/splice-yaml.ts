import { isAlias, isMap, isScalar, isSeq, stringify, type Document, type Node, type YAMLMap, type YAMLSeq } from 'yaml'

/** A part of a text that is replaced. */
interface Splice {
  readonly from: number
  readonly to: number
  readonly text: string
}

/**
 * The text with each number, boolean and bracketed list changed where it stands, and nothing else; undefined if more
 * than that differs, or a comment would be lost.
 * @param old what a part of the text says, and `next`, what it is to say.
 */
export function spliceYaml(text: string, document: Document, old: Node, next: Node): string | undefined {
  const splices = between(text, document, old, next)
  if (splices === undefined) return undefined
  const later = splices.toSorted((one, other) => other.from - one.from)
  return later.reduce((done, { from, to, text: part }) => done.slice(0, from) + part + done.slice(to), text)
}

function between(text: string, document: Document, old: Node, next: Node): Splice[] | undefined {
  if (saysSame(document, old, next)) return []
  if (isMap(old) && isMap(next)) return betweenMaps(text, document, old, next)
  if (isSeq(old) && isSeq(next) && old.items.length === next.items.length)
    return betweenAll(old.items.map((item, at) => between(text, document, item as Node, next.items[at] as Node)))
  return replaced(text, old, next)
}

function betweenMaps(text: string, document: Document, old: YAMLMap, next: YAMLMap): Splice[] | undefined {
  if (old.items.length !== next.items.length) return replaced(text, old, next)
  return betweenAll(
    old.items.map(({ key, value }) => {
      const other = next.get(key, true)
      return other === undefined || value === null ? undefined : between(text, document, value as Node, other)
    }),
  )
}

const betweenAll = (parts: readonly (readonly Splice[] | undefined)[]): Splice[] | undefined =>
  parts.every((part) => part !== undefined) ? parts.flat() : undefined

/** Another node in the place of one that is written on one line without a comment. */
function replaced(text: string, old: Node, next: Node): Splice[] | undefined {
  if (isAlias(old) || (isScalar(old) && typeof old.value === 'string') || old.range === undefined || old.range === null)
    return undefined
  const [from, to] = old.range
  const before = text.slice(from, to)
  const isBlock = !isScalar(old) && (old as YAMLMap | YAMLSeq).flow !== true
  if (isBlock || old.anchor !== undefined || /[\n#]/.test(before)) return undefined
  const made = before.includes('"') ? JSON.stringify(next.toJSON()) : flowText(next, before)
  return made.includes('\n') ? undefined : [{ from, to, text: made }]
}

/** In the form of the text that stood there; where names are in quotes, it is JSON and stays so. */
const flowText = (next: Node, before: string): string => {
  const flowCollectionPadding = !/^[[{]\S/.test(before)
  return stringify(next.toJSON(), { collectionStyle: 'flow', flowCollectionPadding, lineWidth: 0 }).trimEnd()
}

const saysSame = (document: Document, old: Node, next: Node): boolean =>
  JSON.stringify(inOrder(old.toJS(document, { maxAliasCount: -1 }))) === JSON.stringify(inOrder(next.toJSON()))

/** The value with the keys of its mappings in one order. Infinity is no null. */
const inOrder = (value: unknown): unknown => {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, inOrder(inner)]))
}
