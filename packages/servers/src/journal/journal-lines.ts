/**
 * The format of a journal file: a header, then one entry per line as `checksum JSON`. A `!` in place of the space means
 * that all lines before it were forced onto the disk when the line was written, so no crash explains damage before it.
 * No I/O.
 */
import { crc32 } from 'node:zlib'
import { JournalCorrupt } from './journal-errors.js'
import type { JournalEntry } from './journal.js'

type Mark = ' ' | '!'

const sumOf = (marked: string) => crc32(marked).toString(16).padStart(8, '0')
const withSum = (marked: string) => `${sumOf(marked)}${marked}\n`

/** The first line of every journal. */
export const HEADER = withSum(` ${JSON.stringify({ journal: 'muster', version: 2 })}`)

/**
 * The line of an entry.
 * @param isAfterForced whether all lines before it are on the disk.
 */
export const lineOf = (json: string, isAfterForced = false): string => withSum(`${isAfterForced ? '!' : ' '}${json}`)

export interface ReadJournal {
  readonly entries: readonly JournalEntry[]
  /** Bytes of the file, from its start, that are undamaged. */
  readonly goodBytes: number
  /** Bytes that were lost: at the end of the file or, after a power failure, also before the end. */
  readonly lostBytes: number
}

interface Line {
  readonly text: string
  readonly bytes: number
  /** The line's mark and JSON; undefined for a damaged line. */
  readonly content: { readonly mark: Mark; readonly json: string } | undefined
}

/**
 * Reads a journal without what a crash damaged: torn lines at the end, or pages of zeros, which a power failure leaves
 * in place of data that was not forced onto the disk yet.
 * @throws {JournalCorrupt} if no crash explains the damage.
 */
export function readJournal(path: string, bytes: Buffer): ReadJournal {
  const [header, ...lines] = linesOf(bytes)
  const text = bytes.toString('latin1')
  // The crash happened while the journal was being created.
  if (header === undefined || (text !== HEADER && HEADER.startsWith(text)) || /^\0*$/.test(text))
    return { entries: [], goodBytes: 0, lostBytes: bytes.length }
  if (`${header.text}\n` !== HEADER) throw noJournal(path, header)

  const lastGood = lines.findLastIndex(({ content }) => content !== undefined)
  const lastForced = lines.findLastIndex(({ content }) => content?.mark === '!')
  const firstBad = lines.findIndex(({ content }) => content === undefined)
  const isTorn = ({ content, text: line }: Line, index: number) =>
    content !== undefined || index > lastGood || (index > lastForced && line.includes('\0'))
  if (!lines.every(isTorn)) throw new JournalCorrupt(path, firstBad + 2)

  const sum = (some: readonly Line[]) => some.reduce((all, { bytes: length }) => all + length, 0)
  const good = lines.filter(({ content }) => content !== undefined)
  return {
    entries: good.map(({ content }) => JSON.parse(content?.json ?? '') as JournalEntry),
    goodBytes: header.bytes + sum(firstBad === -1 ? lines : lines.slice(0, firstBad)),
    lostBytes: sum(lines) - sum(good),
  }
}

function linesOf(bytes: Buffer): Line[] {
  const lines: Line[] = []
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf('\n', start)
    const next = end === -1 ? bytes.length : end + 1
    const text = bytes.toString('utf8', start, end === -1 ? bytes.length : end)
    lines.push({ text, bytes: next - start, content: end === -1 ? undefined : contentOf(text) })
    start = next
  }
  return lines
}

function contentOf(text: string): Line['content'] {
  const marked = text.slice(8)
  const mark = marked[0]
  if ((mark !== ' ' && mark !== '!') || text.slice(0, 8) !== sumOf(marked)) return undefined
  return { mark, json: marked.slice(1) }
}

function noJournal(path: string, { text }: Line): JournalCorrupt {
  const isOfAnotherVersion = /^[0-9a-f]{8} \{"(kind|journal)":/.test(text)
  return new JournalCorrupt(
    path,
    1,
    isOfAnotherVersion
      ? 'was written by another version, in a form that this one does not read: ' +
          'let that one end its matches, then move the file away'
      : 'is no journal: its first line is not one of a journal. It is left as it is; check the path',
  )
}
