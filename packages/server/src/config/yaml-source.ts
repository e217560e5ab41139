import {
  CST,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  Parser,
  type Range,
  type Scalar,
  visit,
  type YAMLError,
} from 'yaml'

/** Maximum nesting of a YAML text. Nested rules need far less. */
const DEEPEST = 50
/** Maximum number of values in a text. An alias counts as all values of its anchor. */
const MOST_VALUES = 200_000
const MOST_ALIASES = 2000

/** Maximum number of tokens in a text: names, values, marks and spaces. A thousand queues with rules have fewer. */
const MOST_TOKENS = 300_000

/** The position at which a text exceeds a limit, and the reason. */
interface Excess {
  /** Offset in UTF-16 units. */
  readonly at: number
  readonly message: string
}

/** Tokens of the lexer that represent no characters of the text. */
const MARKS: readonly string[] = [CST.DOCUMENT, CST.FLOW_END, CST.SCALAR]

/**
 * Finds a text that must not be composed. Composing recurses for each level, so a few thousand levels would end the
 * process. The search stops at the first excess, and its time is proportional to the text's length.
 */
export function excessIn(text: string, mostTokens = MOST_TOKENS): Excess | undefined {
  const parser = new Parser()
  let [at, tokens] = [0, 0]
  for (const token of new Lexer().lex(text)) {
    for (const _ of parser.next(token)) continue
    tokens += 1
    // Two levels of the stack are the document and the value itself.
    if (parser.stack.length > DEEPEST + 2) return { at, message: `is nested too deeply: more than ${DEEPEST} levels` }
    if (tokens > mostTokens) return { at, message: `has more than ${mostTokens} YAML tokens` }
    if (!MARKS.includes(token)) at += token.length
  }
  return undefined
}

const ALIAS_OF_NOTHING = 'is an alias without an anchor before it; a text that begins with * must be in quotes'

/** A fault at a node of the parsed document. */
interface TreeFault {
  readonly node: Node
  readonly path: readonly string[]
  readonly message: string
}

const keyOf = ({ key }: Pair): string => (isScalar(key) ? String(key.value) : '')

/** Finds duplicate and forbidden names, invalid aliases, and too many values or aliases. */
function faultsOfTree(document: Document.Parsed): TreeFault[] {
  const faults: TreeFault[] = []
  const anchors = new Map<string, Node>()
  const values = new Map<Node, number>()
  const open = new Set<Node>()
  let aliases = 0
  const refuse = (node: Node, path: readonly string[], message: string) => {
    faults.push({ node, path, message })
    return 1
  }

  /** Returns the number of values in a node, including those behind its aliases. */
  const walk = (node: unknown, path: readonly string[]): number => {
    if (isAlias(node)) {
      const meant = anchors.get(node.source)
      aliases += 1
      if (meant === undefined) return refuse(node, path, ALIAS_OF_NOTHING)
      return open.has(meant) ? refuse(node, path, 'is an alias of a value that contains it') : (values.get(meant) ?? 1)
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
    items.reduce<number>((sum, item, index) => sum + walk(item, [...path, String(index)]), 0)
  const ofMap = (items: readonly unknown[], path: readonly string[]) => {
    const seen = new Set<string>()
    return items.filter(isPair).reduce((sum, pair) => {
      const key = keyOf(pair)
      const here = [...path, key]
      const keyNode = pair.key as Scalar.Parsed
      if (seen.has(key) && key !== '<<') refuse(keyNode, here, 'is a duplicate key')
      if (key === '__proto__') refuse(keyNode, here, 'is not allowed as a name')
      if (key === '<<' && !isMergeable(pair.value)) refuse(keyNode, here, 'must be an alias of a mapping')
      seen.add(key)
      return sum + walk(pair.value, here)
    }, 0)
  }
  const isMergeable = (node: unknown): boolean => {
    const meant = isAlias(node) ? anchors.get(node.source) : node
    return isMap(meant) || (meant === undefined && isAlias(node)) || (isSeq(meant) && meant.items.every(isMergeable))
  }

  const all = walk(document.contents, [])
  if (aliases > MOST_ALIASES && document.contents !== null)
    refuse(document.contents, [], `has more than ${MOST_ALIASES} aliases`)
  if (all > MOST_VALUES && document.contents !== null)
    refuse(document.contents, [], `has more than ${MOST_VALUES} values, with those behind its aliases`)
  return faults
}

/** A name, a scalar value or an alias, with its position as offsets in UTF-16 units. */
export interface Leaf {
  readonly from: number
  readonly to: number
  readonly kind: 'name' | 'value' | 'alias'
  /** The names from the root to this leaf, its own name included. */
  readonly path: readonly string[]
  /** The scalar value; undefined for an alias. */
  readonly value: unknown
}

/** Returns the leaves of a document in the order of the text. */
function leavesOf(document: Document.Parsed): readonly Leaf[] {
  const leaves: Leaf[] = []
  const add = ({ range }: Node, leaf: Omit<Leaf, 'from' | 'to'>) => {
    if (range !== undefined && range !== null) leaves.push({ ...leaf, from: range[0], to: range[1] })
  }
  const walk = (node: unknown, path: readonly string[]): void => {
    if (isAlias(node)) add(node, { kind: 'alias', path, value: undefined })
    else if (isScalar(node)) add(node, { kind: 'value', path, value: node.value })
    else if (isSeq(node)) node.items.forEach((item, index) => walk(item, [...path, String(index)]))
    else if (isMap(node))
      for (const pair of node.items.filter(isPair)) {
        const inside = [...path, keyOf(pair)]
        if (isScalar(pair.key)) add(pair.key, { kind: 'name', path: inside, value: pair.key.value })
        else walk(pair.key, inside)
        walk(pair.value, inside)
      }
  }
  walk(document.contents, [])
  return leaves.toSorted((one, other) => one.from - other.from)
}

const FLOW = /^Flow (sequence|map)/

const WORDS: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  TAB_AS_INDENT: 'is indented by a tab: YAML requires spaces',
  MULTIPLE_DOCS: 'begins a second document, but a configuration is one document',
  MULTILINE_IMPLICIT_KEY: 'is followed by a line that is indented too far',
  BLOCK_AS_IMPLICIT_KEY: 'has a second colon: a text with a colon must be in quotes',
  BAD_INDENT: 'is not indented like the lines that it belongs to',
  BAD_DQ_ESCAPE: 'has a backslash that begins no escape: write two, or put the text in single quotes',
  TAG_RESOLVE_FAILED: 'has a tag, and tags are not known here: a secret is { env: NAME } or { file: path }',
  NON_STRING_KEY: 'is not a name: names are strings',
  RESOURCE_EXHAUSTION: 'is nested too deeply',
  BAD_ALIAS: 'is an alias or an anchor without a name',
  UNEXPECTED_TOKEN:
    'does not belong here: what stands before it has ended; look for a missing quote or a wrong indentation',
}

/**
 * Words a syntax error without quoting the text, because the library's own messages quote it, and the text may be a
 * secret.
 */
function yamlWords({ code, message }: Pick<YAMLError, 'code' | 'message'>, character: string): string {
  if (FLOW.test(message)) return message.includes('map') ? 'has a { without its }' : 'has a [ without its ]'
  if (code === 'BAD_SCALAR_START') return `begins with ${character}, so it must be in quotes`
  if (code === 'MISSING_CHAR') return missingWords(message)
  return WORDS[code] ?? 'is not valid YAML'
}

function missingWords(message: string): string {
  if (message.includes('quote')) return 'has a quote that is not closed'
  return message.startsWith('Sequence item')
    ? 'is not indented like the entry that it belongs to, or lacks the - of an entry'
    : 'has a name without a colon behind it'
}

/** A range of the text, as offsets in UTF-16 units. */
export interface TextRange {
  readonly from: number
  readonly to: number
}

/** A fault at a position of the text. */
interface SourceFault {
  readonly path: readonly string[]
  readonly message: string
  readonly place: TextRange
}

/** A parsed YAML text with its faults and positions. */
export type Source = ReturnType<typeof readYaml>

/**
 * Parses a YAML text. Never throws: `faults` has the errors.
 * @param mostTokens see `excessIn`
 */
export function readYaml(text: string, mostTokens?: number) {
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
    /** The parsed value; undefined if there are faults. */
    value: faults.length === 0 ? (document.toJS({ maxAliasCount: -1 }) as unknown) : undefined,
    /**
     * The position of a value, by its path. For a missing value: the position of the nearest value around it.
     * @param part the name of the value, or the value itself.
     */
    placeOf: (path: readonly string[], part: 'name' | 'value' = 'value'): TextRange => placeOf(document, path, part),
    positionOf: ({ from }: TextRange): { readonly line: number; readonly column: number } => {
      const { line, col } = counter.linePos(from)
      return { line: Math.max(1, line), column: Math.max(1, col) }
    },
    lineOf,
    /** Returns all names, values and aliases in the order of the text. The list is created once, on first use. */
    leaves: (): readonly Leaf[] => (leaves ??= leavesOf(document)),
  }
}

const ofExcess = ({ at, message }: Excess): SourceFault => ({ path: [], message, place: { from: at, to: at + 1 } })

function addLines(counter: LineCounter, text: string): void {
  counter.lineStarts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) counter.addNewLine(at + 1)
}

/** Returns only the first syntax error, because later ones mostly follow from it. */
function ofSyntax(text: string, document: Document.Parsed): SourceFault[] {
  const control = controlCharacterIn(text)
  if (control !== -1) {
    const place = { from: control, to: control + 1 }
    return [{ path: [], message: 'has a control character, which no text file has', place }]
  }
  const { version, explicit } = document.directives?.yaml ?? { version: '1.2', explicit: false }
  if (explicit === true && version !== '1.2')
    return [{ path: [], message: 'requires a YAML version other than 1.2', place: { from: 0, to: 1 } }]
  const [error] = [...document.errors, ...document.warnings].toSorted((one, other) => one.pos[0] - other.pos[0])
  if (error === undefined) return []
  const [from, to] = error.pos
  const others = document.errors.filter(({ pos }) => pos[0] === from)
  const telling = others.find(({ code }) => code === 'MULTILINE_IMPLICIT_KEY') ?? error
  const place = error.message.startsWith('Missing closing') ? quoteBefore(document, from) : { from, to }
  return [{ path: [], message: yamlWords(telling, text.charAt(from)), place }]
}

/**
 * Returns the position at which the quoted string ending at `end` begins. The parser reports an unclosed quote at its
 * end.
 */
function quoteBefore(document: Document.Parsed, end: number): TextRange {
  let from = end
  visit(document, {
    Scalar: (_, { type, range }) => {
      if (type?.startsWith('QUOTE') === true && (range?.[0] ?? end) < end) from = range?.[0] ?? end
    },
  })
  return { from, to: from + 1 }
}

/** Returns the offset of the first control character other than line ends and tabs; -1 if there is none. */
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

const placeOfNode = (node: Node): TextRange => {
  const [from, to] = (node.range ?? [0, 0, 0]) as Range
  return { from, to }
}

/** Returns the entry of a map with this name. The entry may come from a merged map (`<<`). */
function pairIn(document: Document.Parsed, map: unknown, key: string): Pair | undefined {
  const meant = isAlias(map) ? map.resolve(document) : map
  if (isSeq(meant)) return meant.items.map((item) => pairIn(document, item, key)).find((pair) => pair !== undefined)
  if (!isMap(meant)) return undefined
  const own = meant.items.find((pair) => isPair(pair) && keyOf(pair) === key)
  if (own !== undefined) return own
  const merged = meant.items.filter((pair) => isPair(pair) && keyOf(pair) === '<<')
  return merged.map(({ value }) => pairIn(document, value, key)).find((pair) => pair !== undefined)
}

function placeOf(document: Document.Parsed, path: readonly string[], part: 'name' | 'value'): TextRange {
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

/** Returns true for the empty node of a name without a value. */
const isEmpty = ({ range }: Node) => range?.[0] === range?.[1]

const hasRange = (node: unknown): node is Node =>
  typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)

/**
 * Returns the position of the name, because a block value begins on a later line. Without a name, returns that of the
 * node.
 */
const placeOfNamed = (name: unknown, node: unknown): TextRange =>
  hasRange(name) ? placeOfNode(name) : { from: hasRange(node) ? placeOfNode(node).from : 0, to: 0 }
