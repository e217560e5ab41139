import { createManualClock } from '@muster/core/clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fleetOf, type HostingEntry } from './entries.js'
import { createMemoryServerLog, type ServerLog } from './server-log.js'
import { ServerLogWriter } from './server-log-writer.js'

const server = (serverId: string): HostingEntry => ({ kind: 'server', serverId, queue: 'duel', tag: serverId, at: 1 })
const match = (matchId: string): HostingEntry => ({
  kind: 'match',
  matchId,
  queue: 'duel',
  ticketIds: [],
  playerIds: [],
  at: 1,
})
const after = (serverId: string, kind: 'sent' | 'created' | 'up' | 'dropped' | 'gone', n = 0): HostingEntry => {
  switch (kind) {
    case 'sent':
      return { kind, serverId, at: n }
    case 'created':
      return { kind, serverId, requestId: `r${n}` }
    default:
      return { kind, serverId }
  }
}
const players = (matchId: string, n: number): HostingEntry => ({ kind: 'players', matchId, playerIds: [`p${n}`] })
const over = (matchId: string): HostingEntry => ({ kind: 'over', matchId })
const idOf = (entry: HostingEntry) => ('matchId' in entry ? entry.matchId : entry.serverId)
/** Returns the ids and kinds of entries that were appended together, as one string. */
const textOf = (entries: readonly HostingEntry[]) => entries.map((one) => `${idOf(one)}:${one.kind}`).join('+')

/** Creates a writer for a store on a disk that may be full or slow. */
function setUp({ slowMs }: { readonly slowMs?: () => number } = {}) {
  const clock = createManualClock()
  const memory = createMemoryServerLog()
  const written: string[] = []
  const disk = { full: false }
  const serverLog: ServerLog = {
    open: () => memory.open(),
    append: (entries) => {
      const write = () => {
        if (disk.full) throw new Error('no space left')
        written.push(textOf(entries))
        void memory.append(entries)
      }
      return slowMs === undefined ? write() : clock.sleep(slowMs()).then(write)
    },
  }
  const problems: string[] = []
  const writer = new ServerLogWriter(serverLog, clock, (_, id) => problems.push(id))
  return { clock, memory, written, disk, problems, writer }
}

test('a synchronously written log entry takes no turn of the event loop', () => {
  const { writer, written } = setUp()
  expect(writer.append(server('a'))).toBeUndefined()
  expect(writer.note(after('a', 'created'))).toBeUndefined()
  expect(written).toEqual(['a:server', 'a:created'])
})

test('a log entry that could not be written is written at the next append, before later ones', async () => {
  const { writer, written, disk, problems } = setUp()
  void writer.append(server('a'))
  disk.full = true
  let told = ''
  void writer.note(after('a', 'created'))?.then(() => (told += 'created '))
  void writer.note(after('a', 'up'))?.then(() => (told += 'up '))
  await writer.flush()
  expect({ isBehind: writer.isBehind(), told }).toEqual({ isBehind: true, told: '' })
  expect(problems).toEqual(['a', 'a'])
  await expect(writer.append(server('b'))).rejects.toThrow('no space')
  disk.full = false
  void writer.append(server('c'))
  await writer.flush()
  expect(written).toEqual(['a:server', 'c:server', 'a:created', 'a:up'])
  expect({ isBehind: writer.isBehind(), told }).toEqual({ isBehind: false, told: 'created up ' })
})

test('log entries that could not be written are retried without a new append, one entry per attempt', async () => {
  const { writer, written, disk, problems, clock } = setUp()
  for (const id of ['a', 'b', 'c']) void writer.append(server(id))
  disk.full = true
  for (const id of ['a', 'b', 'c']) void writer.note(after(id, 'created'))
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

test('append() rejects for good while an earlier entry of the same server could not be written', async () => {
  const { writer, written, disk } = setUp()
  void writer.append(server('a'))
  disk.full = true
  void writer.note(after('a', 'created'))
  await writer.flush()
  await expect(writer.append(server('a'))).rejects.toThrow('earlier entry')
  disk.full = false
  await writer.flush()
  expect(written).toEqual(['a:server', 'a:created'])
})

test('of log entries that wait for a full disk, a match keeps only its latest players or its end', async () => {
  const { writer, written, disk } = setUp()
  for (const id of ['a', 'b']) void writer.append(match(id), server(id))
  disk.full = true
  const told: unknown[] = []
  for (let n = 0; n <= 100; n++) void writer.note(players('a', n))?.then(() => told.push(n))
  void writer.note(after('b', 'created'))
  void writer.note(after('b', 'up'))?.then(() => told.push('up'))
  void writer.note(after('b', 'gone'))
  await writer.flush()
  disk.full = false
  await writer.flush()
  expect(written.slice(2).toSorted()).toEqual(['a:players', 'a:players', 'b:created', 'b:gone'])
  expect(told).toHaveLength(102)
})

test('a store that hangs does not block the close of the server log without end', async () => {
  const { clock, memory } = setUp()
  const serverLog: ServerLog = { open: () => memory.open(), append: () => new Promise(() => {}), close: () => {} }
  const writer = new ServerLogWriter(serverLog, clock, () => {})
  void writer.note(after('a', 'created'))
  await expect(clock.until(writer.close())).rejects.toThrow('within 5000 ms')
  expect(clock.sleepers).toBe(0)
})

test('the store is closed after the last log entry, and a failure to close is reported', async () => {
  const { clock, memory } = setUp()
  const order: string[] = []
  const append = async (entries: readonly HostingEntry[]) => {
    await clock.sleep(100)
    order.push(...entries.map(({ kind }) => kind))
  }
  const close = () => {
    order.push('close')
    throw new Error('no such disk')
  }
  const writer = new ServerLogWriter({ open: () => memory.open(), append, close }, clock, () => {})
  void writer.note(after('a', 'created'))
  await expect(clock.until(writer.close())).rejects.toThrow('no such disk')
  expect(order).toEqual(['created', 'close'])
})

test('log entries of one append are written together, after earlier entries of the same records', async () => {
  const { writer, written, disk } = setUp()
  void writer.append(server('s'))
  void writer.append(match('m'))
  disk.full = true
  void writer.note(after('s', 'created'))
  void writer.note(players('m', 1))
  void writer.note(after('s', 'up'), { kind: 'playing', matchId: 'm', at: 1 })
  void writer.note(players('m', 2))
  // The whole transaction is written, although a later entry makes a part of it obsolete.
  void writer.note(over('m'))
  await writer.flush()
  disk.full = false
  await writer.flush()
  expect(written.slice(2)).toEqual(['s:created', 'm:players', 's:up+m:playing', 'm:over'])
})

test('property: despite write failures the store ends with all accepted entries, as without failures', async () => {
  const ids = fc.constantFrom('a', 'b', 'c')
  const kept = fc.oneof(
    fc.tuple(ids, fc.constantFrom('created', 'up', 'dropped'), fc.nat()).map(([id, kind, n]) => [after(id, kind, n)]),
    fc.tuple(ids, fc.nat()).map(([id, n]) => [players(id, n)]),
    fc
      .tuple(ids, ids)
      .map(([id, other]): HostingEntry[] => [after(id, 'up'), { kind: 'playing', matchId: other, at: 1 }]),
    fc.tuple(ids, ids).map(([id, other]) => [after(id, 'dropped'), over(other)]),
    ids.map((id) => [after(id, 'gone')]),
  )
  const first = fc.oneof(
    fc.tuple(ids, ids).map(([id, other]) => [match(id), server(other)]),
    fc.tuple(ids, ids).map(([id, serverId]): HostingEntry[] => [
      { kind: 'claimed', matchId: id, serverId },
      { kind: 'served', serverId, matches: 1 },
    ]),
    ids.map((id) => [after(id, 'sent')]),
  )
  const step = fc.record({
    what: fc.oneof(
      { weight: 1, arbitrary: first.map((entries) => ({ entries, isKept: false })) },
      { weight: 3, arbitrary: kept.map((entries) => ({ entries, isKept: true })) },
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
        const begun = ['a', 'b'].map((id) => [match(id), server(id)])
        for (const entries of begun) void writer.append(...entries)
        const said: (readonly HostingEntry[])[] = [...begun]
        await clock.advance(50)
        for (const { what, full, waitMs } of steps) {
          disk.full = full
          const { entries, isKept } = what
          said.push(entries)
          if (isKept) void writer.note(...entries)
          else writer.append(...entries)?.catch(() => void said.splice(said.indexOf(entries), 1))
          writer.advance(clock.now())
          await clock.advance(waitMs)
        }
        disk.full = false
        await clock.until(writer.flush())
        expect(writer.isBehind()).toBe(false)
        const perfect = createMemoryServerLog()
        for (const entries of said) void perfect.append(entries)
        const sorted = async (serverLog: ServerLog) => {
          const { servers, matches } = await serverLog.open()
          return [...servers, ...matches].map((one) => JSON.stringify(one, Object.keys(one).toSorted())).toSorted()
        }
        expect(await sorted(memory)).toEqual(await sorted(perfect))
      },
    ),
    { numRuns: 300 },
  )
})

test.each([0, 10])(
  'entries that are noted during an append are written after it (the write takes %i ms)',
  async (slowMs) => {
    const clock = createManualClock()
    const written: string[] = []
    const noted: Promise<void>[] = []
    const serverLog: ServerLog = {
      open: () => fleetOf([]),
      append: (entries) => {
        if (entries.some(({ kind }) => kind === 'up')) {
          void writer.note(players('a', 1))
          void writer.note(after('a', 'dropped'), over('a'))
          void writer.note(after('a', 'gone'))
          void writer.note(server('b'))
          noted.push(writer.append({ kind: 'sent', serverId: 'a', at: 1 }) ?? Promise.resolve())
        }
        const write = () => void written.push(textOf(entries))
        return slowMs === 0 ? write() : clock.sleep(slowMs).then(write)
      },
    }
    const writer = new ServerLogWriter(serverLog, clock, () => {})
    void writer.note(after('a', 'up'), { kind: 'playing', matchId: 'a', at: 1 })
    await clock.advance(200)
    await Promise.all(noted)
    const expected = ['a:up+a:playing', 'a:players', 'a:dropped+a:over', 'a:gone', 'a:sent']
    expect(written.filter((entry) => entry.startsWith('a'))).toEqual(expected)
    expect(written).toContain('b:server')
    expect(written.at(-1)).toBe('a:sent')
    expect(writer.isBehind()).toBe(false)
  },
)

test('a long backlog of log entries of one server is processed without recursion, each entry once', async () => {
  const { writer, written, disk } = setUp()
  void writer.append(match('a'), server('b'))
  disk.full = true
  for (let n = 0; n < 20_000; n += 1) void writer.note(after('b', 'created', n))
  // Each transaction waits for two others, both of which wait for the same earlier one.
  for (let n = 0; n < 40; n += 1) {
    void writer.note(after('b', 'created', n))
    void writer.note(players('a', n), players('a', n))
    void writer.note(after('b', 'created', n), players('a', n))
  }
  await writer.flush()
  await expect(writer.append({ kind: 'sent', serverId: 'b', at: 1 })).rejects.toThrow('earlier entry')
  await expect(writer.written('b')).rejects.toThrow('failed')
  expect(written).toEqual(['a:match+b:server'])
})

test('a log entry that can never be written blocks only entries of the same record, not the close', async () => {
  const { clock, memory } = setUp()
  const written: string[] = []
  let isClosed = false
  const serverLog: ServerLog = {
    open: () => memory.open(),
    append: (entries) => {
      if (entries.some((one) => one.kind === 'created' && one.serverId === 'bad')) throw new Error('too large')
      written.push(textOf(entries))
    },
    close: () => void (isClosed = true),
  }
  const writer = new ServerLogWriter(serverLog, clock, () => {})
  for (const id of ['bad', 'near', 'far']) void writer.append(match(id), server(id))
  void writer.note(after('bad', 'created'))
  void writer.note(after('bad', 'dropped'), over('near'))
  await clock.advance(0)
  await expect(writer.append({ kind: 'sent', serverId: 'bad', at: 1 })).rejects.toThrow('earlier entry')
  await expect(writer.append(match('near'))).rejects.toThrow('earlier entry')
  expect(writer.append({ kind: 'sent', serverId: 'near', at: 1 })).toBeUndefined()
  for (let n = 0; n < 3; n += 1) {
    expect(writer.note(players('far', n))).toBeUndefined()
    await clock.advance(2000)
    writer.advance(clock.now())
  }
  const before = clock.now()
  await clock.until(writer.close())
  expect({ isClosed, tookMs: clock.now() - before }).toEqual({ isClosed: true, tookMs: 0 })
  expect(written.slice(3)).toEqual(['near:sent', 'far:players', 'far:players', 'far:players'])
})
