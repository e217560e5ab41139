import { createManualClock } from '@muster/core/clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ServerEntry } from './server-log.js'
import { createMemoryServerLog, type ServerLog } from './server-log.js'
import { createServerLogWriter } from './server-log-writer.js'

const intent = (matchId: string): ServerEntry => ({
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
): ServerEntry => {
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

/** A store on a disk that may be full or slow. */
function setUp({ slowMs }: { readonly slowMs?: () => number } = {}) {
  const clock = createManualClock()
  const memory = createMemoryServerLog()
  const written: string[] = []
  const disk = { full: false }
  const serverLog: ServerLog = {
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
  const writer = createServerLogWriter(serverLog, clock, (_, matchId) => problems.push(matchId))
  return { clock, memory, written, disk, problems, writer }
}

test('a note that is written synchronously takes no turn of the event loop', () => {
  const { writer, written } = setUp()
  expect(writer.append(intent('a'))).toBeUndefined()
  expect(writer.note(after('a', 'created'))).toBeUndefined()
  expect(written).toEqual(['a:intent', 'a:created'])
})

test('a failed note is kept with the later ones of its match, and written with the next good append', async () => {
  const { writer, written, disk, problems } = setUp()
  void writer.append(intent('a'))
  disk.full = true
  let told = ''
  void writer.note(after('a', 'created'))?.then(() => (told += 'created '))
  void writer.note(after('a', 'assigned'))?.then(() => (told += 'assigned '))
  await writer.flush()
  expect({ isBehind: writer.isBehind(), told }).toEqual({ isBehind: true, told: '' })
  expect(problems).toEqual(['a', 'a'])
  await expect(writer.append(intent('b'))).rejects.toThrow('no space')
  disk.full = false
  void writer.append(intent('c'))
  await writer.flush()
  expect(written).toEqual(['a:intent', 'c:intent', 'a:created', 'a:assigned'])
  expect({ isBehind: writer.isBehind(), told }).toEqual({ isBehind: false, told: 'created assigned ' })
})

test('kept entries are also retried by themselves, one entry per attempt', async () => {
  const { writer, written, disk, problems, clock } = setUp()
  for (const matchId of ['a', 'b', 'c']) void writer.append(intent(matchId))
  disk.full = true
  for (const matchId of ['a', 'b', 'c']) void writer.note(after(matchId, 'created'))
  await clock.advance(0)
  expect(problems).toHaveLength(3)
  for (let passed = 0; passed < 20_000; passed += 100) {
    writer.advance(clock.now())
    await clock.advance(100)
  }
  expect(problems).toHaveLength(3 + 19)
  disk.full = false
  for (let passed = 0; passed < 1000; passed += 100) {
    writer.advance(clock.now())
    await clock.advance(100)
  }
  expect(written.slice(3).toSorted()).toEqual(['a:created', 'b:created', 'c:created'])
  expect(writer.isBehind()).toBe(false)
})

test('an entry that must precede its action is refused behind a failed one, and is not written later', async () => {
  const { writer, written, disk } = setUp()
  void writer.append(intent('a'))
  disk.full = true
  void writer.note(after('a', 'created'))
  await writer.flush()
  await expect(writer.append(intent('a'))).rejects.toThrow('earlier entry')
  disk.full = false
  await writer.flush()
  expect(written).toEqual(['a:intent', 'a:created'])
})

test('of the kept entries only the latest list of players remains, and the end of an ended match', async () => {
  const { writer, written, disk } = setUp()
  for (const matchId of ['a', 'b']) void writer.append(intent(matchId))
  disk.full = true
  const told: unknown[] = []
  for (const matchId of ['a', 'b']) void writer.note(after(matchId, 'created'))
  for (let n = 0; n < 100; n++) void writer.note(after('a', 'players', n))?.then(() => told.push(n))
  void writer.note(after('b', 'assigned'))?.then(() => told.push('assigned'))
  void writer.note(after('b', 'settled'))
  await writer.flush()
  disk.full = false
  await writer.flush()
  expect(written.slice(2).toSorted()).toEqual(['a:created', 'a:players', 'b:created', 'b:settled'])
  expect(told).toHaveLength(101)
})

test('a store that hangs does not block closing for ever', async () => {
  const { clock, memory } = setUp()
  const serverLog: ServerLog = { open: () => memory.open(), append: () => new Promise(() => {}), close: () => {} }
  const writer = createServerLogWriter(serverLog, clock, () => {})
  void writer.note(after('a', 'created'))
  await expect(clock.until(writer.close())).rejects.toThrow('within 5000 ms')
  expect(clock.sleepers).toBe(0)
})

test('the store is closed after the last entry, and a failure of that is reported', async () => {
  const { clock, memory } = setUp()
  const order: string[] = []
  const append = async ({ kind }: ServerEntry) => {
    await clock.sleep(100)
    order.push(kind)
  }
  const close = () => {
    order.push('close')
    throw new Error('no such disk')
  }
  const writer = createServerLogWriter({ open: () => memory.open(), append, close }, clock, () => {})
  void writer.note(after('a', 'created'))
  await expect(clock.until(writer.close())).rejects.toThrow('no such disk')
  expect(order).toEqual(['created', 'close'])
})

test('under any failures the store ends like one without failures, except refused entries', async () => {
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
        const { writer, memory, disk, clock } = setUp({ slowMs: () => delays.next().value })
        const said = new Map<string, ServerEntry[]>()
        for (const matchId of ['a', 'b']) {
          said.set(matchId, [intent(matchId)])
          void writer.append(intent(matchId))
        }
        await clock.advance(50)
        for (const [n, { matchId, kind, full, waitMs }] of steps.entries()) {
          disk.full = full
          const entry = kind === 'intent' ? intent(matchId) : after(matchId, kind, n)
          const entries = said.get(matchId) ?? []
          said.set(matchId, entries)
          entries.push(entry)
          const isKept = kind !== 'intent' && kind !== 'sent'
          if (isKept) void writer.note(entry)
          else writer.append(entry)?.catch(() => void entries.splice(entries.indexOf(entry), 1))
          writer.advance(clock.now())
          await clock.advance(waitMs)
        }
        disk.full = false
        await clock.until(writer.flush())
        expect(writer.isBehind()).toBe(false)
        const perfect = createMemoryServerLog()
        for (const entries of said.values()) for (const entry of entries) void perfect.append(entry)
        const sorted = async (serverLog: ServerLog) =>
          [...(await serverLog.open())].toSorted((one, other) => one.matchId.localeCompare(other.matchId))
        expect(await sorted(memory)).toEqual(await sorted(perfect))
      },
    ),
    { numRuns: 300 },
  )
})

test.each([0, 10])('entries caused by the store during an append follow that entry (in %i ms)', async (slowMs) => {
  const clock = createManualClock()
  const written: string[] = []
  const noted: Promise<void>[] = []
  const serverLog: ServerLog = {
    open: () => [],
    append: ({ kind, matchId }) => {
      if (kind === 'assigned') {
        for (const caused of ['players', 'dropped', 'settled'] as const) void writer.note(after('a', caused, 1))
        void writer.note(intent('b'))
        noted.push(writer.append({ kind: 'sent', matchId: 'a', at: 1 }) ?? Promise.resolve())
      }
      const write = () => void written.push(`${matchId}:${kind}`)
      return slowMs === 0 ? write() : clock.sleep(slowMs).then(write)
    },
  }
  const writer = createServerLogWriter(serverLog, clock, () => {})
  void writer.note(after('a', 'assigned'))
  await clock.advance(200)
  await Promise.all(noted)
  const kinds = ['a:assigned', 'a:players', 'a:settled', 'a:sent']
  expect(written.filter((entry) => entry.startsWith('a'))).toEqual(kinds.filter((kind) => written.includes(kind)))
  expect(written).toContain('b:intent')
  expect(written.at(-1)).toBe('a:sent')
  expect(writer.isBehind()).toBe(false)
})
