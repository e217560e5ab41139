import type { QueueDefinition } from '@muster/matchmaker'
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
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { withHidden } from '../../console/index.js'

/** A part of a text, and its replacement. */
interface Splice {
  readonly from: number
  readonly to: number
  readonly text: string
}

/**
 * Changes single numbers, booleans and bracketed lists in the text, and nothing else. Returns undefined if the
 * definitions differ in more than that, or if a comment would be lost.
 * @param old the present value of a part of the text.
 * @param next the new value of that part.
 */
function spliceYaml(text: string, document: Document, old: Node, next: Node): string | undefined {
  const splices = between(text, document, old, next)
  if (splices === undefined) return undefined
  const later = splices.toSorted((one, other) => other.from - one.from)
  return later.reduce((done, { from, to, text: part }) => done.slice(0, from) + part + done.slice(to), text)
}

function between(text: string, document: Document, old: Node, next: Node): Splice[] | undefined {
  if (old === next || saysSame(document, old, next)) return []
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

/** Returns the replacement of a node, if it is written on one line without a comment; otherwise undefined. */
function replaced(text: string, old: Node, next: Node): Splice[] | undefined {
  if (isAlias(old) || (isScalar(old) && typeof old.value === 'string') || old.range === undefined || old.range === null)
    return undefined
  if (hasAlias(next)) return undefined
  const [from, to] = old.range
  const before = text.slice(from, to)
  const isBlock = !isScalar(old) && (old as YAMLMap | YAMLSeq).flow !== true
  if (isBlock || old.anchor !== undefined || /[\n#]/.test(before)) return undefined
  const made = before.includes('"') ? JSON.stringify(next.toJSON()) : flowText(next, before)
  return made.includes('\n') ? undefined : [{ from, to, text: made }]
}

function hasAlias(node: Node): boolean {
  let found = false
  visit(node, {
    Alias: () => {
      found = true
      return visit.BREAK
    },
  })
  return found
}

/** Returns a value on one line, with the old text's spacing inside brackets. */
const flowText = (next: Node, before: string): string => {
  const flowCollectionPadding = !/^[[{]\S/.test(before)
  return stringify(next.toJSON(), { collectionStyle: 'flow', flowCollectionPadding, lineWidth: 0 }).trimEnd()
}

const saysSame = (document: Document, old: Node, next: Node): boolean =>
  JSON.stringify(inOrder(old.toJS(document, { maxAliasCount: -1 }))) === JSON.stringify(inOrder(next.toJSON()))

/** Returns the value with sorted keys, for comparison. Infinity becomes a string, so that it differs from null. */
const inOrder = (value: unknown): unknown => {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, inOrder(inner)]))
}

/** Thrown if the text cannot be changed. The message gives the reason. */
export class NotEdited extends Error {
  static {
    this.prototype.name = 'NotEdited'
  }
}

/**
 * Returns the text with another definition of a queue. Unchanged parts keep their position, style and comments. If only
 * numbers, booleans or bracketed lists change, every other character stays the same. The variables of servers stay,
 * unless the new definition has some.
 * @param yaml the new definition as a mapping.
 * @param inForce the current definition with its defaults. Fields that the text omits stay omitted if they equal it.
 * @throws {NotEdited}
 */
export function editQueue(text: string, name: string, yaml: string, inForce?: unknown): string {
  const document = parseDocument(text)
  const changed = parseDocument(yaml, { merge: true })
  if (document.errors.length > 0) throw new NotEdited('The configuration file is not valid YAML now. Correct it first.')
  if (changed.errors.length > 0 || !isMap(changed.contents))
    throw new NotEdited('The definition of a queue must be a YAML mapping.')
  const old = queueOf(document, name)
  const next = changed.contents as YAMLMap
  if (next.get('name') !== name)
    throw new NotEdited(`The definition of the queue must keep the name ${JSON.stringify(name)}.`)
  keepHidden(changed, next, inForce ?? old.toJS(document))
  keepAsWritten(old, next, inForce)
  leaveOut(old, next, inForce)
  const spliced = spliceYaml(text, document, old, next)
  if (spliced !== undefined) return onlyThis(text, name, spliced)
  merge(old, next)
  return onlyThis(text, name, textOf(document, name))
}

/** Returns the definition of a queue in a text, without the fields that `<<` would add. @throws {NotEdited} */
export function definitionIn(text: string, name: string): unknown {
  const document = parseDocument(text)
  return queueOf(document, name).toJS(document, { maxAliasCount: -1 })
}

/** Returns the document as text. @throws {NotEdited} if an alias (*) remains whose anchor was removed */
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

/** Returns the text `after`. @throws {NotEdited} if other queues changed too */
function onlyThis(before: string, name: string, after: string): string {
  if (othersIn(before, name) === othersIn(after, name)) return after
  throw sharesParts(name)
}

/** Returns all queues of a text except one, for comparison. */
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

/** Adds the parts of `deploy` that the console's page never receives, unless the new definition has some. */
function keepHidden(changed: Document, next: YAMLMap, before: unknown): void {
  const whole = withHidden(changed.toJS({ maxAliasCount: -1 }), before as QueueDefinition) as {
    readonly deploy?: unknown
  }
  const deploy = next.get('deploy')
  if (isMap(deploy)) addMissing(changed, deploy, whole.deploy)
  else if (whole.deploy !== undefined && !next.has('pool')) next.set('deploy', changed.createNode(whole.deploy))
}

function addMissing(document: Document, map: YAMLMap, whole: unknown): void {
  for (const [name, value] of Object.entries(whole ?? {})) {
    const given = map.get(name)
    if (!map.has(name)) map.set(name, document.createNode(value))
    else if (isMap(given)) addMissing(document, given, value)
  }
}

/**
 * Keeps `deploy` and `matchSize` as the text has them, if the edit does not change them. The text may share `deploy`
 * with other queues. The console's page receives `matchSize` as `teams`.
 */
function keepAsWritten(old: YAMLMap, next: YAMLMap, inForce: unknown): void {
  const keep = (shown: string, written: string) => {
    const pair = old.items.find(({ key }) => nameOf(key) === written)
    const said = next.get(shown)
    if (pair === undefined || !isNode(said) || (next.has(written) && shown !== written)) return
    const now: unknown = Reflect.get(Object(inForce), shown)
    if (JSON.stringify(inOrder(said.toJSON())) !== JSON.stringify(inOrder(now))) return
    next.delete(shown)
    next.items.push(pair as YAMLMap['items'][number])
  }
  keep('deploy', 'deploy')
  if (!old.has('teams')) keep('teams', 'matchSize')
}

/**
 * Removes fields that the text omits and that equal their defaults, because the console's page sends all defaults.
 * Beside `<<`, a field that the text omits may not be a default, so all are kept.
 */
function leaveOut(old: unknown, next: unknown, inForce: unknown): void {
  if (isSeq(old) && isSeq(next) && Array.isArray(inForce) && old.items.length === next.items.length)
    for (const [index, item] of next.items.entries()) leaveOut(old.items[index], item, inForce[index])
  if (!isMap(old) || !isMap(next) || typeof inForce !== 'object' || inForce === null) return
  const counting = (key: unknown): unknown => Reflect.get(inForce, nameOf(key))
  next.items = next.items.filter(({ key, value }) => {
    const said = isNode(value) ? (value.toJSON() as unknown) : value
    return (
      old.has(nameOf(key)) || old.has('<<') || JSON.stringify(inOrder(said)) !== JSON.stringify(inOrder(counting(key)))
    )
  })
  for (const { key, value } of next.items) leaveOut(old.get(nameOf(key), true), value, counting(key))
}

/** Replaces the content of the mapping `old` by that of `next`, and keeps unchanged parts. */
function merge(old: YAMLMap, next: YAMLMap): void {
  old.items = old.items.filter(({ key }) => next.has(nameOf(key)))
  for (const pair of next.items) {
    const known = old.items.find(({ key }) => nameOf(key) === nameOf(pair.key))
    if (known === undefined) old.items.push(pair)
    else known.value = merged(known.value, pair.value)
  }
}

/** Returns the old node, with its style and comments, if it can hold the new value; otherwise the new node. */
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
