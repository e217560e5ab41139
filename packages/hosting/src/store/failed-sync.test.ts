/** Tests a store on a disk that fails to write what the system has accepted, or takes long for it. */
import { statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { Unavailable } from '../errors.js'
import { createFolder, openModelled, readBack } from './store.fixture.js'

const { newPath, remove } = createFolder()
afterAll(remove)
afterEach(() => void vi.restoreAllMocks())

/** Makes the next fdatasync fail. The system reports later ones as successful, although data may be missing. */
async function failNextSync(path: string) {
  const handle = await open(path)
  await handle.close()
  const error = Object.assign(new Error('i/o error'), { code: 'EIO' })
  vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'datasync').mockRejectedValueOnce(error)
}

test('after a failed sync of a store file, nothing counts as on the disk until the file is rewritten', async () => {
  const path = newPath()
  const { log, model, take } = await openModelled(path, { fsync: 'intents' })
  take({ kind: 'a', op: '=', key: 'x', value: '1' })
  log.flush()
  const { ino } = statSync(path)
  await failNextSync(path)
  await expect(log.sync()).rejects.toMatchObject({ code: 'EIO' })
  await log.sync()
  expect(statSync(path).ino).not.toBe(ino)
  take({ kind: 'a', op: '=', key: 'y', value: '2' })
  log.flush()
  expect(readBack(path)).toEqual(model.all())
  await log.close()
})

test('while the sync of a store file fails, the store is failing and refuses writes', async () => {
  const path = newPath()
  const { clock, log, take, records, problems } = await openModelled(path, { fsync: 'intents' })
  take({ kind: 'a', op: '=', key: 'x', value: '1' })
  log.flush()
  await failNextSync(path)
  await log.advance()
  expect(log.isFailing()).toBe(true)
  expect(problems).toMatchObject([{ message: expect.stringContaining('cannot be written (EIO)') as string }])
  expect(() => records.write([{ key: 'y', value: '2' }])).toThrow(Unavailable)
  await clock.advance(1000)
  await log.advance()
  expect(log.isFailing()).toBe(false)
  records.write([{ key: 'y', value: '2' }])
  await log.close()
})

test('a sync of a store file ends although more is appended during each fdatasync', async () => {
  const path = newPath()
  const { log, take } = await openModelled(path, { fsync: 'intents' })
  const handle = await open(path)
  await handle.close()
  const prototype = Object.getPrototypeOf(handle) as FileHandle
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its own handle
  const { datasync } = prototype
  let syncs = 0
  vi.spyOn(prototype, 'datasync').mockImplementation(async function (this: FileHandle) {
    syncs += 1
    await datasync.call(this)
    if (syncs > 10) return
    take({ kind: 'a', op: '=', key: `x${syncs}`, value: '1' })
    log.flush()
  })
  take({ kind: 'a', op: '=', key: 'x', value: '1' })
  await log.sync()
  expect(syncs).toBe(1)
  await log.close()
})
