import { mkdtempSync, readdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { StoreLocked } from '../errors.js'
import { openStore } from './file-store.js'
import { openLocked, takeLock } from './flock.js'
import type { Store } from './store.js'

// Two stores in one process are enough here: flock(2) locks open files, not processes. test/chaos/lock.test.ts tests
// processes and containers.

const folder = mkdtempSync(join(tmpdir(), 'muster-lock-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
const newPath = () => join(folder, `store-${files++}`)
const record = { key: 'a', value: '{}' }

test('a flock is held until it is closed, another process learns its holder, and no file is left', async () => {
  const path = newPath()
  const first = await openStore({ path })
  await expect(openStore({ path })).rejects.toThrow(StoreLocked)
  await expect(openStore({ path })).rejects.toMatchObject({
    pid: process.pid,
    message: expect.stringContaining(hostname()) as string,
  })
  await first.close()
  const second = await openStore({ path })
  await expect(openStore({ path })).rejects.toThrow(StoreLocked)
  await second.close()
  expect(readdirSync(folder).filter((name) => name.includes('.lock'))).toEqual([])
})

test.each([
  ['our own process', { host: hostname(), pid: process.pid }],
  ['a living process', { host: hostname(), pid: process.ppid }],
  ['another host', { host: 'elsewhere', pid: 1 }],
  ['no process', undefined],
])('the flock of a killed process is free immediately, although its file names %s', async (_, said) => {
  const path = newPath()
  writeFileSync(`${path}.lock`, said === undefined ? '\0\0' : JSON.stringify(said))
  const store = await openStore({ path })
  await expect(openStore({ path })).rejects.toMatchObject({ pid: process.pid })
  await store.close()
})

test('of many concurrent processes exactly one gets the flock, in every round', async () => {
  const path = newPath()
  for (let round = 0; round < 50; round++) {
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => openStore({ path, fsync: 'never' })))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(StoreLocked)
      else await outcome.value.close()
  }
})

test('a flock that is being closed and a flock that is being opened are never both held', async () => {
  const path = newPath()
  let open = 0
  const live = async (): Promise<boolean> => {
    let store: Store
    try {
      store = await openStore({ path, fsync: 'never' })
    } catch (error) {
      if (error instanceof StoreLocked) return false
      throw error
    }
    open += 1
    expect(open).toBe(1)
    await Promise.resolve()
    open -= 1
    await store.close()
    return true
  }
  const lives = async () => {
    for (let lived = 0; lived < 20;) if (await live()) lived += 1
  }
  await Promise.all([lives(), lives(), lives()])
  expect(open).toBe(0)
})

test('a flock on a file that was removed before it was locked does not count', async () => {
  const path = newPath()
  let openings = 0
  const lock = await takeLock(path, async () => {
    const file = await openLocked(`${path}.lock`)
    openings += 1
    if (openings === 1) unlinkSync(`${path}.lock`)
    return file
  })
  expect(openings).toBe(2)
  expect(await lock.isInPlace()).toBe(true)
  await expect(takeLock(path)).rejects.toThrow(StoreLocked)
  await lock.release()
})

test('a flock holder whose lock file was removed by hand writes nothing more', async () => {
  const path = newPath()
  const first = await openStore({ path })
  const firstRecords = first.records('server', () => [])
  unlinkSync(`${path}.lock`)
  const second = await openStore({ path })
  second.records('server', () => [record]).write([record])
  // Until the store checks its file, it writes to the replaced one.
  firstRecords.write([{ key: 'b', value: '{}' }])
  await expect(first.sync()).rejects.toThrow(StoreLocked)
  expect(() => firstRecords.write([{ key: 'c', value: '{}' }])).toThrow(/cannot be written/)
  await first.close()
  // `close` removes only its own lock file, not that of the other store.
  await expect(openStore({ path })).rejects.toThrow(StoreLocked)
  await second.close()
  const third = await openStore({ path })
  expect(third.records('server', () => []).stored()).toEqual([record])
  await third.close()
})
