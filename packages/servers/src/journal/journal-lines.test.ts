import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JournalCorrupt } from './journal-errors.js'
import { HEADER, lineOf, readJournal } from './journal-lines.js'

const PATH = '/var/lib/game/servers.ndjson'
const entry = (n: number) => ({ kind: 'settled', matchId: `m${n}` }) as const

/** The batches of a journal, each with whether it was forced onto the disk. */
function journalOf(batches: readonly { readonly count: number; readonly isForced: boolean }[]) {
  let text = HEADER
  let n = 0
  let isForced = true
  /** Bytes that were on the disk before the last batch was written. */
  let safe = text.length
  const ends: number[] = []
  for (const batch of batches) {
    if (isForced) safe = text.length
    for (let index = 0; index < batch.count; index++) {
      text += lineOf(JSON.stringify(entry(n++)), index === 0 && isForced)
      ends.push(text.length)
    }
    isForced = batch.isForced
  }
  return { bytes: Buffer.from(text), ends, safe }
}
const batches = fc.array(fc.record({ count: fc.integer({ min: 1, max: 4 }), isForced: fc.boolean() }), {
  minLength: 1,
  maxLength: 8,
})

test('a journal cut at any byte is read up to its last whole line', () => {
  fc.assert(
    fc.property(batches, fc.double({ min: 0, max: 1, noNaN: true }), (given, share) => {
      const { bytes, ends } = journalOf(given)
      const length = Math.floor(share * bytes.length)
      const { entries, goodBytes, lostBytes } = readJournal(PATH, bytes.subarray(0, length))
      const whole = ends.filter((end) => end <= length).length
      expect(entries).toEqual(Array.from({ length: whole }, (_, n) => entry(n)))
      expect(goodBytes + lostBytes).toBe(length)
    }),
  )
})

test('zeros in the unforced tail, left by a power failure, end the journal at its last whole line', () => {
  fc.assert(
    fc.property(batches, fc.nat(), fc.integer({ min: 1, max: 200 }), (given, at, length) => {
      const { bytes, ends, safe } = journalOf(given)
      const from = safe + (at % Math.max(1, bytes.length - safe))
      const to = Math.min(bytes.length, from + length)
      bytes.fill(0, from, to)
      const starts = [HEADER.length, ...ends]
      const whole = ends.flatMap((end, n) => (end <= from || (starts[n] as number) >= to ? [entry(n)] : []))
      const { entries, lostBytes } = readJournal(PATH, bytes)
      // If the zeros erased the end of a line, the line after it has no recognizable beginning.
      const touched = ends.findIndex((end) => end >= to)
      const isJoined = to > from && ends.includes(to) && touched + 1 < ends.length
      expect(entries).toEqual(isJoined ? whole.filter(({ matchId }) => matchId !== `m${touched + 1}`) : whole)
      expect(lostBytes > 0).toBe(to > from)
    }),
  )
})

test('zeros before a forced line, and a changed byte before the last line, make it corrupt', () => {
  fc.assert(
    fc.property(batches, fc.nat(), fc.integer({ min: 0, max: 255 }), (given, at, value) => {
      const { bytes, ends, safe } = journalOf(given)
      const index = at % bytes.length
      const before = bytes[index]
      fc.pre(value !== before)
      bytes[index] = value
      const read = () => readJournal(PATH, bytes)
      const lastStart = ends.at(-2) ?? HEADER.length
      const isEnd = index >= lastStart || (index === lastStart - 1 && ends.length > 1)
      if (isEnd || (value === 0 && index >= safe)) expect(read().lostBytes).toBeGreaterThan(0)
      else expect(read).toThrow(JournalCorrupt)
    }),
    { numRuns: 500 },
  )
})

test.each([
  ['nothing', Buffer.alloc(0)],
  ['zeros', Buffer.alloc(4096)],
  ['a header that was being written', Buffer.from(HEADER.slice(0, 20))],
])('%s is an empty journal', (_, bytes) => {
  expect(readJournal(PATH, bytes)).toEqual({ entries: [], goodBytes: 0, lostBytes: bytes.length })
})
