import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { JournalCorrupt, JournalLocked } from './journal-errors.js'
import { createFileJournal } from './journal-file.js'
import { lineOf } from './journal-lines.js'
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
  { kind: 'created', matchId, requestId: `r-${matchId}` },
  { kind: 'assigned', matchId, endsAt: 5000, assignment },
  { kind: 'players', matchId, playerIds: ['ann'] },
  { kind: 'dropped', matchId },
  { kind: 'settled', matchId },
]
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown

/** What a journal in memory would know after these. */
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

test('what was written is there when it is opened again, and nobody else may read it', async () => {
  for (const fsync of ['always', 'intents', 'never']) {
    const path = newPath()
    const entries = [...lives('a').slice(0, 4), ...lives('b'), intent('c')]
    await written(path, entries, { fsync })
    expect(await opened(path)).toEqual(await known(entries))
    expect(statSync(path).mode & 0o077).toBe(0)
  }
  expect(readdirSync(folder).filter((name) => !/^journal-\d+$/.test(name))).toEqual([])
})

test('torn at any byte: every line that was whole counts, and it goes on from there', async () => {
  const entries: JournalEntry[] = [
    { kind: 'intent', matchId: 'ø', queue: 'q', tag: 't', ticketIds: [], at: 1 },
    { kind: 'created', matchId: 'ø', requestId: 'r' },
    { kind: 'assigned', matchId: 'ø' },
  ]
  const whole = Buffer.from(entries.map(lineOf).join(''))
  const ends = entries.map((_, index) => Buffer.byteLength(entries.slice(0, index + 1).map(lineOf).join('')))
  const path = newPath()
  for (let length = 0; length <= whole.length; length++) {
    writeFileSync(path, whole.subarray(0, length))
    const survived = entries.slice(0, ends.filter((end) => end <= length).length)
    const more = intent('more')
    await written(path, [more], { fsync: 'never' })
    expect(await opened(path)).toEqual(await known([...survived, more]))
  }
})

test('torn in a way that leaves rubbish: that is cut off too', async () => {
  const path = newPath()
  await written(path, [intent('a')])
  writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.alloc(300), Buffer.from('\n"?')]))
  expect(await opened(path)).toEqual(await known([intent('a')]))
})

test('damaged in the middle, it is not opened, and is left as it is', async () => {
  const path = newPath()
  const text = [intent('a'), intent('b'), intent('c')].map(lineOf).join('').replace('match-b', 'match-x')
  writeFileSync(path, text)
  await expect(opened(path)).rejects.toThrow(JournalCorrupt)
  await expect(opened(path)).rejects.toMatchObject({ line: 2, message: expect.stringContaining('line 2') as string })
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test('like a journal in memory, for any entries, however often it is opened again and compacted', async () => {
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

test('is written anew when most of it is settled', async () => {
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

describe('one at a time', () => {
  test('has it: in one process, and among several', async () => {
    const path = newPath()
    const journal = createFileJournal({ path })
    await journal.open()
    const other = createFileJournal({ path })
    await expect(other.open()).rejects.toThrow(JournalLocked)
    // Another process, which lives: the one that started this one.
    const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8')
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const started = `${boot} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`
    await journal.close()
    writeFileSync(`${path}.lock`, JSON.stringify({ host: hostname(), pid: process.ppid, started }))
    await expect(other.open()).rejects.toMatchObject({ name: 'JournalLocked', pid: process.ppid })
    // The same number, but an earlier process.
    writeFileSync(`${path}.lock`, JSON.stringify({ host: hostname(), pid: process.ppid, started: 'before' }))
    expect(await other.open()).toEqual([])
    await other.close()
    expect(readdirSync(folder).filter((name) => name.includes('.lock'))).toEqual([])
  })

  test('takes it over from a process that was killed, and from an earlier one with its own number', async () => {
    const path = newPath()
    const dead = Number(execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }))
    for (const pid of [dead, process.pid]) {
      writeFileSync(`${path}.lock`, JSON.stringify({ host: hostname(), pid, started: 'before' }))
      expect(await opened(path)).toEqual([])
    }
  })

  test('does not guess about a process of another machine', async () => {
    const path = newPath()
    writeFileSync(`${path}.lock`, JSON.stringify({ host: 'elsewhere', pid: 1, started: 'before' }))
    await expect(opened(path)).rejects.toThrow(/process 1 of elsewhere: remove .*\.lock if that is gone/)
  })

  test('of many who want it at once, with a stale lock in the way', async () => {
    const path = newPath()
    writeFileSync(`${path}.lock`, JSON.stringify({ host: hostname(), pid: 2 ** 22 + 1, started: 'before' }))
    const journals = Array.from({ length: 8 }, () => createFileJournal({ path }))
    const outcomes = await Promise.allSettled(journals.map((journal) => journal.open()))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await Promise.all(journals.map((journal) => journal.close()))
  })
})

test('an entry that could not be written says so, and the next one is not harmed by it', async () => {
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
