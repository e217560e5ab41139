import { appendFile, mkdir, mkdtemp, readdir, rename, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManualClock } from '@muster/core/clock'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createFileEventStore } from '../event-store.js'

const HOUR = 3_600_000

describe('an event store in a folder', () => {
  let folder: string
  const clock = createManualClock({ start: Date.UTC(2026, 0, 31) })
  beforeEach(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'muster-events-')), 'events')
  })
  afterEach(() => rm(join(folder, '..'), { recursive: true }))

  const open = (mostBytes = 100_000, at = clock) =>
    createFileEventStore({ folder, keepMs: 24 * HOUR, mostBytes, clock: at, yieldNow: async () => {} })
  const read = async () => {
    const seen: string[] = []
    await open().follow((texts) => void seen.push(...texts))
    return seen
  }
  const sizeOf = async () => {
    const sizes = (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size)
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  }

  test('an event store in a folder gives the next process the earlier events in order, without its own', async () => {
    const store = open()
    await store.append(['a', 'b'])
    await store.append(['c'])
    const own: string[] = []
    await store.follow((texts) => void own.push(...texts))
    expect(own).toEqual([])
    await store.close()
    expect(await read()).toEqual(['a', 'b', 'c'])
  })

  test('an event store in a folder that does not exist yet is empty', async () => {
    expect(await read()).toEqual([])
  })

  test('an event store in a folder loses only the line that a crash has cut', async () => {
    await open().append(['{"a":1}'])
    const [name = ''] = await readdir(folder)
    await appendFile(join(folder, name), '{"b":')
    // Even within the same millisecond, no process writes to the file of another one.
    await open().append(['{"c":1}'])
    expect(await read()).toEqual(['{"a":1}', '{"b":', '{"c":1}'])
  })

  test('an event store in a folder keeps at most its limit of bytes, and drops the oldest events', async () => {
    const store = open(8000)
    for (let index = 0; index < 1000; index += 1) await store.append([`${index}`.padStart(99, '.')])
    expect(await sizeOf()).toBeLessThanOrEqual(8000)
    expect(await sizeOf()).toBeGreaterThan(6000)
    expect((await read()).at(-1)).toMatch(/999$/)
  })

  test('an event store in a folder keeps no event longer than its retention time', async () => {
    const store = open()
    await store.append(['old'])
    await clock.advance(26 * HOUR)
    await store.append(['new'])
    await clock.advance(4 * HOUR)
    await store.append(['newer'])
    expect(await read()).toEqual(['new', 'newer'])
  })

  test.each(['while the process runs', 'before its start'])(
    'a clock that is set back by a year %s makes an event store keep no event longer',
    async (when) => {
      const ahead = createManualClock({ start: clock.now() + 365 * 24 * HOUR })
      const before = open(100_000, ahead)
      await before.append(['ahead'])
      await before.append(['ahead too'])
      const store = when === 'before its start' ? open() : before
      Object.assign(ahead, { now: () => clock.now() })
      await store.append(['true'])
      expect(await read()).toEqual(['ahead', 'ahead too', 'true'])
      await clock.advance(30 * HOUR)
      await store.append(['later'])
      expect(await read()).toEqual(['later'])
    },
  )

  test('an event store keeps its events if the clock was behind for a while after the start', async () => {
    await open().append(['before'])
    const behind = createManualClock({ start: 1000 })
    const store = open(100_000, behind)
    await store.append(['behind'])
    behind.step(clock.now() - 1000)
    await store.append(['true'])
    await store.append(['true too'])
    expect((await read()).toSorted()).toEqual(['before', 'behind', 'true', 'true too'])
    expect(await readdir(folder)).toHaveLength(3)
  })

  test('after an append that stopped within a line, an event store keeps the next lines whole', async () => {
    const store = open()
    await store.append(['{"a":1}'])
    const [name = ''] = await readdir(folder)
    const [path, aside] = [join(folder, name), join(folder, '..', 'aside')]
    await rename(path, aside)
    // Every write to this device fails as on a full disk.
    await symlink('/dev/full', path)
    await expect(store.append(['{"b":1}'])).rejects.toThrow('ENOSPC')
    await appendFile(aside, '{"b":')
    await rename(aside, path)
    await store.append(['{"c":1}'])
    expect(await read()).toEqual(['{"a":1}', '{"b":', '{"c":1}'])
  })

  test('an event store creates its folder again if somebody removes it', async () => {
    const store = open()
    await store.append(['{"a":1}'])
    await rm(folder, { recursive: true })
    await store.append(['{"b":1}'])
    expect(await read()).toEqual(['{"b":1}'])
  })

  test('an event store continues if somebody removes its files and the clock is set back', async () => {
    const ahead = createManualClock({ start: clock.now() + 365 * 24 * HOUR })
    const store = open(100_000, ahead)
    await store.append(['{"a":1}'])
    for (const name of await readdir(folder)) await rm(join(folder, name))
    Object.assign(ahead, { now: () => clock.now() })
    await store.append(['{"b":1}'])
    expect(await read()).toEqual(['{"b":1}'])
  })

  test('an event store in a folder ignores a folder with the name of one of its files', async () => {
    await mkdir(join(folder, '1700000000000.ndjson'), { recursive: true })
    await open().append(['{"a":1}'])
    expect(await read()).toEqual(['{"a":1}'])
    expect(await readdir(folder)).toHaveLength(2)
  })

  test('an event store in a folder rejects if the folder cannot be written', async () => {
    await appendFile(join(folder, '..', 'file'), '')
    const store = createFileEventStore({
      folder: join(folder, '..', 'file'),
      keepMs: HOUR,
      mostBytes: 1000,
      clock,
      yieldNow: async () => {},
    })
    await expect(store.append(['a'])).rejects.toThrow(/EEXIST|ENOTDIR/)
    await store.close()
  })
})
