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
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { StoreCorrupt, StoreLocked } from '../errors.js'
import { createFileJournal } from './file-journal.js'
import { HEADER, lineOf } from './version-2.fixture.js'
import { createMemoryJournal, type JournalEntry } from './journal.js'

const folder = mkdtempSync(join(tmpdir(), 'muster-journal-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
const newPath = () => join(folder, `journal-${files++}`)

const intent = (matchId: string): JournalEntry => ({
  kind: 'intent',
  matchId,
  queue: 'duel',
  tag: `match-${matchId}`,
  ticketIds: ['t1', 't2'],
  playerIds: ['ann', 'Bjørn\n'],
  at: 1,
})
const assignment = { fqdn: 'a.example.com', publicIp: undefined, ports: {}, location: undefined }
const lives = (matchId: string): JournalEntry[] => [
  intent(matchId),
  { kind: 'sent', matchId, at: 2 },
  { kind: 'lost', matchId, at: 3 },
  { kind: 'created', matchId, requestId: `r-${matchId}` },
  { kind: 'assigned', matchId, lastsMs: 5000, assignment },
  { kind: 'players', matchId, playerIds: ['ann'] },
  { kind: 'dropped', matchId },
  { kind: 'settled', matchId },
]
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown

/** The open matches of a memory journal after these entries. */
async function known(entries: readonly JournalEntry[]) {
  const memory = createMemoryJournal()
  for (const entry of entries) await memory.append(entry)
  return plain(await memory.open())
}

async function written(path: string, entries: readonly JournalEntry[], options = {}) {
  const journal = createFileJournal({ path, ...options })
  await journal.open()
  await Promise.all(entries.map((entry) => journal.append(entry)))
  await journal.close()
}

async function opened(path: string) {
  const journal = createFileJournal({ path, fsync: 'never' })
  try {
    return plain(await journal.open())
  } finally {
    await journal.close()
  }
}

test('entries are there when it is opened again, and only its user may read it', async () => {
  for (const fsync of ['always', 'intents', 'never']) {
    const path = newPath()
    const entries = [...lives('a').slice(0, 4), ...lives('b'), intent('c')]
    await written(path, entries, { fsync })
    expect(await opened(path)).toEqual(await known(entries))
    expect(statSync(path).mode & 0o077).toBe(0)
  }
  expect(readdirSync(folder).filter((name) => !/^journal-\d+$/.test(name))).toEqual([])
})

const whole = (entries: readonly JournalEntry[]) =>
  Buffer.from(HEADER + entries.map((entry) => lineOf(JSON.stringify(entry))).join(''))

test('torn at any byte, it keeps all whole lines, reports the loss as a problem, and goes on', async () => {
  const entries: JournalEntry[] = [
    { kind: 'intent', matchId: 'ø', queue: 'q', tag: 't', ticketIds: [], at: 1 },
    { kind: 'sent', matchId: 'ø', at: 2 },
    { kind: 'assigned', matchId: 'ø' },
  ]
  const bytes = whole(entries)
  const ends = [0, ...[0, 1, 2, 3].map((count) => whole(entries.slice(0, count)).length)]
  const path = newPath()
  for (let length = 0; length <= bytes.length; length++) {
    writeFileSync(path, bytes.subarray(0, length))
    const survived = entries.slice(0, Math.max(0, ends.filter((end) => end <= length).length - 2))
    const lost: unknown[] = []
    const journal = createFileJournal({ path, fsync: 'never' })
    await journal.open((error) => lost.push(error))
    const lostBytes = length - (ends.findLast((end) => end <= length) ?? 0)
    expect(lost).toMatchObject(lostBytes === 0 ? [] : [{ name: 'StoreTorn', path, bytes: lostBytes }])
    await journal.append(intent('more'))
    await journal.close()
    expect(await opened(path)).toEqual(await known([...survived, intent('more')]))
  }
})

test('rubbish at a torn end is cut off too', async () => {
  const path = newPath()
  await written(path, [intent('a')])
  writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.alloc(300), Buffer.from('\n"?')]))
  expect(await opened(path)).toEqual(await known([intent('a')]))
})

describe('is not opened and left unchanged, with nothing beside it', () => {
  const cases: readonly (readonly [what: string, content: Buffer, line: number, message: RegExp])[] = [
    [
      'where it is damaged in the middle',
      Buffer.from(whole(['a', 'b', 'c'].map(intent)).toString().replace('match-b', 'match-x')),
      3,
      /line 3/,
    ],
    ['if it is some text', Buffer.from('# Shopping\n- milk\n'), 1, /is no journal/],
    ['if it is some text in one line', Buffer.from('milk'), 1, /is no journal/],
    ['if it is of an earlier version', Buffer.from('b3a2d8a1 {"kind":"intent","matchId":"a"}\n'), 1, /another version/],
  ]
  test.each(cases)('%s', async (_, content, line, message) => {
    const path = newPath()
    writeFileSync(path, content)
    // A journal that failed to open keeps no lock, even if it is never closed.
    await expect(createFileJournal({ path }).open()).rejects.toThrow(StoreCorrupt)
    await expect(opened(path)).rejects.toMatchObject({ line, path, message: expect.stringContaining(path) as string })
    await expect(opened(path)).rejects.toThrow(message)
    expect(readFileSync(path)).toEqual(content)
    expect(readdirSync(folder).filter((name) => name.startsWith(`${basename(path)}.`))).toEqual([])
  })
})

test('any entries give the state of a journal in memory, however often it is reopened and compacted', async () => {
  const anyEntry = fc
    .tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 0, max: 6 }))
    .map(([matchId, step]) => lives(matchId)[step] as JournalEntry)
  const manyRuns = fc.array(fc.array(anyEntry, { maxLength: 12 }), { maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(manyRuns, fc.constantFrom(1, 400, 1e6), async (runs, compactAtBytes) => {
      const path = newPath()
      for (const entries of runs) await written(path, entries, { fsync: 'never', compactAtBytes })
      expect(await opened(path)).toEqual(await known(runs.flat()))
    }),
    { numRuns: 60 },
  )
})

test('is compacted when most of it is settled', async () => {
  const path = newPath()
  const journal = createFileJournal({ path, fsync: 'never', compactAtBytes: 20_000 })
  await journal.open()
  await journal.append(intent('stays'))
  let largest = 0
  for (let index = 0; index < 300; index++) {
    for (const entry of lives(`m${index}`)) await journal.append(entry)
    largest = Math.max(largest, statSync(path).size)
  }
  await journal.close()
  expect(largest).toBeLessThan(25_000)
  expect(await opened(path)).toEqual(await known([intent('stays')]))
})

test('is not compacted with each entry, however much is open', async () => {
  const path = newPath()
  const journal = createFileJournal({ path, fsync: 'never' })
  await journal.open()
  const playerIds = Array.from({ length: 40 }, (_, index) => `player-${index}-${'x'.repeat(30)}`)
  for (let index = 0; index < 1000; index++) {
    await journal.append({
      ...(intent(`m${index}`) as Extract<JournalEntry, { kind: 'intent' }>),
      ticketIds: playerIds,
      playerIds,
    })
  }
  const isAnew = new Set<number>()
  for (let index = 0; index < 1000; index++) {
    await journal.append({ kind: 'created', matchId: `m${index}`, requestId: `r${index}` })
    isAnew.add(statSync(path).ino)
  }
  expect(statSync(path).size).toBeGreaterThan(3e6)
  expect(isAnew.size).toBeLessThan(3)
  await journal.close()
  expect(await opened(path)).toHaveLength(1000)
})

test('goes on uncompacted when it cannot be compacted, as on a full disk', async () => {
  const path = newPath()
  await written(path, [intent('a'), intent('b')])
  appendFileSync(path, 'torn')
  mkdirSync(`${path}.new`)
  const journal = createFileJournal({ path, compactAtBytes: 1 })
  expect(plain(await journal.open())).toEqual(await known([intent('a'), intent('b')]))
  await journal.append(intent('c'))
  await journal.append({ kind: 'settled', matchId: 'b' })
  await journal.close()
  rmdirSync(`${path}.new`)
  expect(await opened(path)).toEqual(await known([intent('a'), intent('c')]))
})

describe('while it is open', () => {
  test('its file is written again if it was removed', async () => {
    const path = newPath()
    const journal = createFileJournal({ path })
    await journal.open()
    await journal.append(intent('a'))
    unlinkSync(path)
    await journal.append(intent('b'))
    await journal.close()
    expect(await opened(path)).toEqual(await known([intent('a'), intent('b')]))
  })

  test('nothing is written if another file took its place', async () => {
    const path = newPath()
    const journal = createFileJournal({ path })
    await journal.open()
    await journal.append(intent('a'))
    renameSync(path, `${path}.aside`)
    copyFileSync(`${path}.aside`, path)
    const before = readFileSync(path)
    await expect(journal.append(intent('b'))).rejects.toThrow(StoreLocked)
    expect([readFileSync(path), readFileSync(`${path}.aside`)]).toEqual([before, before])
    renameSync(`${path}.aside`, path)
    await journal.append(intent('c'))
    await journal.close()
    expect(await opened(path)).toEqual(await known([intent('a'), intent('c')]))
  })
})

test.each(['folder of the file', 'file'])('the error names the %s that cannot be opened', async (what) => {
  const path = what === 'file' ? folder : join(folder, 'nosuch', 'journal')
  await expect(createFileJournal({ path }).open()).rejects.toThrow(path)
  rmSync(`${folder}.lock`, { force: true })
})

test('an entry that could not be written rejects, and the next one is written', async () => {
  const path = newPath()
  const journal = createFileJournal({ path })
  await expect(journal.append(intent('early'))).rejects.toThrow('not open')
  await journal.open()
  await journal.append(intent('a'))
  await journal.close()
  await expect(journal.append(intent('late'))).rejects.toThrow('not open')
  expect(await opened(path)).toEqual(await known([intent('a')]))
})

test.each([
  [{ path: '' }, 'option path'],
  [{ path: 'a', fsync: 'sometimes' }, 'option fsync'],
  [{ path: 'a', compactAtBytes: 0 }, 'option compactAtBytes'],
])('%j is refused', (options, message) => {
  expect(() => createFileJournal(options as never)).toThrow(message)
})
