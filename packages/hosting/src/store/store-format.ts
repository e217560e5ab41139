/**
 * The format of a store's file: a header, then one line per change of a record, as `checksum kind op key TAB value`.
 * Atomic changes share a line, with a tab between them. The line `checksum !` states that all lines before it were on
 * the disk when it was written. No I/O.
 */
import { crc32 } from 'node:zlib'
import { StoreCorrupt, type StoreDamage } from '../errors.js'
import { SERVER } from './entries.js'
import type { KindChange, RecordsByKind, StoreRecord } from './store.js'
import { applyEntryOf2, type EntryOf2, type RecordOf3, withRecordsOf3 } from './earlier-records.js'

/** `=` replaces the record, `~` sets its latest change, and `-` removes it. */
export type Op = '=' | '~' | '-'

const sumOf = (content: string | Uint8Array) => crc32(content).toString(16).padStart(8, '0')
const withSum = (content: string) => `${sumOf(content)} ${content}\n`
/** In journals of version 2, the checksum included the space. */
const withSumOnly = (marked: string) => `${sumOf(marked)}${marked}\n`

/** Number of bytes before the content of a line: its checksum and a space. */
const SUM_BYTES = 9
const NEWLINE = 0x0a

/** Version of the format that this code writes. */
export const VERSION = 4
/** The first line of every store. */
export const HEADER = withSum(`{"store":"muster","version":${VERSION}}`)
/** The first line of stores of version 3, in which a server and its only match were one record. */
export const HEADER_OF_3 = withSum('{"store":"muster","version":3}')
/** The first line of ticket logs of version 1, from before the common store. Their lines have the same format. */
export const TICKET_LOG_HEADER = withSum('{"ticketLog":"muster","version":1}')
/** The first line of journals of servers of version 2, from before the common store. */
export const JOURNAL_HEADER = withSumOnly(' {"journal":"muster","version":2}')
/** All lines before this one are on the disk, so no crash explains damage to them. */
export const FORCED_LINE = withSum('!')

/** @param value one line without a tab, e.g. JSON. '' for `-`. */
const changeOf = (kind: string, op: Op, key: string, value: string): string =>
  `${kind}${op}${JSON.stringify(key)}\t${value}`

/** @param value see `changeOf` */
export const lineOf = (kind: string, op: Op, key: string, value: string): string =>
  withSum(changeOf(kind, op, key, value))

/** Returns the lines of a record's present state. */
export const linesOf = (kind: string, { key, value, change }: StoreRecord): string =>
  lineOf(kind, '=', key, value) + (change === undefined ? '' : lineOf(kind, '~', key, change))

const changesOf = ({ kind, key, value, change }: KindChange): readonly string[] => {
  if (value === undefined && change === undefined) return [changeOf(kind, '-', key, '')]
  return [
    ...(value === undefined ? [] : [changeOf(kind, '=', key, value)]),
    ...(change === undefined ? [] : [changeOf(kind, '~', key, change)]),
  ]
}

/** Returns the line of changes that are atomic. */
export const lineOfAll = (changes: readonly KindChange[]): string => withSum(changes.flatMap(changesOf).join('\t'))

/** Number of characters of a part: a millisecond or two of work, after which the event loop runs. */
const PART = 2 ** 17

/**
 * Compaction: a whole file with the present records, in parts. Records may change while the parts are written. The
 * lines written meanwhile follow. Applying them to records that already contain their changes does no harm.
 */
export function* wholeFile(sources: ReadonlyMap<string, () => Iterable<StoreRecord>>): Generator<string> {
  let part = HEADER
  for (const [kind, records] of sources) {
    for (const record of records()) {
      part += linesOf(kind, record)
      if (part.length < PART) continue
      yield part
      part = ''
    }
  }
  yield part
}

/**
 * Damaged lines of these kinds are skipped. Lines of other kinds may be servers, which cost money, so the file is
 * rejected.
 */
const LOSSY = /^(name|ticket|group|backfill|cooldown|pause|result|secret)[=~-]"/
/**
 * A line of a server or match that damage has joined to the previous line, or put behind another change in its line.
 */
const JOINED_SERVER = /(?:[0-9a-f]{8} |\t)(?:server|match)[=~-]"/

export interface ReadStore {
  /** Version of the format. For an empty file, the version of a new file. */
  readonly version: number
  readonly records: RecordsByKind
  /** Number of bytes from the start of the file before the torn end. */
  readonly goodBytes: number
  readonly damage: StoreDamage | undefined
  /**
   * True if the file must be rewritten before it is appended to: it is of an older version, or damaged before its end.
   */
  readonly isStale: boolean
}

/** The kind of a line: applied, damaged, or `forced`, which states that all lines before it were on the disk. */
type LineKind = 'good' | 'bad' | 'forced'

/** A version of the format. */
interface FormatVersion {
  readonly number: number
  readonly header: string
  readonly begin: () => { readonly read: (line: Buffer) => LineKind; readonly records: () => RecordsByKind }
  /** True if the file must be rejected when the line has damage that no crash explains. */
  readonly isStrict: (line: Buffer) => boolean
}

const storeLines = () => {
  const records = new Map<string, Map<string, StoreRecord>>()
  return { read: (line: Buffer) => readLine(records, line), records: () => records }
}

/** In version 3, one record was a server, a match, or a match with its own server. */
const linesOf3 = () => {
  const { read, records } = storeLines()
  return { read, records: () => withRecordsOf3(records()) }
}

/**
 * Journals of version 2 held entries of servers, each line as `checksum JSON`, with `!` instead of the space if
 * `forced`.
 */
const journalLines = () => {
  const open = new Map<string, RecordOf3>()
  return {
    read: (line: Buffer): LineKind => {
      const text = line.toString('utf8')
      const marked = text.slice(SUM_BYTES - 1)
      if (!/^[ !]/.test(marked) || text.slice(0, SUM_BYTES - 1) !== sumOf(marked)) return 'bad'
      applyEntryOf2(open, JSON.parse(marked.slice(1)) as EntryOf2)
      return marked.startsWith('!') ? 'forced' : 'good'
    },
    records: () => {
      const stored = Array.from(open, ([key, state]): [string, StoreRecord] => [
        key,
        { key, value: JSON.stringify(state) },
      ])
      return withRecordsOf3(new Map([[SERVER, new Map(stored)]]))
    },
  }
}

const isStrict = (line: Buffer) => {
  const text = line.toString('latin1', SUM_BYTES)
  return !LOSSY.test(text) || JOINED_SERVER.test(text)
}

const VERSIONS: readonly FormatVersion[] = [
  { number: VERSION, header: HEADER, begin: storeLines, isStrict },
  { number: 3, header: HEADER_OF_3, begin: linesOf3, isStrict },
  { number: 1, header: TICKET_LOG_HEADER, begin: storeLines, isStrict: () => false },
  { number: 2, header: JOURNAL_HEADER, begin: journalLines, isStrict: () => true },
]

/**
 * Reads a store without the parts that a crash damaged: torn lines at the end, or pages of zeros, which a power failure
 * leaves in place of data that was not on the disk yet.
 * @throws {StoreCorrupt} if it is not a store, of another version, or damaged in a part that may be about a server.
 */
export function readStore(path: string, bytes: Buffer): ReadStore {
  if (isNew(bytes)) {
    const damage = damageOf(1, bytes.length)
    return { version: VERSION, records: new Map(), goodBytes: 0, damage, isStale: false }
  }
  const headerEnd = bytes.indexOf(NEWLINE) + 1
  const header = bytes.toString('latin1', 0, headerEnd)
  const version = VERSIONS.find((one) => one.header === header)
  if (version === undefined) throw new StoreCorrupt(`Store ${path} ${whatIsWrong(header)}`, path, 1)

  const { read, records } = version.begin()
  let goodBytes = headerEnd
  let line = 1
  let [bad, badBytes, firstBad] = [0, 0, 0]
  /**
   * The number of the first bad line that is strict, and of the first such line that no power failure explains, because
   * it contains no zeros. 0: none so far.
   */
  let [strict, unexplained] = [0, 0]
  let isTorn = false
  for (let start = headerEnd; start < bytes.length;) {
    const end = bytes.indexOf(NEWLINE, start)
    const next = end === -1 ? bytes.length : end + 1
    line += 1
    const what = end === -1 ? 'bad' : read(bytes.subarray(start, end))
    if (what === 'bad') {
      bad += 1
      badBytes += next - start
      firstBad ||= line
      const whole = bytes.subarray(start, next)
      if (version.isStrict(whole)) {
        strict ||= line
        if (!whole.includes(0)) unexplained ||= line
      }
    } else {
      const wrong = what === 'forced' ? strict : unexplained
      if (wrong > 0) {
        const why =
          'differs from what was written, although later lines are intact. Restore the file from a backup or ' +
          'move it away.'
        throw new StoreCorrupt(`Store ${path} is damaged: line ${wrong} ${why}`, path, wrong)
      }
      isTorn = bad > 0
      goodBytes = next
    }
    start = next
  }
  return {
    version: version.number,
    records: records(),
    goodBytes,
    damage: bad === 0 ? undefined : { line: firstBad, lines: bad, bytes: badBytes },
    isStale: isTorn || header !== HEADER,
  }
}

const damageOf = (line: number, bytes: number): StoreDamage | undefined =>
  bytes === 0 ? undefined : { line, lines: 1, bytes }

/** True if nothing was written yet, or a crash interrupted the write of the header. */
const isNew = (bytes: Buffer): boolean =>
  bytes.every((byte) => byte === 0) ||
  VERSIONS.some(({ header }) => bytes.length < header.length && header.startsWith(bytes.toString('latin1')))

function whatIsWrong(header: string): string {
  const [, version = ''] = /^[0-9a-f]{8} \{"store":"muster","version":(\d{1,9})\b/.exec(header) ?? []
  if (Number(version) > VERSION)
    return (
      `has version ${version}, but this Muster reads up to ${VERSION}. ` +
      'The file was not changed. Run a later Muster.'
    )
  return /^[0-9a-f]{8} \{"(store|ticketLog|journal|kind)":/.test(header)
    ? 'was written by another version of Muster. Let that version end its matches, then move the file away.'
    : 'is not a store of Muster. The file was not changed. Check the path.'
}

/** Applies a line. Changes nothing if the line is damaged. */
function readLine(records: Map<string, Map<string, StoreRecord>>, line: Buffer): LineKind {
  const content = line.subarray(SUM_BYTES)
  if (line.toString('latin1', 0, SUM_BYTES) !== `${sumOf(content)} `) return 'bad'
  const text = content.toString('utf8')
  if (text === '!') return 'forced'
  const parts = text.split('\t')
  const heads = parts.flatMap((part, index) => (index % 2 === 0 ? [HEAD.exec(part)] : []))
  if (parts.length % 2 === 1 || heads.includes(null)) return 'bad'
  for (const [index, head] of heads.entries()) apply(records, head as RegExpExecArray, parts[2 * index + 1] ?? '')
  return 'good'
}

/** Kind, op and key of a change. */
const HEAD = /^([a-z-]+?)([=~-])(".*)$/s

function apply(
  records: Map<string, Map<string, StoreRecord>>,
  [, kind = '', op, name = '']: RegExpExecArray,
  value: string,
): void {
  const key = JSON.parse(name) as string
  const ofKind = records.get(kind) ?? new Map<string, StoreRecord>()
  records.set(kind, ofKind)
  if (op !== '~') ofKind.delete(key)
  const before = ofKind.get(key)
  if (op === '=') ofKind.set(key, { key, value })
  // A change of a record whose line was lost is not enough.
  else if (op === '~' && before !== undefined) ofKind.set(key, { ...before, change: value })
}
