import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { StoreCorrupt } from '../errors.js'
import * as version2 from './journal-version-2.fixture.js'
import { FORCED_LINE, HEADER, HEADER_OF_3, lineOf, lineOfAll, readStore } from './store-format.js'

const PATH = '/var/lib/game/muster.store'

/**
 * A file format: its header, the line of the nth match, and the line that marks all earlier lines as being on the disk.
 */
interface Format {
  readonly header: string
  readonly line: (n: number, isAfterForced: boolean) => string
}

const formats: Readonly<Record<string, Format>> = {
  'a store': {
    header: HEADER,
    line: (n, isAfterForced) => (isAfterForced ? FORCED_LINE : '') + lineOf('server', '=', `m${n}`, '{}'),
  },
  'a store of version 3': {
    header: HEADER_OF_3,
    line: (n, isAfterForced) =>
      (isAfterForced ? FORCED_LINE : '') +
      lineOf('server', '=', `m${n}`, JSON.stringify({ matchId: `m${n}`, ticketIds: [], sentAt: 1 })),
  },
  'a store, with a server and a match in each line': {
    header: HEADER,
    line: (n, isAfterForced) =>
      (isAfterForced ? FORCED_LINE : '') +
      lineOfAll([
        { kind: 'match', key: `m${n}`, value: '{}', change: '{"a":1}' },
        { kind: 'server', key: `m${n}`, value: '{}' },
      ]),
  },
  'a journal of version 2': {
    header: version2.HEADER,
    line: (n, isAfterForced) =>
      version2.lineOf(JSON.stringify({ kind: 'intent', matchId: `m${n}`, playerIds: [] }), isAfterForced),
  },
}

const batches = fc.array(fc.record({ count: fc.integer({ min: 1, max: 4 }), isForced: fc.boolean() }), {
  minLength: 1,
  maxLength: 8,
})

describe.each(Object.entries(formats))('the file of %s', (_, { header, line }) => {
  const read = (bytes: Buffer) => readStore(PATH, bytes)

  /** Creates a file that was written in batches. `isForced`: the batch was forced onto the disk. */
  function fileOf(given: readonly { readonly count: number; readonly isForced: boolean }[]) {
    let text = header
    let n = 0
    let isForced = true
    /** Number of bytes that were on the disk before the last batch was written. */
    let safe = text.length
    const ends: number[] = []
    for (const batch of given) {
      if (isForced) safe = text.length
      for (let index = 0; index < batch.count; index++) {
        text += line(n++, index === 0 && isForced)
        ends.push(text.length)
      }
      isForced = batch.isForced
    }
    return { bytes: Buffer.from(text), ends, safe }
  }
  const keysIn = (bytes: Buffer) => [...(read(bytes).records.get('server')?.keys() ?? [])]

  test('a log file cut at any byte is read up to its last whole line', () => {
    fc.assert(
      fc.property(batches, fc.double({ min: 0, max: 1, noNaN: true }), (given, share) => {
        const { bytes, ends } = fileOf(given)
        const length = Math.floor(share * bytes.length)
        const whole = ends.filter((end) => end <= length).length
        const cut = bytes.subarray(0, length)
        expect(keysIn(cut)).toEqual(Array.from({ length: whole }, (__, n) => `m${n}`))
        const { goodBytes, damage } = read(cut)
        expect(goodBytes + (damage?.bytes ?? 0)).toBe(length)
      }),
    )
  })

  test('a log file ends at its last whole line if a power failure left zeros in its unforced tail', () => {
    fc.assert(
      fc.property(batches, fc.nat(), fc.integer({ min: 1, max: 200 }), (given, at, length) => {
        const { bytes, ends, safe } = fileOf(given)
        const from = safe + (at % Math.max(1, bytes.length - safe))
        const to = Math.min(bytes.length, from + length)
        bytes.fill(0, from, to)
        const starts = [header.length, ...ends]
        const whole = ends.flatMap((end, n) => (end <= from || (starts[n] as number) >= to ? [`m${n}`] : []))
        // If the zeros erase a line feed, the next line has no recognizable beginning. They may also hit only the line
        // that marks earlier lines as being on the disk.
        const touched = ends.findIndex((end) => end >= to)
        const isJoined = to > from && ends.includes(to) && touched + 1 < ends.length
        const expected = isJoined ? whole.filter((key) => key !== `m${touched + 1}`) : whole
        const found = keysIn(bytes)
        expect(found.filter((key) => expected.includes(key))).toEqual(expected)
        expect(read(bytes).damage?.bytes ?? 0).toBeGreaterThan(to > from ? 0 : -1)
        const damaged = ends.flatMap((end, n) =>
          (starts[n] as number) + line(n, false).length < end || end <= from || (starts[n] as number) >= to
            ? []
            : [`m${n}`],
        )
        expect(found.filter((key) => damaged.includes(key))).toEqual([])
      }),
    )
  })

  test('a log file is corrupt with a changed byte before its last line, or zeros before a forced line', () => {
    fc.assert(
      fc.property(batches, fc.nat(), fc.integer({ min: 0, max: 255 }), (given, at, value) => {
        const { bytes, ends, safe } = fileOf(given)
        const index = at % bytes.length
        fc.pre(value !== bytes[index])
        bytes[index] = value
        const lastStart = bytes.length - line(ends.length - 1, false).length
        const isJoined = index === lastStart - 1 && lastStart > header.length
        if (index >= lastStart || isJoined || (value === 0 && index >= safe))
          expect(read(bytes).damage?.bytes).toBeGreaterThan(0)
        else expect(() => read(bytes)).toThrow(StoreCorrupt)
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    ['no bytes', (): Buffer => Buffer.alloc(0)],
    ['a partially written header', (): Buffer => Buffer.from(header.slice(0, 20))],
  ])('a log file is empty with %s', (__, content) => {
    const bytes = content()
    expect(keysIn(bytes)).toEqual([])
    expect(read(bytes).damage?.bytes ?? 0).toBe(bytes.length)
  })
})

test('a store file of zeros, left by a power failure, counts as empty', () => {
  const { records, damage } = readStore(PATH, Buffer.alloc(4096))
  expect([records.size, damage?.bytes]).toEqual([0, 4096])
})

describe('a damaged line of a log file with further lines after it', () => {
  const lines = ['t1', 't2', 't3'].map((key) => lineOf('ticket', '=', key, '{"a":1}'))
  const [server, last] = ['m1', 'm2'].map((key) => lineOf('server', '=', key, '{}'))
  const whole = Buffer.from(HEADER + [lines[0], lines[1], server, lines[2], last].join(''))

  test('a damaged ticket line in a log file is skipped, for any damaged byte', () => {
    const start = whole.indexOf('"t2"') + 1
    for (let index = start; index < whole.indexOf('\n', start); index += 1) {
      const bytes = Buffer.from(whole)
      bytes[index] = (bytes[index] as number) ^ 1
      const { records, damage } = readStore(PATH, bytes)
      expect([...(records.get('ticket')?.keys() ?? [])]).toEqual(['t1', 't3'])
      expect(damage).toMatchObject({ line: 3, lines: 1 })
    }
  })

  test('a log file with a damaged line that may be of a server is refused, for any damaged byte', () => {
    const start = whole.indexOf(server as string)
    // Without the line feed before it, the server's line is joined to a ticket's line.
    for (let index = start - 1; index < start + (server as string).length; index += 1) {
      const bytes = Buffer.from(whole)
      bytes[index] = (bytes[index] as number) ^ 1
      expect(() => readStore(PATH, bytes)).toThrow(StoreCorrupt)
    }
  })
  test.each(['result', 'secret', 'cooldown', 'pause', 'group', 'backfill'])(
    'a damaged line of a %s in a log file is skipped',
    (kind) => {
      const bytes = Buffer.from(HEADER + lineOf(kind, '=', 'one', '{}') + lineOf('ticket', '=', 't1', '{}'))
      const at = bytes.indexOf('{}')
      bytes[at] = (bytes[at] as number) ^ 1
      const { records, damage } = readStore(PATH, bytes)
      expect([...records.keys()]).toEqual(['ticket'])
      expect(damage).toMatchObject({ line: 2, lines: 1 })
    },
  )
})
