/** The form of a journal in a file: one entry per line, `checksum JSON`. No I/O. */
import { crc32 } from 'node:zlib'
import { JournalCorrupt } from './journal-errors.js'
import type { JournalEntry } from './journal.js'

const sumOf = (json: string) => crc32(json).toString(16).padStart(8, '0')

export function lineOf(entry: JournalEntry): string {
  const json = JSON.stringify(entry)
  return `${sumOf(json)} ${json}\n`
}

export interface ReadJournal {
  readonly entries: readonly JournalEntry[]
  /** What comes after so many bytes was never written to its end. */
  readonly goodBytes: number
}

/**
 * Reads what was written, up to the line that a crash tore.
 * @throws {JournalCorrupt} where a line is not as it was written, and a later one is.
 */
export function readLines(bytes: Buffer): ReadJournal {
  const entries: JournalEntry[] = []
  let goodBytes = 0
  let torn: number | undefined
  let line = 0
  for (let start = 0; start < bytes.length; ) {
    line += 1
    const end = bytes.indexOf('\n', start)
    const entry = end === -1 ? undefined : entryOf(bytes.toString('utf8', start, end))
    if (entry === undefined) torn ??= line
    else if (torn !== undefined) throw new JournalCorrupt(torn)
    else entries.push(entry)
    start = end === -1 ? bytes.length : end + 1
    if (torn === undefined) goodBytes = start
  }
  return { entries, goodBytes }
}

function entryOf(line: string): JournalEntry | undefined {
  const json = line.slice(9)
  if (line[8] !== ' ' || line.slice(0, 8) !== sumOf(json)) return undefined
  // The sum is right: this is what `lineOf` wrote.
  return JSON.parse(json) as JournalEntry
}
