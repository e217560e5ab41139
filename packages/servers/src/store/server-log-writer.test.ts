import { createManualClock } from '@muster/core/clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JournalEntry } from './server-entries.js'
import { createMemoryJournal, type Journal } from './server-log.js'
import { createNotes } from './server-log-writer.js'

const intent = (matchId: string): JournalEntry => ({
  kind: 'intent',
  matchId,
  queue: 'duel',
  tag: matchId,
  ticketIds: [],
  at: 1,
})
const after = (
  matchId: string,
  kind: 'sent' | 'created' | 'assigned' | 'players' | 'dropped' | 'settled',
  n = 0,
): JournalEntry => {
  switch (kind) {
    case 'sent':
      return { kind, matchId, at: n }
    case 'created':
      return { kind, matchId, requestId: `r${n}` }
    case 'players':
      return { kind, matchId, playerIds: [`p${n}`] }
    default:
      return { kind, matchId }
  }
}

/** A journal on a disk that may be full or slow. */
function setUp({ slowMs }: { readonly slowMs?: () => number } = {}) {
  const clock = createManualClock()
  const memory = createMemoryJournal()
  const written: string[] = []
  const disk = { full: false }
  const journal: Journal = {
    open: () => memory.open(),
    append: (entry) => {
      const write = () => {
        if (disk.full) throw new Error('no space left')
        written.push(`${entry.matchId}:${entry.kind}`)
        void memory.append(entry)
      }
      return slowMs === undefined ? write() : clock.sleep(slowMs()).then(write)
    },
  }
  const problems: string[] = []
  const notes = createNotes(journal, clock, (_, matchId) => problems.push(matchId))
  return { clock, memory, written, disk, problems, notes }
}

test('a note that is written synchronously takes no turn of the event loop', () => {
  const { notes, written } = setUp()
  expect(notes.append(intent('a'))).toBeUndefined()
  expect(notes.note(after('a', 'created'))).toBeUndefined()
  expect(written).toEqual(['a:intent', 'a:created'])
})

test('a failed note is kept with the later ones of its match, and written with the next good append', async () => {
  const { notes, written, disk, problems } = setUp()
  void notes.append(intent('a'))
  disk.full = true
  let told = ''
  void notes.note(after('a', 'created'))?.then(() => (told += 'created '))
  void notes.note(after('a', 'assigned'))?.then(() => (told += 'assigned '))
  await notes.flush()
  expect({ isBehind: notes.isBehind(), told }).toEqual({ isBehind: true, told: '' })
  expect(problems).toEqual(['a', 'a'])
  await expect(notes.append(intent('b'))).rejects.toThrow('no space')
  disk.full = false
  void notes.append(intent('c'))
  await notes.flush()
  expect(written).toEqual(['a:intent', 'c:intent', 'a:created', 'a:assigned'])
  expect({ isBehind: notes.isBehind(), told }).toEqual({ isBehind: false, told: 'created assigned ' })
})

test('kept notes are also retried by themselves, one entry per attempt', async () => {
  const { notes, written, disk, problems, clock } = setUp()
  for (const matchId of ['a', 'b', 'c']) void notes.append(intent(matchId))
  disk.full = true
  for (const matchId of ['a', 'b', 'c']) void notes.note(after(matchId, 'created'))
  await clock.advance(0)
  expect(problems).toHaveLength(3)
  for (let passed = 0; passed < 20_000; passed += 100) {
    notes.advance(clock.now())
    await clock.advance(100)
  }
  expect(problems).toHaveLength(3 + 19)
  disk.full = false
  for (let passed = 0; passed < 1000; passed += 100) {
    notes.advance(clock.now())
    await clock.advance(100)
  }
  expect(written.slice(3).toSorted()).toEqual(['a:created', 'b:created', 'c:created'])
  expect(notes.isBehind()).toBe(false)
})

test('an entry that must precede its action is refused behind a failed one, and is not written later', async () => {
  const { notes, written, disk } = setUp()
  void notes.append(intent('a'))
  disk.full = true
  void notes.note(after('a', 'created'))
  await notes.flush()
  await expect(notes.append(intent('a'))).rejects.toThrow('earlier entry')
  disk.full = false
  await notes.flush()
  expect(written).toEqual(['a:intent', 'a:created'])
})

test('of the kept notes only the latest list of players remains, and the end of an ended match', async () => {
  const { notes, written, disk } = setUp()
  for (const matchId of ['a', 'b']) void notes.append(intent(matchId))
  disk.full = true
  const told: unknown[] = []
  for (const matchId of ['a', 'b']) void notes.note(after(matchId, 'created'))
  for (let n = 0; n < 100; n++) void notes.note(after('a', 'players', n))?.then(() => told.push(n))
  void notes.note(after('b', 'assigned'))?.then(() => told.push('assigned'))
  void notes.note(after('b', 'settled'))
  await notes.flush()
  disk.full = false
  await notes.flush()
  expect(written.slice(2).toSorted()).toEqual(['a:created', 'a:players', 'b:created', 'b:settled'])
  expect(told).toHaveLength(101)
})

test('a journal that hangs does not block closing for ever', async () => {
  const { clock, memory } = setUp()
  const journal: Journal = { open: () => memory.open(), append: () => new Promise(() => {}), close: () => {} }
  const notes = createNotes(journal, clock, () => {})
  void notes.note(after('a', 'created'))
  await expect(clock.until(notes.close())).rejects.toThrow('within 5000 ms')
  expect(clock.sleepers).toBe(0)
})

test('the journal is closed after the last entry, and a failure of that is reported', async () => {
  const { clock, memory } = setUp()
  const order: string[] = []
  const append = async ({ kind }: JournalEntry) => {
    await clock.sleep(100)
    order.push(kind)
  }
  const close = () => {
    order.push('close')
    throw new Error('no such disk')
  }
  const notes = createNotes({ open: () => memory.open(), append, close }, clock, () => {})
  void notes.note(after('a', 'created'))
  await expect(clock.until(notes.close())).rejects.toThrow('no such disk')
  expect(order).toEqual(['created', 'close'])
})

test('under any failures the journal ends like one without failures, except refused entries', async () => {
  const step = fc.record({
    matchId: fc.constantFrom('a', 'b', 'c'),
    kind: fc.oneof(
      { weight: 1, arbitrary: fc.constantFrom('intent', 'sent', 'settled') },
      { weight: 4, arbitrary: fc.constantFrom('created', 'assigned', 'players', 'dropped') },
    ),
    full: fc.boolean(),
    waitMs: fc.constantFrom(0, 0, 5, 30, 600),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 30 }),
      fc.infiniteStream(fc.nat({ max: 20 })),
      async (steps, delays) => {
        const { notes, memory, disk, clock } = setUp({ slowMs: () => delays.next().value })
        const said = new Map<string, JournalEntry[]>()
        for (const matchId of ['a', 'b']) {
          said.set(matchId, [intent(matchId)])
          void notes.append(intent(matchId))
        }
        await clock.advance(50)
        for (const [n, { matchId, kind, full, waitMs }] of steps.entries()) {
          disk.full = full
          const entry = kind === 'intent' ? intent(matchId) : after(matchId, kind, n)
          const entries = said.get(matchId) ?? []
          said.set(matchId, entries)
          entries.push(entry)
          const isKept = kind !== 'intent' && kind !== 'sent'
          if (isKept) void notes.note(entry)
          else notes.append(entry)?.catch(() => void entries.splice(entries.indexOf(entry), 1))
          notes.advance(clock.now())
          await clock.advance(waitMs)
        }
        disk.full = false
        await clock.until(notes.flush())
        expect(notes.isBehind()).toBe(false)
        const perfect = createMemoryJournal()
        for (const entries of said.values()) for (const entry of entries) void perfect.append(entry)
        const sorted = async (journal: Journal) =>
          [...(await journal.open())].toSorted((one, other) => one.matchId.localeCompare(other.matchId))
        expect(await sorted(memory)).toEqual(await sorted(perfect))
      },
    ),
    { numRuns: 300 },
  )
})

test.each([0, 10])('entries caused by the journal during an append follow that entry (in %i ms)', async (slowMs) => {
  const clock = createManualClock()
  const written: string[] = []
  const noted: Promise<void>[] = []
  const journal: Journal = {
    open: () => [],
    append: ({ kind, matchId }) => {
      if (kind === 'assigned') {
        for (const caused of ['players', 'dropped', 'settled'] as const) void notes.note(after('a', caused, 1))
        void notes.note(intent('b'))
        noted.push(notes.append({ kind: 'sent', matchId: 'a', at: 1 }) ?? Promise.resolve())
      }
      const write = () => void written.push(`${matchId}:${kind}`)
      return slowMs === 0 ? write() : clock.sleep(slowMs).then(write)
    },
  }
  const notes = createNotes(journal, clock, () => {})
  void notes.note(after('a', 'assigned'))
  await clock.advance(200)
  await Promise.all(noted)
  const kinds = ['a:assigned', 'a:players', 'a:settled', 'a:sent']
  expect(written.filter((entry) => entry.startsWith('a'))).toEqual(kinds.filter((kind) => written.includes(kind)))
  expect(written).toContain('b:intent')
  expect(written.at(-1)).toBe('a:sent')
  expect(notes.isBehind()).toBe(false)
})
