/**
 * The format of a store's file: a header, then one line per change of a record, as `checksum kind op key TAB value`.
 * The line `checksum !` says that all lines before it were on the disk when it was written. No I/O.
 */
import { crc32 } from 'node:zlib'
import { StoreCorrupt, type StoreDamage } from '../errors.js'

/**
 * What a line does to the record that it names: `=` puts it, instead of an earlier one, `~` sets its latest change, and
 * `-` removes it.
 */
export type Op = '=' | '~' | '-'

/** A record: a text in one line, and the latest change to it, if there was one. */
export interface StoreRecord {
  readonly key: string
  readonly value: string
  readonly change?: string | undefined
}

/** Records by kind and key; each kind's in the order in which they were put. */
export type RecordsByKind = ReadonlyMap<string, ReadonlyMap<string, StoreRecord>>

const sumOf = (content: string | Uint8Array) => crc32(content).toString(16).padStart(8, '0')
const withSum = (content: string) => `${sumOf(content)} ${content}\n`

/** Bytes before the content of a line: its checksum, and a space. */
const SUM_BYTES = 9
const NEWLINE = 0x0a

/** The first line of every store. */
export const HEADER = withSum('{"store":"muster","version":3}')
/** The first line of ticket logs before there was one store, whose lines are the same. */
export const TICKET_LOG_HEADER = withSum('{"ticketLog":"muster","version":1}')
/** All lines before this one are on the disk, so no crash explains damage to them. */
export const FORCED_LINE = withSum('!')

/** @param value one line, without a tab; '' for `-`. JSON is. */
export const lineOf = (kind: string, op: Op, key: string, value: string): string =>
  withSum(`${kind}${op}${JSON.stringify(key)}\t${value}`)

/** The lines of a record as it is now. */
export const linesOf = (kind: string, { key, value, change }: StoreRecord): string =>
  lineOf(kind, '=', key, value) + (change === undefined ? '' : lineOf(kind, '~', key, change))

/** Characters of a part: a millisecond or two of work, between which the event loop runs. */
const PART = 2 ** 17
/** How often lines that came meanwhile are added while others still come. What comes after that is written at once. */
const TRIES = 8

/**
 * A whole file with the records as they are now, in parts. Records may change while the parts are written, so the lines
 * that came meanwhile follow, which is harmless for records that have them already.
 * @param taken returns those lines, and forgets them.
 */
export async function* wholeFile(
  sources: ReadonlyMap<string, () => Iterable<StoreRecord>>,
  taken: () => string,
): AsyncGenerator<string> {
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
  for (let tries = 0; tries < TRIES; tries += 1) {
    const more = taken()
    if (more === '') return
    yield more
    if (more.length < PART) return
  }
}

/** How to read a file. */
export interface ReadTerms {
  readonly path: string
  /** What the file is, for messages. */
  readonly what: string
  /** Whether damage that no crash explains is refused, or left out like other damage. */
  readonly isStrict: boolean
  /** Reads a file of an older version by itself, if its first line is one of that. */
  readonly older?: ((path: string, bytes: Buffer) => ReadStore | undefined) | undefined
}

export interface ReadStore {
  readonly records: RecordsByKind
  /** Bytes of the file, from its start, after which it is torn. */
  readonly goodBytes: number
  readonly damage: StoreDamage | undefined
  /** Whether the file must be written anew before it is appended to: of an older version, or damaged before its end. */
  readonly isStale: boolean
}

/**
 * Reads a store without what a crash damaged: torn lines at the end, or pages of zeros, which a power failure leaves in
 * place of data that was not on the disk yet.
 * @throws {StoreCorrupt} if it is no store, one of another version, or (if strict) damaged otherwise.
 */
export function readStore(bytes: Buffer, { path, what, isStrict, older }: ReadTerms): ReadStore {
  const records = new Map<string, Map<string, StoreRecord>>()
  if (isNew(bytes)) return { records, goodBytes: 0, damage: damageOf(1, bytes.length), isStale: false }
  const headerEnd = bytes.indexOf(NEWLINE) + 1
  const header = bytes.toString('latin1', 0, headerEnd)
  if (header !== HEADER && header !== TICKET_LOG_HEADER) {
    const read = older?.(path, bytes)
    if (read !== undefined) return read
    throw new StoreCorrupt(`The ${what} ${path} ${whatIsWrong(header, what)}`, path, 1)
  }

  let goodBytes = headerEnd
  let line = 1
  let bad = 0
  let badBytes = 0
  let firstBad = 0
  /** The first bad line without zeros since the last line that says that all is on the disk. */
  let unexplained = 0
  let isTorn = false
  for (let start = headerEnd; start < bytes.length;) {
    const end = bytes.indexOf(NEWLINE, start)
    const next = end === -1 ? bytes.length : end + 1
    line += 1
    const read = end === -1 ? 'bad' : readLine(records, bytes.subarray(start, end))
    if (read === 'bad') {
      bad += 1
      badBytes += next - start
      if (firstBad === 0) firstBad = line
      if (unexplained === 0 && !bytes.subarray(start, next).includes(0)) unexplained = line
    } else {
      const wrong = read === 'forced' ? firstBad : unexplained
      if (isStrict && wrong > 0) {
        const why = `is damaged: line ${wrong} is not as it was written, and others after it are`
        throw new StoreCorrupt(`The ${what} ${path} ${why}`, path, wrong)
      }
      isTorn = bad > 0
      goodBytes = next
    }
    start = next
  }
  return {
    records,
    goodBytes,
    damage: bad === 0 ? undefined : { line: firstBad, lines: bad, bytes: badBytes },
    isStale: isTorn || header !== HEADER,
  }
}

const damageOf = (line: number, bytes: number): StoreDamage | undefined =>
  bytes === 0 ? undefined : { line, lines: 1, bytes }

/** Whether nothing was written yet, or a crash came while the header was. */
function isNew(bytes: Buffer): boolean {
  const text = bytes.toString('latin1', 0, HEADER.length + TICKET_LOG_HEADER.length)
  const isPart = (header: string) => bytes.length < header.length && header.startsWith(text)
  return isPart(HEADER) || isPart(TICKET_LOG_HEADER) || bytes.every((byte) => byte === 0)
}

const whatIsWrong = (header: string, what: string) =>
  /^[0-9a-f]{8} \{"(store|ticketLog|journal|kind)":/.test(header)
    ? 'was written by another version, in a form that this one does not read. Let that one end its matches, then ' +
      'move the file away: tickets in it are lost.'
    : `is no ${what}: its first line is not that of one. It is left as it is; check the path.`

/** Applies a line. Changes nothing if it is not as it was written. */
function readLine(records: Map<string, Map<string, StoreRecord>>, line: Buffer): 'good' | 'bad' | 'forced' {
  const content = line.subarray(SUM_BYTES)
  if (line.toString('latin1', 0, SUM_BYTES) !== `${sumOf(content)} `) return 'bad'
  const text = content.toString('utf8')
  if (text === '!') return 'forced'
  const tab = text.indexOf('\t')
  const [head, kind, op] = /^([a-z-]+?)([=~-])(?=")/.exec(text) ?? []
  if (tab === -1 || head === undefined || kind === undefined) return 'bad'
  const key = JSON.parse(text.slice(head.length, tab)) as string
  const ofKind = records.get(kind) ?? new Map<string, StoreRecord>()
  records.set(kind, ofKind)
  if (op !== '~') ofKind.delete(key)
  const value = text.slice(tab + 1)
  const before = ofKind.get(key)
  if (op === '=') ofKind.set(key, { key, value })
  // A change of a record whose line was lost tells too little.
  else if (op === '~' && before !== undefined) ofKind.set(key, { ...before, change: value })
  return 'good'
}
