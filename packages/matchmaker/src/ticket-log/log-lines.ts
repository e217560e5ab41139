/**
 * The format of a ticket log: a header, then one line per change of a record, as `checksum kind op key TAB value`. No
 * I/O.
 */
import { crc32 } from 'node:zlib'
import { LogUnreadable, type LogDamage } from './log-errors.js'

/**
 * What a line does to the record that it names: `=` puts it, instead of an earlier one, `~` sets its latest change, and
 * `-` removes it.
 */
export type Op = '=' | '~' | '-'

/** A record: a text in one line, and the latest change to it, if there was one. */
export interface LogRecord {
  readonly key: string
  readonly value: string
  readonly change?: string | undefined
}

const sumOf = (content: string | Uint8Array) => crc32(content).toString(16).padStart(8, '0')
const withSum = (content: string) => `${sumOf(content)} ${content}\n`

/** Bytes before the content of a line: its checksum, and a space. */
const SUM_BYTES = 9

/** The first line of every ticket log. */
export const LOG_HEADER = withSum('{"ticketLog":"muster","version":1}')

/** @param value one line, without a tab; '' for `-`. JSON is. */
export const logLine = (kind: string, op: Op, key: string, value: string): string =>
  withSum(`${kind}${op}${JSON.stringify(key)}\t${value}`)

/** The lines of a record as it is now. */
export const linesOf = (kind: string, { key, value, change }: LogRecord): string =>
  logLine(kind, '=', key, value) + (change === undefined ? '' : logLine(kind, '~', key, change))

export interface ReadLog {
  /** By kind and key; each kind's in the order in which they were put. */
  readonly records: ReadonlyMap<string, ReadonlyMap<string, LogRecord>>
  /** Bytes of the file, from its start, after which it is torn. */
  readonly goodBytes: number
  readonly damage: LogDamage | undefined
}

/**
 * Reads a log. What a crash tore from its end and lines that are not as they were written are left out.
 * @throws {LogUnreadable} if it is no ticket log, or one of another version.
 */
export function readLog(path: string, bytes: Buffer): ReadLog {
  const records = new Map<string, Map<string, LogRecord>>()
  if (isNew(bytes)) return { records, goodBytes: 0, damage: undefined }
  const headerEnd = bytes.indexOf(NEWLINE) + 1
  const header = bytes.toString('latin1', 0, headerEnd)
  if (header !== LOG_HEADER) throw new LogUnreadable(path, whatIsWrong(header))

  let goodBytes = headerEnd
  let lines = 0
  let bad = 0
  let badBytes = 0
  let firstBad = 0
  for (let start = headerEnd; start < bytes.length;) {
    const end = bytes.indexOf(NEWLINE, start)
    const next = end === -1 ? bytes.length : end + 1
    lines += 1
    if (end !== -1 && apply(records, bytes.subarray(start, end))) {
      goodBytes = next
    } else {
      bad += 1
      badBytes += next - start
      if (firstBad === 0) firstBad = lines + 1
    }
    start = next
  }
  return { records, goodBytes, damage: bad === 0 ? undefined : { line: firstBad, lines: bad, bytes: badBytes } }
}

const NEWLINE = 0x0a

/** Whether nothing was written yet, or a crash came while the header was. */
function isNew(bytes: Buffer): boolean {
  if (bytes.length < LOG_HEADER.length && LOG_HEADER.startsWith(bytes.toString('latin1'))) return true
  return bytes.every((byte) => byte === 0)
}

const whatIsWrong = (header: string) =>
  /^[0-9a-f]{8} \{"ticketLog":/.test(header)
    ? 'was written by another version, in a form that this one does not read: move it away, and its tickets are lost'
    : 'is no ticket log: its first line is not that of one. It is left as it is; check the path'

/** Applies a line. Returns false, and changes nothing, if it is not as it was written. */
function apply(records: Map<string, Map<string, LogRecord>>, line: Buffer): boolean {
  const content = line.subarray(SUM_BYTES)
  if (line.toString('latin1', 0, SUM_BYTES) !== `${sumOf(content)} `) return false
  const text = content.toString('utf8')
  const tab = text.indexOf('\t')
  const [head, kind, op] = /^([a-z-]+?)([=~-])(?=")/.exec(text) ?? []
  if (tab === -1 || head === undefined || kind === undefined) return false
  const key = JSON.parse(text.slice(head.length, tab)) as string
  const ofKind = records.get(kind) ?? new Map<string, LogRecord>()
  records.set(kind, ofKind)
  if (op !== '~') ofKind.delete(key)
  const value = text.slice(tab + 1)
  const before = ofKind.get(key)
  if (op === '=') ofKind.set(key, { key, value })
  // A change of a record whose line was lost tells too little.
  else if (op === '~' && before !== undefined) ofKind.set(key, { ...before, change: value })
  return true
}
