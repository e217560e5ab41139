import { mkdtempSync, readdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { StoreLocked } from '../errors.js'
import { createFileJournal } from '../journal/file-journal.js'
import { openLocked, takeLock } from './flock.js'
import type { JournalEntry } from '../journal/journal.js'

// test/chaos/lock.test.ts tests the lock among processes and containers. The kernel locks open files, not processes, so
// two files opened by one process behave the same.

const folder = mkdtempSync(join(tmpdir(), 'muster-lock-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
const newPath = () => join(folder, `journal-${files++}`)
const intent: JournalEntry = { kind: 'intent', matchId: 'a', queue: 'duel', tag: 't', ticketIds: [], at: 1 }

test('the lock is held until it is closed, others learn its holder, and no file is left', async () => {
  const path = newPath()
  const [first, second] = [createFileJournal({ path }), createFileJournal({ path })]
  await first.open()
  await expect(second.open()).rejects.toThrow(StoreLocked)
  await expect(second.open()).rejects.toMatchObject({
    pid: process.pid,
    message: expect.stringContaining(hostname()) as string,
  })
  await first.close()
  expect(await second.open()).toEqual([])
  await expect(first.open()).rejects.toThrow(StoreLocked)
  await second.close()
  expect(readdirSync(folder).filter((name) => name.includes('.lock'))).toEqual([])
})

test.each([
  ['our own number', { host: hostname(), pid: process.pid }],
  ['a living process', { host: hostname(), pid: process.ppid }],
  ['another host', { host: 'elsewhere', pid: 1 }],
  ['nobody', undefined],
])('the lock of a killed process is free at once, although its file names %s', async (_, said) => {
  const path = newPath()
  writeFileSync(`${path}.lock`, said === undefined ? '\0\0' : JSON.stringify(said))
  const journal = createFileJournal({ path })
  expect(await journal.open()).toEqual([])
  await journal.close()
})

test('of many processes at once exactly one gets the lock, in every round', async () => {
  const path = newPath()
  for (let round = 0; round < 50; round++) {
    const journals = Array.from({ length: 8 }, () => createFileJournal({ path, fsync: 'never' }))
    const outcomes = await Promise.allSettled(journals.map((journal) => journal.open()))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(StoreLocked)
    await Promise.all(journals.map((journal) => journal.close()))
  }
})

test('a lock being closed and one being opened are never both held', async () => {
  const path = newPath()
  let open = 0
  const live = async (): Promise<boolean> => {
    const journal = createFileJournal({ path, fsync: 'never' })
    try {
      await journal.open()
    } catch (error) {
      if (error instanceof StoreLocked) return false
      throw error
    }
    open += 1
    expect(open).toBe(1)
    await Promise.resolve()
    open -= 1
    await journal.close()
    return true
  }
  const lives = async () => {
    for (let lived = 0; lived < 20;) if (await live()) lived += 1
  }
  await Promise.all([lives(), lives(), lives()])
  expect(open).toBe(0)
})

test('a lock on a file that was removed before it was locked does not count', async () => {
  const path = newPath()
  let openings = 0
  const lock = await takeLock(path, async () => {
    const file = await openLocked(path)
    openings += 1
    if (openings === 1) unlinkSync(path)
    return file
  })
  expect(openings).toBe(2)
  expect(await lock.isInPlace()).toBe(true)
  await expect(takeLock(path)).rejects.toThrow(StoreLocked)
  await lock.release()
})

test('a holder whose lock file was removed by hand writes nothing more', async () => {
  const path = newPath()
  const [first, second] = [createFileJournal({ path }), createFileJournal({ path })]
  await first.open()
  unlinkSync(`${path}.lock`)
  await second.open()
  await second.append(intent)
  await expect(first.append({ ...intent, matchId: 'b' })).rejects.toThrow(StoreLocked)
  await first.close()
  // The lock file that `close` removes is its own, not the other journal's.
  const third = createFileJournal({ path })
  await expect(third.open()).rejects.toThrow(StoreLocked)
  await second.close()
  expect(await third.open()).toMatchObject([{ matchId: 'a' }])
  await third.close()
})
