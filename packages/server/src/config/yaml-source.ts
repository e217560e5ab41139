import {
  isAlias,
  isMap,
  isPair,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type Pair,
  type Range,
} from 'yaml'
import { excessIn, type Excess } from './yaml-bounds.js'
import { leavesOf, type Leaf } from './yaml-leaves.js'
import { faultsOfTree, keyOf } from './yaml-tree.js'
import { yamlWords } from './yaml-words.js'

/** A place in the text, by offsets in UTF-16 units. */
export interface Place {
  readonly from: number
  readonly to: number
}

/** A fault of the text, with its place. */
export interface SourceFault {
  readonly path: readonly string[]
  readonly message: string
  readonly place: Place
}

/** A YAML text that was read. */
export interface Source {
  readonly text: string
  readonly document: Document.Parsed
  /** Undefined if there are faults. */
  readonly value: unknown
  readonly faults: readonly SourceFault[]
  /**
   * Where a value stands, by the names on the way to it; of a value that is not there, the nearest that it would be in.
   * @param part the name of the value, or the value itself.
   */
  placeOf(path: readonly string[], part?: 'name' | 'value'): Place
  positionOf(place: Place): { readonly line: number; readonly column: number }
  lineOf(offset: number): Place
  /** The names, values and aliases, in the order of the text. Read once, when they are first asked for. */
  leaves(): readonly Leaf[]
}

/**
 * Reads a YAML text. Never throws: what is wrong is in `faults`.
 * @param mostTokens see `excessIn`
 */
export function readYaml(text: string, mostTokens?: number): Source {
  const counter = new LineCounter()
  const excess = excessIn(text, mostTokens)
  const document = parseDocument(excess === undefined ? text : '', {
    lineCounter: counter,
    prettyErrors: false,
    logLevel: 'error',
    merge: true,
    stringKeys: true,
    uniqueKeys: false,
  })
  if (excess !== undefined) addLines(counter, text)
  const faults = excess === undefined ? [...ofSyntax(text, document), ...ofNodes(document)] : [ofExcess(excess)]
  const lineOf = (offset: number) => {
    const { line } = counter.linePos(offset)
    const from = counter.lineStarts[line - 1] ?? 0
    return { from, to: counter.lineStarts[line] ?? text.length }
  }
  let leaves: readonly Leaf[] | undefined
  return {
    text,
    document,
    faults,
    value: faults.length === 0 ? (document.toJS({ maxAliasCount: -1 }) as unknown) : undefined,
    placeOf: (path, part = 'value') => placeOf(document, path, part),
    positionOf: ({ from }) => {
      const { line, col } = counter.linePos(from)
      return { line: Math.max(1, line), column: Math.max(1, col) }
    },
    lineOf,
    leaves: () => (leaves ??= leavesOf(document)),
  }
}

const ofExcess = ({ at, message }: Excess): SourceFault => ({ path: [], message, place: { from: at, to: at + 1 } })

function addLines(counter: LineCounter, text: string): void {
  counter.lineStarts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) counter.addNewLine(at + 1)
}

/** The first error of syntax: others mostly follow from it. */
function ofSyntax(text: string, document: Document.Parsed): SourceFault[] {
  const control = controlCharacterIn(text)
  if (control !== -1) {
    const place = { from: control, to: control + 1 }
    return [{ path: [], message: 'has a control character, which no text file has', place }]
  }
  const { version, explicit } = document.directives?.yaml ?? { version: '1.2', explicit: false }
  if (explicit === true && version !== '1.2')
    return [{ path: [], message: 'asks for another YAML than 1.2', place: { from: 0, to: 1 } }]
  const [error] = [...document.errors, ...document.warnings].toSorted((one, other) => one.pos[0] - other.pos[0])
  if (error === undefined) return []
  const [from, to] = error.pos
  const others = document.errors.filter(({ pos }) => pos[0] === from)
  const telling = others.find(({ code }) => code === 'MULTILINE_IMPLICIT_KEY') ?? error
  const place = error.message.startsWith('Missing closing') ? quoteBefore(document, from) : { from, to }
  return [{ path: [], message: yamlWords(telling, text.charAt(from)), place }]
}

/** Where the text in quotes begins that lasts until here: the error is told where it should have ended. */
function quoteBefore(document: Document.Parsed, end: number): Place {
  let from = end
  visit(document, {
    Scalar: (_, { type, range }) => {
      if (type?.startsWith('QUOTE') === true && (range?.[0] ?? end) < end) from = range?.[0] ?? end
    },
  })
  return { from, to: from + 1 }
}

/** The offset of the first control character that is no end of a line and no tab; -1 if there is none. */
function controlCharacterIn(text: string): number {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if ((code < 32 && code !== 9 && code !== 10 && code !== 13) || code === 127) return at
  }
  return -1
}

function ofNodes(document: Document.Parsed): SourceFault[] {
  if (document.errors.length > 0) return []
  return faultsOfTree(document).map(({ node, path, message }) => ({ path, message, place: placeOfNode(node) }))
}

const placeOfNode = (node: Node): Place => {
  const [from, to] = (node.range ?? [0, 0, 0]) as Range
  return { from, to }
}

/** What a map has under a name, also by a merge (`<<`). */
function pairIn(document: Document.Parsed, map: unknown, key: string): Pair | undefined {
  const meant = isAlias(map) ? map.resolve(document) : map
  if (isSeq(meant)) return meant.items.map((item) => pairIn(document, item, key)).find((pair) => pair !== undefined)
  if (!isMap(meant)) return undefined
  const own = meant.items.find((pair) => isPair(pair) && keyOf(pair) === key)
  if (own !== undefined) return own
  const merged = meant.items.filter((pair) => isPair(pair) && keyOf(pair) === '<<')
  return merged.map(({ value }) => pairIn(document, value, key)).find((pair) => pair !== undefined)
}

function placeOf(document: Document.Parsed, path: readonly string[], part: 'name' | 'value'): Place {
  let node: unknown = document.contents
  let name: unknown
  for (const key of path) {
    const meant = isAlias(node) ? node.resolve(document) : node
    const pair = isSeq(meant) ? undefined : pairIn(document, meant, key)
    const next = isSeq(meant) ? meant.items[Number(key)] : pair?.value
    if (next === undefined && pair === undefined) return placeOfNamed(name, node)
    name = pair === undefined ? next : pair.key
    node = next
  }
  return part === 'name' || !hasRange(node) || isEmpty(node) ? placeOfNamed(name, node) : placeOfNode(node)
}

/** A name with nothing behind it. */
const isEmpty = ({ range }: Node) => range?.[0] === range?.[1]

const hasRange = (node: unknown): node is Node =>
  typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)

/** The name if there is one: a value that is a block begins on another line. */
const placeOfNamed = (name: unknown, node: unknown): Place =>
  hasRange(name) ? placeOfNode(name) : { from: hasRange(node) ? placeOfNode(node).from : 0, to: 0 }
