/**
 * The format of a store's file. The first line is a header. Each other line is a change of a record: `checksum kind op
 * key TAB value`. Changes that belong together share a line, separated by tabs. The line `checksum !` means that all
 * lines before it were on the disk when it was written. No I/O.
 */
import { crc32 } from 'node:zlib'
import { StoreCorrupt, type StoreDamage } from '../errors.js'
import { SERVER } from './entries.js'
import type { KindChange, RecordsByKind, StoreRecord } from './store.js'
import { applyEntryOf2, type EntryOf2, type RecordOf3, withRecordsOf3 } from './earlier-records.js'

/** `=` sets a record, `~` sets its latest change, and `-` removes it. */
export type Op = '=' | '~' | '-'

const sumOf = (content: string | Uint8Array) => crc32(content).toString(16).padStart(8, '0')
const withSum = (content: string) => `${sumOf(content)} ${content}\n`
/** In version 2, the checksum also covered the space after it. */
const withSumOnly = (marked: string) => `${sumOf(marked)}${marked}\n`

/** Number of bytes of a line's checksum and the space after it. */
const SUM_BYTES = 9
const NEWLINE = 0x0a

export const VERSION = 4
/** The first line of each new file. */
export const HEADER = withSum(`{"store":"muster","version":${VERSION}}`)
/** The first line of files of version 3. There, a server and its single match were one record. */
export const HEADER_OF_3 = withSum('{"store":"muster","version":3}')
/**
 * The first line of ticket logs of version 1, which came before the common store. Other lines have the current format.
 */
export const TICKET_LOG_HEADER = withSum('{"ticketLog":"muster","version":1}')
/** The first line of journals of version 2, which stored servers before the common store. */
export const JOURNAL_HEADER = withSumOnly(' {"journal":"muster","version":2}')
/** Means that all earlier lines are on the disk. If one of them is damaged, no crash can be the cause. */
export const FORCED_LINE = withSum('!')

/** Returns a change without its checksum. @param value a string without tabs and newlines, e.g. JSON. '' for `-` */
const changeOf = (kind: string, op: Op, key: string, value: string): string =>
  `${kind}${op}${JSON.stringify(key)}\t${value}`

/** Returns the line of a single change. @param value see `changeOf` */
export const lineOf = (kind: string, op: Op, key: string, value: string): string =>
  withSum(changeOf(kind, op, key, value))

/** Returns the lines that contain the current state of a record. */
export const linesOf = (kind: string, { key, value, change }: StoreRecord): string =>
  lineOf(kind, '=', key, value) + (change === undefined ? '' : lineOf(kind, '~', key, change))

const changesOf = ({ kind, key, value, change }: KindChange): readonly string[] => {
  if (value === undefined && change === undefined) return [changeOf(kind, '-', key, '')]
  return [
    ...(value === undefined ? [] : [changeOf(kind, '=', key, value)]),
    ...(change === undefined ? [] : [changeOf(kind, '~', key, change)]),
  ]
}

/** Returns the line of changes that are applied together. */
export const lineOfAll = (changes: readonly KindChange[]): string => withSum(changes.flatMap(changesOf).join('\t'))

/** Characters of a part of the file. Between two parts, the event loop runs, after a millisecond or two. */
const PART = 2 ** 17

/**
 * Yields the whole content of a file with the current records, in parts. Records may change meanwhile. Their lines are
 * appended later, which does no harm if a part already contains the changes.
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

/** Kinds of records that may be lost. Other damage may concern a server, which costs money, so the file is rejected. */
const LOSSY = /^(name|ticket|group|backfill|cooldown|pause|result|secret)[=~-]"/
/** Finds a change of a server or match behind another change: damage has joined their lines, or they share a line. */
const JOINED_SERVER = /(?:[0-9a-f]{8} |\t)(?:server|match)[=~-]"/

export interface ReadStore {
  /** Version of the file's format. For an empty file, the current version. */
  readonly version: number
  readonly records: RecordsByKind
  /** Number of bytes up to the last undamaged line. */
  readonly goodBytes: number
  readonly damage: StoreDamage | undefined
  /** True if the file must be rewritten before an append: an older version, or a damaged line before a good one. */
  readonly isStale: boolean
}

/** What a line is: a change (`good`), damaged, or the line which means that all lines before it were on the disk. */
type LineKind = 'good' | 'bad' | 'forced'

/** How a version of the format is read. */
interface FormatVersion {
  readonly number: number
  readonly header: string
  readonly begin: () => { readonly read: (line: Buffer) => LineKind; readonly records: () => RecordsByKind }
  /** True if damage to the line makes the whole file unusable, unless a crash explains it. */
  readonly isStrict: (line: Buffer) => boolean
}

const storeLines = () => {
  const records = new Map<string, Map<string, StoreRecord>>()
  return { read: (line: Buffer) => readLine(records, line), records: () => records }
}

const linesOf3 = () => {
  const { read, records } = storeLines()
  return { read, records: () => withRecordsOf3(records()) }
}

/**
 * Reads journals of version 2: lines `checksum JSON`. A `!` instead of the space means that earlier lines are synced.
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
 * Reads a file, without the parts that a crash has damaged: incomplete lines at the end, and zeros, which a power
 * failure leaves in place of data that was not on the disk.
 * @throws {StoreCorrupt} if the file is not a store, has an unknown version, or has damage that may concern a server
 */
export function readStore(path: string, bytes: Buffer): ReadStore {
  if (isNew(bytes)) {
    const damage = damageOf(1, bytes.length)
    return { version: VERSION, records: new Map(), goodBytes: 0, damage, isStale: false }
  }
  const headerEnd = newlineFrom(bytes, 0) + 1
  const header = bytes.toString('latin1', 0, headerEnd)
  const version = VERSIONS.find((one) => one.header === header)
  if (version === undefined) throw new StoreCorrupt(`Store ${path} ${whatIsWrong(header)}`, path, 1)

  const { read, records } = version.begin()
  let goodBytes = headerEnd
  let line = 1
  let [bad, badBytes, firstBad] = [0, 0, 0]
  /**
   * `strict`: number of the first damaged line that must not be lost. `unexplained`: number of the first damaged line
   * without zeros, which no power failure explains. 0: there is none.
   */
  let [strict, unexplained] = [0, 0]
  let isTorn = false
  for (let start = headerEnd; start < bytes.length;) {
    const end = newlineFrom(bytes, start)
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

/** Returns the position of the next newline, or -1. `Buffer.indexOf` is faster, but wrong beyond 2 GiB. */
const newlineFrom = (bytes: Buffer, start: number): number =>
  bytes.length < 2 ** 31 ? bytes.indexOf(NEWLINE, start) : Uint8Array.prototype.indexOf.call(bytes, NEWLINE, start)

const damageOf = (line: number, bytes: number): StoreDamage | undefined =>
  bytes === 0 ? undefined : { line, lines: 1, bytes }

/** True if the file is empty, or a crash has interrupted the write of its header. */
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

/** Applies the changes of a line, unless the line is damaged. */
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
  // A change without its record is useless, because the line of the record was lost.
  else if (op === '~' && before !== undefined) ofKind.set(key, { ...before, change: value })
}
