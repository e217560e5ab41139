/** Tests that servers in a store are restored from the complete lines after any crash. */
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { StoreLocked } from '../errors.js'
import { openStore, type StoreOptions } from './file-store.js'
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
/** Groups of entries that are appended together, in order. */
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

/** Returns the servers and matches after these entries. */
function known(all: readonly (readonly HostingEntry[])[]) {
  const open = new Map<string, HostingRecord>()
  for (const entries of all) putChanged(open, afterEntries(open, entries))
  return plain(fleetOf(open.values()))
}

/** Returns the servers in a store. */
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

test('a further placement attempt of a server keeps its session, its matches and its drain', () => {
  const session = { session: 's', name: "ann's", attributes: {} }
  const server: HostingEntry = { ...ofServer('a'), pool: 'arena', build: 'game/1', bornFor: undefined }
  const wanted: HostingEntry = { kind: 'wanted', serverId: 'a', session }
  const draining: HostingEntry = { kind: 'draining', serverId: 'a' }
  const served: HostingEntry = { kind: 'served', serverId: 'a', matches: 1 }
  const again = known([[server, served], [wanted], [draining], [{ kind: 'sent', serverId: 'a', at: 2 }], [server]])
  expect(again).toMatchObject({ servers: [{ wanted: session, draining: true, matchesServed: 1 }] })
  expect(again).not.toMatchObject({ servers: [{ sentAt: 2 }] })
})

test('log entries are there when the log is reopened, and only its user can read the file', async () => {
  for (const fsync of ['always', 'intents', 'never'] as const) {
    const path = newPath()
    const entries = [...lives('a').slice(0, 4), ...lives('b'), intent('c')]
    await written(path, entries, { fsync })
    expect(await opened(path)).toEqual(known(entries))
    expect(statSync(path).mode & 0o077).toBe(0)
  }
  expect(readdirSync(folder).filter((name) => !/^store-\d+$/.test(name))).toEqual([])
})

test('property: log entries give the same state, however often the log is reopened and compacted', async () => {
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

describe('the file of an open server log', () => {
  const sent = (serverId: string): readonly HostingEntry[] => [{ kind: 'sent', serverId, at: 2 }]

  test('the file of an open server log that was removed is written again before a create is sent', async () => {
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

  test('a server log stops all creates and writes if another file has taken its place', async () => {
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

test.each(['folder of the file', 'file'])(
  'the error of a server log names the %s that cannot be opened',
  async (what) => {
    const path = what === 'file' ? folder : join(folder, 'nosuch', 'store')
    await expect(openServers({ path })).rejects.toThrow(path)
    rmSync(`${folder}.lock`, { force: true })
  },
)

test.each([
  [{ path: '' }, 'option path'],
  [{ path: 'a', fsync: 'sometimes' }, 'option fsync'],
  [{ path: 'a', compactAtBytes: 0 }, 'option compactAtBytes'],
  [{ path: 'a', takeOver: [''] }, 'option takeOver'],
])('the server log options %j are refused', async (options, message) => {
  await expect(openStore(options as never)).rejects.toThrow(message)
})
