/**
 * Reads journals of version 2, which were a file of their own: a header, then one entry per line as `checksum JSON`. A
 * `!` in place of the space means that all lines before it were on the disk when the line was written. No I/O.
 */
import { crc32 } from 'node:zlib'
import { StoreCorrupt } from '../errors.js'
import type { ReadStore, StoreRecord } from '../store/store-format.js'
import { applyEntry, type JournalEntry, type OpenIntent } from './journal.js'

const sumOf = (marked: string) => crc32(marked).toString(16).padStart(8, '0')
const HEADER_TEXT = ` ${JSON.stringify({ journal: 'muster', version: 2 })}`

/** The first line of every journal of version 2. */
export const VERSION_2_HEADER = `${sumOf(HEADER_TEXT)}${HEADER_TEXT}\n`

/**
 * The records of a journal of version 2. Undefined if the file is something else.
 * @param kind of the records.
 * @throws {StoreCorrupt} if no crash explains the damage to it.
 */
export function readVersion2(kind: string, path: string, bytes: Buffer): ReadStore | undefined {
  const text = bytes.toString('latin1', 0, VERSION_2_HEADER.length)
  const isBegun = text.length < VERSION_2_HEADER.length && VERSION_2_HEADER.startsWith(text)
  if (text !== VERSION_2_HEADER && !isBegun) return undefined
  const open = new Map<string, OpenIntent>()
  let [line, bad, badBytes, firstBad, unexplained] = [1, 0, 0, 0, 0]
  for (let start = isBegun ? bytes.length : VERSION_2_HEADER.length; start < bytes.length;) {
    const end = bytes.indexOf('\n', start)
    const next = end === -1 ? bytes.length : end + 1
    const marked = end === -1 ? undefined : contentOf(bytes.toString('utf8', start, end))
    line += 1
    if (marked === undefined) {
      bad += 1
      badBytes += next - start
      if (firstBad === 0) firstBad = line
      if (unexplained === 0 && !bytes.subarray(start, next).includes(0)) unexplained = line
    } else {
      const wrong = marked.startsWith('!') ? firstBad : unexplained
      if (wrong > 0) {
        const what = `is damaged: line ${wrong} is not as it was written, and others after it are`
        throw new StoreCorrupt(`The journal ${path} ${what}`, path, firstBad)
      }
      applyEntry(open, JSON.parse(marked.slice(1)) as JournalEntry)
    }
    start = next
  }
  if (isBegun) [firstBad, bad, badBytes] = [1, 1, bytes.length]
  const records = Array.from(open, ([key, state]): [string, StoreRecord] => {
    const { matchId, queue, tag, ticketIds, playerIds, at, resumption, ...change } = state
    const intent = { matchId, queue, tag, ticketIds, playerIds, at, resumption, assigned: false }
    return [key, { key, value: JSON.stringify(intent), change: JSON.stringify(change) }]
  })
  return {
    records: new Map([[kind, new Map(records)]]),
    goodBytes: bytes.length - badBytes,
    damage: bad === 0 ? undefined : { line: firstBad, lines: bad, bytes: badBytes },
    isStale: true,
  }
}

/** The mark and JSON of a line; undefined for a damaged one. */
function contentOf(text: string): string | undefined {
  const marked = text.slice(8)
  return (marked[0] === ' ' || marked[0] === '!') && text.slice(0, 8) === sumOf(marked) ? marked : undefined
}
