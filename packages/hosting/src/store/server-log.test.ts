/** Servers in a store: after any crash, they are what whole lines say. */
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createManualClock } from '@muster/core/clock'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { StoreCorrupt, StoreLocked } from '../errors.js'
import { openStore, type StoreOptions } from './file-store.js'
import { HEADER, lineOf } from './journal-version-2.fixture.js'
import { afterEntries, fleetOf, type HostingEntry, type HostingRecord, putChanged } from './entries.js'
import { createServerLog } from './server-log.js'

const folder = mkdtempSync(join(tmpdir(), 'muster-servers-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
const newPath = () => join(folder, `store-${files++}`)

const ofServer = (serverId: string) => ({
  kind: 'server' as const,
  serverId,
  queue: 'duel',
  tag: `match-${serverId}`,
  at: 1,
  bornFor: serverId,
})
const ofMatch = (matchId: string) => ({
  kind: 'match' as const,
  matchId,
  queue: 'duel',
  ticketIds: ['t1', 't2'],
  playerIds: ['ann', 'Bjørn\n'],
  at: 1,
  serverId: matchId,
})
const intent = (id: string): readonly HostingEntry[] => [ofMatch(id), ofServer(id)]
const assignment = { fqdn: 'a.example.com', publicIp: undefined, ports: {}, location: undefined }
/** What is appended together, in order. */
const lives = (id: string): (readonly HostingEntry[])[] => [
  intent(id),
  [{ kind: 'sent', serverId: id, at: 2 }],
  [{ kind: 'lost', serverId: id, at: 3 }],
  [{ kind: 'created', serverId: id, requestId: `r-${id}` }],
  [
    { kind: 'up', serverId: id, lastsMs: 5000, assignment },
    { kind: 'playing', matchId: id, at: 4 },
  ],
  [{ kind: 'players', matchId: id, playerIds: ['ann'] }],
  [{ kind: 'wanted', serverId: id, session: { session: 's', name: "ann's", attributes: { mode: 'ctf' } } }],
  [{ kind: 'wanted', serverId: id, session: undefined }],
  [
    { kind: 'dropped', serverId: id },
    { kind: 'over', matchId: id },
  ],
  [{ kind: 'gone', serverId: id }],
]
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown

/** The servers and matches after these entries. */
function known(all: readonly (readonly HostingEntry[])[]) {
  const open = new Map<string, HostingRecord>()
  for (const entries of all) putChanged(open, afterEntries(open, entries))
  return plain(fleetOf(open.values()))
}

/** The servers in a store. */
async function openServers(options: StoreOptions) {
  const store = await openStore(options)
  const problems: unknown[] = []
  store.attach({ name: 'test', problem: (error) => void problems.push(error) })
  const servers = createServerLog(store)
  return { store, problems, open: async () => plain(await servers.open()), append: servers.append, close: store.close }
}

async function written(
  path: string,
  entries: readonly (readonly HostingEntry[])[],
  options: Partial<StoreOptions> = {},
) {
  const { append, close } = await openServers({ path, ...options })
  await Promise.all(entries.map((entry) => append(entry)))
  await close()
}

async function opened(path: string) {
  const { open, close } = await openServers({ path, fsync: 'never' })
  const all = await open()
  await close()
  return all
}

test('a further attempt of a server is for the same session and matches, and drains if it did', () => {
  const session = { session: 's', name: "ann's", attributes: {} }
  const server: HostingEntry = { ...ofServer('a'), pool: 'arena', build: 'game/1', bornFor: undefined }
  const wanted: HostingEntry = { kind: 'wanted', serverId: 'a', session }
  const draining: HostingEntry = { kind: 'draining', serverId: 'a' }
  const served: HostingEntry = { kind: 'served', serverId: 'a', matches: 1 }
  const again = known([[server, served], [wanted], [draining], [{ kind: 'sent', serverId: 'a', at: 2 }], [server]])
  expect(again).toMatchObject({ servers: [{ wanted: session, draining: true, matchesServed: 1 }] })
  expect(again).not.toMatchObject({ servers: [{ sentAt: 2 }] })
})

test('entries are there when it is opened again, and only its user may read it', async () => {
  for (const fsync of ['always', 'intents', 'never'] as const) {
    const path = newPath()
    const entries = [...lives('a').slice(0, 4), ...lives('b'), intent('c')]
    await written(path, entries, { fsync })
    expect(await opened(path)).toEqual(known(entries))
    expect(statSync(path).mode & 0o077).toBe(0)
  }
  expect(readdirSync(folder).filter((name) => !/^store-\d+$/.test(name))).toEqual([])
})

/** A journal of version 2, which knew matches alone, each with its own server. */
const whole = (entries: readonly object[]) =>
  Buffer.from(HEADER + entries.map((entry) => lineOf(JSON.stringify(entry))).join(''))

test('torn at any byte, it keeps all whole lines, reports the loss as a problem, and continues', async () => {
  const entries = [
    { kind: 'intent', matchId: 'ø', queue: 'q', tag: 't', ticketIds: [], at: 1 },
    { kind: 'sent', matchId: 'ø', at: 2 },
    { kind: 'assigned', matchId: 'ø' },
  ]
  const server: HostingEntry = { kind: 'server', queue: 'q', tag: 't', at: 1, serverId: 'ø', bornFor: 'ø' }
  const match: HostingEntry = {
    kind: 'match',
    matchId: 'ø',
    queue: 'q',
    ticketIds: [],
    playerIds: [],
    at: 1,
    serverId: 'ø',
  }
  const meant: readonly (readonly HostingEntry[])[] = [
    [server, match],
    [{ kind: 'sent', serverId: 'ø', at: 2 }],
    [
      { kind: 'up', serverId: 'ø' },
      { kind: 'playing', matchId: 'ø', at: 1 },
    ],
  ]
  const bytes = whole(entries)
  const ends = [0, ...[0, 1, 2, 3].map((count) => whole(entries.slice(0, count)).length)]
  const path = newPath()
  for (let length = 0; length <= bytes.length; length++) {
    writeFileSync(path, bytes.subarray(0, length))
    const survived = meant.slice(0, Math.max(0, ends.filter((end) => end <= length).length - 2))
    const { store, problems, append, close } = await openServers({ path, fsync: 'never' })
    const lostBytes = length - (ends.findLast((end) => end <= length) ?? 0)
    await store.advance()
    expect(problems).toMatchObject(lostBytes === 0 ? [] : [{ name: 'StoreTorn', path, bytes: lostBytes }])
    await append(intent('more'))
    await close()
    expect(await opened(path)).toEqual(known([...survived, intent('more')]))
  }
})

test('rubbish at a torn end is cut off too', async () => {
  const path = newPath()
  await written(path, [intent('a')])
  writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.alloc(300), Buffer.from('\n"?')]))
  expect(await opened(path)).toEqual(known([intent('a')]))
})

describe('is not opened and left unchanged, with nothing beside it', () => {
  const cases: readonly (readonly [what: string, content: Buffer, line: number, message: RegExp])[] = [
    [
      'where it is damaged in the middle',
      Buffer.from(
        whole(['a', 'b', 'c'].map((matchId) => ({ kind: 'intent', matchId, tag: `match-${matchId}` })))
          .toString()
          .replace('match-b', 'match-x'),
      ),
      3,
      /line 3/,
    ],
    ['if it is some text', Buffer.from('# Shopping\n- milk\n'), 1, /is another kind of file/],
    ['if it is some text in one line', Buffer.from('milk'), 1, /is another kind of file/],
    ['if it is of an earlier version', Buffer.from('b3a2d8a1 {"kind":"intent","matchId":"a"}\n'), 1, /another version/],
  ]
  test.each(cases)('%s', async (_, content, line, message) => {
    const path = newPath()
    writeFileSync(path, content)
    // A store that failed to open keeps no lock.
    await expect(openServers({ path })).rejects.toThrow(StoreCorrupt)
    await expect(opened(path)).rejects.toMatchObject({ line, path, message: expect.stringContaining(path) as string })
    await expect(opened(path)).rejects.toThrow(message)
    expect(readFileSync(path)).toEqual(content)
    expect(readdirSync(folder).filter((name) => name.startsWith(`${basename(path)}.`))).toEqual([])
  })
})

test('any entries give the same state, however often it is reopened and compacted', async () => {
  const anyEntry = fc
    .tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 0, max: 8 }))
    .map(([id, step]) => lives(id)[step] as readonly HostingEntry[])
  const manyRuns = fc.array(fc.array(anyEntry, { maxLength: 12 }), { maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(manyRuns, fc.constantFrom(1, 400, 1e6), async (runs, compactAtBytes) => {
      const path = newPath()
      for (const entries of runs) await written(path, entries, { fsync: 'never', compactAtBytes })
      expect(await opened(path)).toEqual(known(runs.flat()))
    }),
    { numRuns: 30 },
  )
})

test('is compacted when most of it is over', async () => {
  const path = newPath()
  const clock = createManualClock()
  const { store, append, close } = await openServers({ path, fsync: 'never', compactAtBytes: 20_000, clock })
  await append(intent('stays'))
  let largest = 0
  for (let index = 0; index < 300; index++) {
    for (const entry of lives(`m${index}`)) await append(entry)
    largest = Math.max(largest, statSync(path).size)
    await clock.advance(1000)
    await store.advance()
  }
  await close()
  expect(largest).toBeLessThan(25_000)
  expect(await opened(path)).toEqual(known([intent('stays')]))
})

test('is not compacted each second, however much is open', async () => {
  const path = newPath()
  const clock = createManualClock()
  const { store, append, close } = await openServers({ path, fsync: 'never', compactAtBytes: 2 ** 20, clock })
  const playerIds = Array.from({ length: 40 }, (_, index) => `player-${index}-${'x'.repeat(30)}`)
  for (let index = 0; index < 1000; index++) {
    await append([{ ...ofMatch(`m${index}`), ticketIds: playerIds, playerIds }, ofServer(`m${index}`)])
  }
  const isAnew = new Set<number>()
  for (let index = 0; index < 1000; index++) {
    await append([{ kind: 'created', serverId: `m${index}`, requestId: `r${index}` }])
    await clock.advance(1000)
    await store.advance()
    isAnew.add(statSync(path).ino)
  }
  expect(statSync(path).size).toBeGreaterThan(3e6)
  expect(isAnew.size).toBeLessThan(3)
  await close()
  expect(await opened(path)).toMatchObject({ servers: { length: 1000 }, matches: { length: 1000 } })
})

test('continues uncompacted when compaction fails, as on a full disk', async () => {
  const path = newPath()
  await written(path, [intent('a'), intent('b')])
  appendFileSync(path, 'torn')
  mkdirSync(`${path}.new`)
  const { open, append, close } = await openServers({ path, compactAtBytes: 1 })
  expect(await open()).toEqual(known([intent('a'), intent('b')]))
  await append(intent('c'))
  await append([
    { kind: 'gone', serverId: 'b' },
    { kind: 'over', matchId: 'b' },
  ])
  await close()
  rmdirSync(`${path}.new`)
  expect(await opened(path)).toEqual(known([intent('a'), intent('c')]))
})

describe('while it is open', () => {
  const sent = (serverId: string): readonly HostingEntry[] => [{ kind: 'sent', serverId, at: 2 }]

  test('its file is written again if it was removed, before a create leaves', async () => {
    const path = newPath()
    const { append, close } = await openServers({ path })
    await append(intent('a'))
    unlinkSync(path)
    await append(intent('b'))
    await append(sent('b'))
    expect(readFileSync(path, 'utf8')).toContain('sentAt')
    await close()
    expect(await opened(path)).toEqual(known([intent('a'), intent('b'), sent('b')]))
  })

  test('no create leaves, and nothing more is written, if another file took its place', async () => {
    const path = newPath()
    const { append, close } = await openServers({ path })
    await append(intent('a'))
    renameSync(path, `${path}.aside`)
    copyFileSync(`${path}.aside`, path)
    const before = readFileSync(path)
    await expect(append(sent('a'))).rejects.toThrow(StoreLocked)
    expect(() => append(intent('b'))).toThrow(/cannot be written/)
    expect(readFileSync(path)).toEqual(before)
    renameSync(`${path}.aside`, path)
    await close()
    expect(await opened(path)).toEqual(known([intent('a'), sent('a')]))
  })
})

test.each(['folder of the file', 'file'])('the error names the %s that cannot be opened', async (what) => {
  const path = what === 'file' ? folder : join(folder, 'nosuch', 'store')
  await expect(openServers({ path })).rejects.toThrow(path)
  rmSync(`${folder}.lock`, { force: true })
})

test('nothing is written once it is closed', async () => {
  const path = newPath()
  const { append, close } = await openServers({ path })
  await append(intent('a'))
  await close()
  expect(() => append(intent('late'))).toThrow(/is closed/)
  expect(await opened(path)).toEqual(known([intent('a')]))
})

test.each([
  [{ path: '' }, 'option path'],
  [{ path: 'a', fsync: 'sometimes' }, 'option fsync'],
  [{ path: 'a', compactAtBytes: 0 }, 'option compactAtBytes'],
  [{ path: 'a', takeOver: [''] }, 'option takeOver'],
])('%j is refused', async (options, message) => {
  await expect(openStore(options as never)).rejects.toThrow(message)
})
