/** Files from before the common store are taken over. If the process ends meanwhile, nothing is lost. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { StoreCorrupt, StoreLocked } from '../errors.js'
import { openStore } from './file-store.js'
import * as version2 from './journal-version-2.fixture.js'
import { readBack } from './store.fixture.js'
import { HEADER, lineOf, TICKET_LOG_HEADER } from './store-format.js'

const root = mkdtempSync(join(tmpdir(), 'muster-take-over-'))
afterAll(() => rmSync(root, { recursive: true }))
let folders = 0

const TICKETS = [
  lineOf('name', '=', 'eu', '{}'),
  lineOf('ticket', '=', 't1', '1'),
  lineOf('ticket', '~', 't1', '2'),
  lineOf('pause', '=', 'duel', '{}'),
]
const SERVERS = [
  { kind: 'intent', matchId: 'm1', queue: 'duel', tag: 'match-m1', ticketIds: ['t1'], playerIds: ['ann'], at: 1 },
  { kind: 'sent', matchId: 'm1', at: 2 },
  { kind: 'intent', matchId: 'm2', queue: 'duel', tag: 'match-m2', ticketIds: [], playerIds: [], at: 3 },
  { kind: 'settled', matchId: 'm2' },
]
const TICKET_LOG = TICKET_LOG_HEADER + TICKETS.join('')
const JOURNAL = version2.HEADER + SERVERS.map((entry) => version2.lineOf(JSON.stringify(entry))).join('')

const OLDER = { 'tickets.log': TICKET_LOG, 'servers.journal': JOURNAL }

/** Creates a folder with files of earlier versions. */
function folderOf(files: Readonly<Record<string, string | Buffer>> = OLDER) {
  const folder = join(root, String(folders++))
  mkdirSync(folder)
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  const path = join(folder, 'muster.log')
  const options = { path, takeOver: [join(folder, 'tickets.log'), join(folder, 'servers.journal')] }
  return { folder, path, options }
}

/** Opens the store twice, which must not change its records. Returns the records and the files that are left. */
async function takenOver({ folder, path, options }: ReturnType<typeof folderOf>) {
  await (await openStore(options)).close()
  const once = readBack(path)
  await (await openStore(options)).close()
  expect(readBack(path)).toEqual(once)
  return { records: once, files: readdirSync(folder) }
}

const whole = await takenOver(folderOf())

test('tickets and servers in older files are moved into one store file, and the older files removed', () => {
  expect(whole.files).toEqual(['muster.log'])
  const [server] = whole.records.get('server') ?? []
  expect([...whole.records].map(([kind, { length }]) => [kind, length])).toEqual([
    ['ticket', 1],
    ['pause', 1],
    ['server', 1],
    ['match', 1],
  ])
  expect(whole.records.get('ticket')).toEqual([{ key: 't1', value: '1', change: '2' }])
  expect(server?.key).toBe('m1')
  expect(JSON.parse(server?.value ?? '')).toMatchObject({ serverId: 'm1', bornFor: 'm1', sentAt: 2, isUp: false })
  const [match] = whole.records.get('match') ?? []
  expect(JSON.parse(match?.value ?? '')).toMatchObject({ matchId: 'm1', serverId: 'm1', playerIds: ['ann'] })
})

test('older files that were already written in the present format are moved into one store file', async () => {
  const servers = ['server', 'match'].flatMap((kind) =>
    (whole.records.get(kind) ?? []).map(({ key, value }) => lineOf(kind, '=', key, value)),
  )
  const files = { 'tickets.log': HEADER + TICKETS.join(''), 'servers.journal': HEADER + servers.join('') }
  expect(await takenOver(folderOf(files))).toEqual(whole)
})

test.each([['tickets.log'], ['servers.journal']])(
  'an older %s is moved into the new store file even if it is the only older file',
  async (name) => {
    const { records, files } = await takenOver(folderOf({ [name]: name === 'tickets.log' ? TICKET_LOG : JOURNAL }))
    expect(files).toEqual(['muster.log'])
    for (const [kind, all] of records) expect(all).toEqual(whole.records.get(kind))
  },
)

test('a kill at any step of the move from older store files loses nothing', async () => {
  const done = folderOf()
  await (await openStore(done.options)).close()
  const written = readFileSync(done.path)
  const expectWhole = async (files: Parameters<typeof folderOf>[0]) =>
    expect(await takenOver(folderOf(files))).toEqual(whole)
  // The process may end while it writes the new file, at any byte, or after the new file has replaced the old one,
  // while it removes the older files.
  for (let size = 0; size <= written.length; size += 7)
    await expectWhole({ ...OLDER, 'muster.log': '', 'muster.log.new': written.subarray(0, size) })
  await expectWhole({ ...OLDER, 'muster.log': written })
  await expectWhole({ 'servers.journal': JOURNAL, 'muster.log': written })
  await expectWhole({ 'tickets.log': TICKET_LOG, 'muster.log': written })
  await expectWhole({ 'muster.log': written })
})

test('older store files stay if the new file cannot be written, or if an older file is in use or damaged', async () => {
  const full = folderOf()
  mkdirSync(`${full.path}.new`)
  await expect(openStore(full.options)).rejects.toThrow(/muster\.log\.new/)
  const used = folderOf()
  const other = await openStore({ path: used.options.takeOver[1] ?? '' })
  await expect(openStore(used.options)).rejects.toThrow(StoreLocked)
  await other.close()
  const damaged = folderOf({ 'tickets.log': TICKET_LOG, 'servers.journal': JOURNAL.replace('"ann"', '"bob"') })
  await expect(openStore(damaged.options)).rejects.toThrow(StoreCorrupt)
  for (const { folder, options } of [full, used, damaged]) {
    expect(options.takeOver.filter((path) => !existsSync(path))).toEqual([])
    expect(readdirSync(folder).filter((name) => name.endsWith('.lock'))).toEqual([])
  }
})

test('the torn end of an older store file is reported', async () => {
  const { options } = folderOf({ 'servers.journal': JOURNAL.slice(0, -5) })
  const store = await openStore(options)
  const problems: unknown[] = []
  store.attach({ name: 'eu', problem: (error) => problems.push(error) })
  await store.advance()
  expect(problems).toMatchObject([{ name: 'StoreTorn', path: options.takeOver[1], line: 5, lines: 1 }])
  await store.close()
})
