/** Tests a store while its disk is full. */
import { statSync } from 'node:fs'
import { createManualClock } from '@muster/core/clock'
import { afterAll, expect, test } from 'vitest'
import { Unavailable } from '../errors.js'
import { takeLock } from './flock.js'
import { FileStore } from './file-store.js'
import { StoreFile } from './append-file.js'
import { createFolder, hasSome, modelled, readBack } from './store.fixture.js'

const { newPath, remove } = createFolder()
afterAll(remove)

/** Opens a store on a disk that can be full. */
async function openOnDisk() {
  const path = newPath()
  const clock = createManualClock()
  const disk = { isFull: false }
  const real = await StoreFile.open(path)
  const unlessFull = () => {
    if (disk.isFull) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  }
  const file: Pick<StoreFile, 'size' | 'isForced' | 'isUnsafe' | 'append' | 'force' | 'replace' | 'place' | 'close'> = {
    size: () => real.size(),
    isForced: () => real.isForced(),
    isUnsafe: () => real.isUnsafe(),
    append: (text, isForced) => {
      unlessFull()
      real.append(text, isForced)
    },
    force: () => real.force(),
    replace: async (parts, last, forced) => {
      unlessFull()
      await real.replace(parts, last, forced)
    },
    place: () => real.place(),
    close: () => real.close(),
  }
  const log = new FileStore({
    path,
    fsync: 'never',
    compactAtBytes: 2 ** 20,
    clock,
    lock: await takeLock(path),
    file,
    stored: new Map(),
    damages: [],
  })
  const problems: unknown[] = []
  log.attach({ name: 'test', problem: (error) => void problems.push(error) })
  const logged = () => new Map([...readBack(path)].filter(hasSome))
  return { path, clock, disk, log, problems, logged, ...modelled(log) }
}

test('on a full disk a required write is refused, and is not written later', async () => {
  const { clock, disk, log, problems, logged, model, take, records } = await openOnDisk()
  take({ kind: 'a', op: '=', key: 'x', value: '1' })
  log.flush()
  disk.isFull = true
  expect(() => records.write([{ key: 'y', value: '2' }])).toThrow(Unavailable)
  expect(log.isFailing()).toBe(true)
  expect(problems).toMatchObject([
    { message: expect.stringContaining('cannot be written (ENOSPC). It is tried again every second.') as string },
  ])
  // The store does not try to write again at once.
  expect(() => records.write([{ key: 'y', value: '2' }])).toThrow(Unavailable)
  expect(problems).toHaveLength(1)
  disk.isFull = false
  expect(() => records.write([{ key: 'y', value: '2' }])).toThrow(Unavailable)
  await clock.advance(1000)
  records.write([{ key: 'z', value: '3' }])
  model.apply({ kind: 'a', op: '=', key: 'z', value: '3' })
  expect(log.isFailing()).toBe(false)
  expect(logged()).toEqual(model.all())
  await log.close()
})

test('on a full disk records of past events are kept and written once there is room', async () => {
  const { clock, disk, log, logged, model, take } = await openOnDisk()
  take({ kind: 'a', op: '=', key: 'x', value: '1' })
  take({ kind: 'a', op: '=', key: 'y', value: '1' })
  log.flush()
  disk.isFull = true
  take({ kind: 'a', op: '~', key: 'x', value: '2' })
  take({ kind: 'a', op: '-', key: 'y', value: '' })
  log.flush()
  disk.isFull = false
  await clock.advance(1000)
  await log.advance()
  expect(logged()).toEqual(model.all())
  expect(log.isFailing()).toBe(false)
  await log.close()
})

test('a store without new writes notices by itself that a full disk has room again', async () => {
  const { clock, disk, log, records } = await openOnDisk()
  log.flush()
  disk.isFull = true
  expect(() => records.write([{ key: 'y', value: '2' }])).toThrow(Unavailable)
  await clock.advance(1000)
  await log.advance()
  expect(log.isFailing()).toBe(true)
  disk.isFull = false
  await clock.advance(1000)
  await log.advance()
  expect(log.isFailing()).toBe(false)
  await log.close()
})

test('records kept for a full disk are limited: beyond the limit the whole file is rewritten', async () => {
  const { clock, disk, log, logged, model, take, records } = await openOnDisk()
  take({ kind: 'a', op: '=', key: 'x', value: '1' })
  log.flush()
  disk.isFull = true
  const value = JSON.stringify('v'.repeat(2 ** 20))
  for (let times = 0; times < 20; times += 1) take({ kind: 'a', op: '=', key: `k${times}`, value })
  for (let times = 0; times < 20; times += 1) take({ kind: 'a', op: '-', key: `k${times}`, value: '' })
  await clock.advance(1000)
  await log.advance()
  expect(log.isFailing()).toBe(true)
  disk.isFull = false
  // Changes were dropped while the disk was full, so the whole file must be rewritten before further lines are useful.
  expect(() => records.write([{ key: 'y', value: '2' }])).toThrow(Unavailable)
  await clock.advance(1000)
  await log.advance()
  expect(log.isFailing()).toBe(false)
  expect(logged()).toEqual(model.all())
  await log.close()
})

test('a failed compaction keeps the store file and later records, and refuses no write', async () => {
  const { path, clock, disk, log, logged, model, take, problems } = await openOnDisk()
  for (let times = 0; times < 3; times += 1)
    take({ kind: 'a', op: '=', key: 'x', value: JSON.stringify('v'.repeat(2 ** 19)) })
  log.flush()
  const { size } = statSync(path)
  disk.isFull = true
  const rewritten = log.advance()
  await rewritten
  disk.isFull = false
  expect(problems).toHaveLength(1)
  expect(log.isFailing()).toBe(false)
  take({ kind: 'a', op: '~', key: 'x', value: '5' })
  log.flush()
  expect(statSync(path).size).toBeGreaterThan(size)
  expect(logged()).toEqual(model.all())
  await clock.advance(1000)
  await log.close()
})

test('a failed compaction is repeated once the store file has grown by a quarter', async () => {
  const { path, clock, disk, log, take, problems } = await openOnDisk()
  const grow = (bytes: number) => {
    take({ kind: 'a', op: '=', key: 'x', value: JSON.stringify('v'.repeat(bytes)) })
    log.flush()
  }
  const advance = async () => {
    await clock.advance(1000)
    await log.advance()
  }
  for (let times = 0; times < 5; times += 1) grow(2 ** 18)
  const { size } = statSync(path)
  disk.isFull = true
  await advance()
  disk.isFull = false
  expect(problems).toHaveLength(1)
  grow(size / 5)
  await advance()
  expect(statSync(path).size).toBeGreaterThan(size)
  grow(size / 10)
  await advance()
  expect(statSync(path).size).toBeLessThan(size / 5)
  await log.close()
})

test('a clock that is set back does not delay the first write after a full disk', async () => {
  const { clock, disk, log, records } = await openOnDisk()
  await clock.advance(3_600_000)
  disk.isFull = true
  expect(() => records.write([{ key: 'y', value: '2' }])).toThrow(Unavailable)
  disk.isFull = false
  const now = clock.now()
  Object.assign(clock, { now: () => now - 3_600_000 })
  records.write([{ key: 'y', value: '2' }])
  await log.close()
})
