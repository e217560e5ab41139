import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'

/** A replaced part of a text. */
interface Splice {
  readonly from: number
  readonly to: number
  readonly text: string
}

/**
 * Changes each number, boolean and bracketed list in place, and nothing else. Undefined if more than that differs, or a
 * comment would be lost.
 * @param old the present value of a part of the text, and `next`, the new one.
 */
function spliceYaml(text: string, document: Document, old: Node, next: Node): string | undefined {
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

/** Replaces a node that is written on one line without a comment. */
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

/** In the style of the old text: if names are quoted, it is JSON and stays JSON. */
const flowText = (next: Node, before: string): string => {
  const flowCollectionPadding = !/^[[{]\S/.test(before)
  return stringify(next.toJSON(), { collectionStyle: 'flow', flowCollectionPadding, lineWidth: 0 }).trimEnd()
}

const saysSame = (document: Document, old: Node, next: Node): boolean =>
  JSON.stringify(inOrder(old.toJS(document, { maxAliasCount: -1 }))) === JSON.stringify(inOrder(next.toJSON()))

/** The value with sorted keys. Infinity differs from null. */
const inOrder = (value: unknown): unknown => {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, inOrder(inner)]))
}

/** The text cannot be changed; the message has the reason. */
export class NotEdited extends Error {
  static {
    this.prototype.name = 'NotEdited'
  }
}

/**
 * The text with another definition of a queue. Unchanged parts keep their position, style and comments. If only numbers
 * and the like change, every other character stays the same. The variables of its servers stay, unless the definition
 * has some.
 * @param yaml the definition as a mapping.
 * @param inForce the current definition with its defaults: fields that the text omits stay omitted.
 * @throws {NotEdited}
 */
export function editQueue(text: string, name: string, yaml: string, inForce?: unknown): string {
  const document = parseDocument(text)
  const changed = parseDocument(yaml)
  if (document.errors.length > 0) throw new NotEdited('The configuration file is not valid YAML now. Correct it first.')
  if (changed.errors.length > 0 || !isMap(changed.contents))
    throw new NotEdited('The definition is not a YAML mapping.')
  const old = queueOf(document, name)
  const next = changed.contents as YAMLMap
  if (next.get('name') !== name) throw new NotEdited(`The definition must keep the name ${JSON.stringify(name)}.`)
  keepVariables(old, next)
  leaveOut(old, next, inForce)
  const spliced = spliceYaml(text, document, old, next)
  if (spliced !== undefined) return onlyThis(text, name, spliced)
  merge(old, next)
  return onlyThis(text, name, textOf(document, name))
}

/** The definition of a queue in a text, without the fields that `<<` would add. @throws {NotEdited} */
export function definitionIn(text: string, name: string): unknown {
  const document = parseDocument(text)
  return queueOf(document, name).toJS(document, { maxAliasCount: -1 })
}

/** @throws {NotEdited} if an alias (*) remains whose anchor was removed. */
function textOf(document: Document, name: string): string {
  try {
    return document.toString({ lineWidth: 0 })
  } catch (error) {
    throw error instanceof Error && error.message.startsWith('Unresolved alias') ? sharesParts(name) : error
  }
}

const sharesParts = (name: string) =>
  new NotEdited(
    `queue ${JSON.stringify(name)} shares parts with others by & and *: write them out, so that no other queue changes`,
  )

/** @throws {NotEdited} if other queues changed too. */
function onlyThis(before: string, name: string, after: string): string {
  if (othersIn(before, name) === othersIn(after, name)) return after
  throw sharesParts(name)
}

/** Everything in a text except one queue. */
function othersIn(text: string, name: string): string {
  const document = parseDocument(text)
  const queues = document.get('queues')
  const isOther = (item: unknown) => !(isMap(item) && item.get('name') === name)
  const other = isSeq(queues) ? queues.items.filter(isOther) : []
  const values = other.map((item) => (isNode(item) ? (item.toJS(document, { maxAliasCount: -1 }) as unknown) : item))
  return JSON.stringify(values)
}

function queueOf(document: Document, name: string): YAMLMap {
  const queues = document.get('queues')
  const found = isSeq(queues) ? queues.items.filter((item) => isMap(item) && item.get('name') === name) : []
  if (found.length === 1) return found[0] as YAMLMap
  throw new NotEdited(
    `the configuration file has no queue ${JSON.stringify(name)} that is written out as a YAML mapping`,
  )
}

const VARIABLES = ['environment', 'hiddenEnvironment']

/** The page never receives the variables of servers, so it cannot send them back. */
function keepVariables(old: YAMLMap, next: YAMLMap): void {
  const [before, after] = [old.get('deploy'), next.get('deploy')]
  if (!isMap(before) || !isMap(after)) return
  for (const pair of before.items)
    if (VARIABLES.includes(nameOf(pair.key)) && !after.has(nameOf(pair.key))) after.items.push(pair)
}

/** Removes fields from a definition that the text omits and that equal their defaults: the page shows all defaults. */
function leaveOut(old: unknown, next: unknown, inForce: unknown): void {
  if (isSeq(old) && isSeq(next) && Array.isArray(inForce) && old.items.length === next.items.length)
    for (const [index, item] of next.items.entries()) leaveOut(old.items[index], item, inForce[index])
  if (!isMap(old) || !isMap(next) || typeof inForce !== 'object' || inForce === null) return
  const counting = (key: unknown): unknown => Reflect.get(inForce, nameOf(key))
  next.items = next.items.filter(({ key, value }) => {
    const said = isNode(value) ? (value.toJSON() as unknown) : value
    return old.has(nameOf(key)) || JSON.stringify(inOrder(said)) !== JSON.stringify(inOrder(counting(key)))
  })
  for (const { key, value } of next.items) leaveOut(old.get(nameOf(key), true), value, counting(key))
}

/** Gives a mapping the content of another one. */
function merge(old: YAMLMap, next: YAMLMap): void {
  old.items = old.items.filter(({ key }) => next.has(nameOf(key)))
  for (const pair of next.items) {
    const known = old.items.find(({ key }) => nameOf(key) === nameOf(pair.key))
    if (known === undefined) old.items.push(pair)
    else known.value = merged(known.value, pair.value)
  }
}

/** The old node, with its style and comments, if it can represent the new value. */
function merged(old: unknown, next: unknown): unknown {
  if (isMap(old) && isMap(next)) {
    merge(old, next)
    return old
  }
  if (isSeq(old) && isSeq(next)) {
    old.items = next.items.map((item, index) => (index < old.items.length ? merged(old.items[index], item) : item))
    return old
  }
  if (isScalar(old) && isScalar(next)) {
    if (old.value === next.value) return old
    next.comment ??= old.comment ?? null
    next.commentBefore ??= old.commentBefore ?? null
    next.spaceBefore = old.spaceBefore === true
  }
  return next
}

const nameOf = (key: unknown): string => String(isScalar(key) ? key.value : key)
