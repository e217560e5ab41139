import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeFolder } from './make-folder.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-folder-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('makeFolder creates a folder with all folders around it, and leaves one that exists', async () => {
  const path = join(folder, 'one', 'two', 'three')
  await makeFolder(path, 0o700)
  await makeFolder(path, 0o755)
  expect((await stat(path)).mode & 0o777).toBe(0o700)
  expect((await stat(join(folder, 'one'))).mode & 0o777).toBe(0o700)
  await Promise.all([1, 2, 3].map(() => makeFolder(join(folder, 'at', 'once'))))
  expect((await stat(join(folder, 'at', 'once'))).isDirectory()).toBe(true)
})

test('makeFolder rejects with the path of a file in the way, and where nobody can create a folder', async () => {
  await writeFile(join(folder, 'file'), '')
  await symlink(join(folder, 'nothing'), join(folder, 'link'))
  for (const inTheWay of ['file', 'link']) {
    const error = { code: 'EEXIST', path: join(folder, inTheWay) }
    await expect(makeFolder(join(folder, inTheWay))).rejects.toMatchObject(error)
    await expect(makeFolder(join(folder, inTheWay, 'in', 'it'))).rejects.toMatchObject(error)
  }
  if (process.platform === 'linux')
    await expect(makeFolder('/proc/muster/data')).rejects.toMatchObject({ code: 'ENOENT' })
})

test('makeFolder creates a folder also if another process creates the folder around it meanwhile', async () => {
  for (let round = 0; round < 20; round += 1) {
    const around = join(folder, `round-${round}`)
    await Promise.all([makeFolder(join(around, 'in')), mkdir(around).catch(() => {})])
    expect((await stat(join(around, 'in'))).isDirectory()).toBe(true)
  }
})
