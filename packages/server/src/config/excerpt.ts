import { mayHoldSecret } from '@muster/core/internal'
import { isVariable } from './secret-values.js'
import type { Leaf, TextRange, Source } from './yaml-source.js'

/** Maximum number of characters of a shown line. */
const LONGEST = 120
/** Maximum number of characters of a shown string. Longer strings are documents or keys. */
const LONGEST_TEXT = 40
/** Matches strings that name a host or hold credentials. */
const TELLING = /:\/\/|@|\?/

/** The range of a string that is not shown. */
type Hidden = TextRange

/**
 * Returns the line of a position with a mark under it. Omits comments and all strings that may be secrets, because an
 * invalid file may have a secret in any place.
 * @param unshown paths of unknown fields and of fields with invalid values: their values may be secrets.
 * @param isShown true if the error message itself shows the value.
 */
export function excerptOf(
  source: Source,
  place: TextRange,
  unshown: ReadonlySet<string>,
  isShown: boolean,
): string | undefined {
  if (place.to <= place.from) return undefined
  const line = source.lineOf(place.from)
  const isSyntax = source.document.errors.length > 0 || source.document.warnings.length > 0
  const shown = isSyntax
    ? nameOnly(source.text.slice(line.from, line.to))
    : withoutHidden(source, line, place, unshown, isShown)
  if (shown === undefined) return undefined
  const clean = shown.text.replaceAll('\t', ' ')
  const at = Math.min(shown.move(place.from - line.from), clean.length)
  if (clean.trim() === '' || clean.length > LONGEST || at >= LONGEST) return undefined
  const width = Math.max(1, Math.min(shown.move(place.to - line.from), clean.length) - at)
  return `${clean}\n${' '.repeat(at)}${'^'.repeat(width)}`
}

interface ShownLine {
  readonly text: string
  /** Converts a column of the original line to a column of the shown line. */
  move(column: number): number
}

/**
 * Returns only the name at the start of a line. Used for a text that is not YAML, in which anything else may be a
 * secret.
 */
function nameOnly(line: string): ShownLine | undefined {
  const name = /^\s*(?:- +)*[A-Za-z][\w-]{0,40}:/.exec(line)?.[0]
  if (name === undefined) return undefined
  const rest = line.slice(name.length).trim()
  return {
    text: rest === '' ? name : `${name} …`,
    move: (column) => (column <= name.length ? column : name.length + 1),
  }
}

function withoutHidden(
  { text, faults, leaves }: Source,
  line: TextRange,
  place: TextRange,
  unshown: ReadonlySet<string>,
  isShown: boolean,
): ShownLine | undefined {
  const texts = textsOn(leaves(), line, ({ path, value, from }) => {
    // If the text has syntax faults, its values were not validated, so each may be a secret.
    if (faults.length > 0) return false
    if (path.at(-1) === 'env' && isVariable(value)) return true
    if (path.some(mayHoldSecret) || path.some((_, index) => unshown.has(path.slice(0, index + 1).join('.'))))
      return false
    return (isShown || from !== place.from) && value.length <= LONGEST_TEXT && !TELLING.test(value)
  })
  if (texts === undefined) return undefined
  const { hidden, end } = texts
  const rest = text.slice(Math.max(line.from, end), line.to)
  const comment = /(^|\s)#.*$/.exec(rest.replace(/[\r\n]+$/, ''))
  const to = Math.max(line.from, end) + (comment?.index ?? rest.replace(/[\r\n]+$/, '').length)
  return cutOut(text, { from: line.from, to }, hidden)
}

/** Returns the line with each hidden string as `…`. */
function cutOut(text: string, line: TextRange, hidden: readonly Hidden[]): ShownLine {
  let [shown, at] = ['', line.from]
  const moves: { readonly column: number; readonly by: number; readonly within: number }[] = []
  for (const { from, to } of hidden) {
    shown += `${text.slice(at, from)}…`
    at = to
    moves.push({ column: to - line.from, by: shown.length - (to - line.from), within: from - line.from })
  }
  shown += text.slice(at, line.to)
  const move = (column: number) => {
    const before = moves.findLast(({ within }) => within < column)
    return before === undefined ? column : Math.max(0, Math.max(column, before.column) + before.by)
  }
  return { text: shown.trimEnd(), move }
}

/**
 * Returns the strings on a line that must not be shown, and the end of the line's last value. Returns undefined once
 * the part before a value is longer than an excerpt. The rest of the line is then not read, because it may be the whole
 * file.
 */
function textsOn(
  leaves: readonly Leaf[],
  line: TextRange,
  isShown: (leaf: TextLeaf) => boolean,
): { readonly hidden: readonly Hidden[]; readonly end: number } | undefined {
  const hidden: Hidden[] = []
  let end = line.from
  let left = 0
  for (let index = firstEndingAt(leaves, line.from); index < leaves.length; index += 1) {
    const leaf = leaves[index] as Leaf
    if (leaf.from >= line.to) break
    const [from, to] = [Math.max(leaf.from, line.from), Math.min(leaf.to, line.to)]
    if (from - line.from - left > LONGEST) return undefined
    end = Math.max(end, to)
    // A string that begins with * is parsed as an alias, so aliases are hidden too.
    if (leaf.kind !== 'alias' && (!isText(leaf) || isShown(leaf))) continue
    hidden.push({ from, to })
    left += to - from - 1
  }
  return { hidden, end }
}

interface TextLeaf extends Leaf {
  readonly value: string
}

const isText = (leaf: Leaf): leaf is TextLeaf => leaf.kind === 'value' && typeof leaf.value === 'string'

/** Returns the index of the first leaf that ends at or after the offset. */
function firstEndingAt(leaves: readonly Leaf[], offset: number): number {
  let [from, to] = [0, leaves.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((leaves[middle] as Leaf).to < offset) from = middle + 1
    else to = middle
  }
  return from
}
